"""Attack: whole numbers that wrap around, so that one more row turns the largest total into the smallest.

Source: Casacuberta et al. (2022).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpselect as dps
from dpselect.rows.duckdb import DuckDB
from dpselect.rows.statements import saturated
from tests.attacks import naive
from tests.rows.tables import total

NAMES = ["a", "b"]
FULL = 2147
"""So many amounts of a million are just below 2^31."""


def rows(*, present: bool) -> tuple[list[str], np.ndarray]:
    """Everybody buys in group a, for a million; one person more or less."""
    count = FULL + int(present)
    return ["a"] * count, np.full(count, 5_000_000)


def test_one_row_decides_a_naive_selection() -> None:
    """The totals of a are 2.147 billion, or -2.147 billion: a thousand scales of the noise above b, or below."""
    rng = np.random.default_rng(2)
    for present in (True, False):
        for _ in range(20):
            groups, amounts = rows(present=present)
            assert naive.best_by_total(groups, amounts, NAMES, rng) == ("b" if present else "a")


@pytest.mark.parametrize("present", [True, False])
def test_here_a_total_has_64_bits_and_stays_what_it_is(tmp_path: Path, present: bool) -> None:
    groups, amounts = rows(present=present)
    table = {"unit": range(len(groups)), "value": groups, "part": groups, "amount": amounts}
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    (found,) = total(tmp_path / "t.parquet", NAMES, bounds=(0, 1_000_000))
    assert found == [1_000_000 * len(groups), 0]
    data = dps.Dataset(tmp_path / "t.parquet", unit="unit")
    release = data.best_by("value", sum="amount", clip=(0, 1_000_000), candidates=NAMES, epsilon=1.0)
    assert release.value == "a"  # b is e^-2147 as likely, with and without


def test_a_sum_beyond_64_bits_stays_at_the_end() -> None:
    """A table of so many rows cannot be written, so the engine's own expression is asked."""
    import duckdb

    with duckdb.connect() as connection:
        most, least = 2**63 - 1, -(2**63)
        for number, expected in ((most + 1, most), (2**70, most), (least - 1, least), (-(2**70), least), (most, most)):
            query = f"SELECT {saturated('sum(x)', DuckDB())} FROM (SELECT ({number})::HUGEINT AS x)"
            assert connection.execute(query).fetchone() == (expected,)


@pytest.mark.parametrize("scores", [[2**63 - 1, -(2**63)], [-(2**63), 2**63 - 1]])
def test_scores_at_both_ends_of_64_bits_are_told_apart(scores: list[int]) -> None:
    """Their difference does not fit into 64 bits, and wraps to 1 below: in NumPy, and not here."""
    array = np.array(scores)
    with np.errstate(over="ignore"):
        assert abs(int(array.max() - array.min())) == 1
    mechanism = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0, monotonic=True)
    assert set(mechanism.select_many(array, 1000).tolist()) == {int(np.argmax(array))}
    assert mechanism.pmf(array).max() == 1.0


def test_counts_are_not_kept_in_the_type_of_the_column() -> None:
    """Scores of eight bits, the largest there are: their sum with noise would leave the type."""
    scores = np.array([127, -128], dtype=np.int8)
    assert set(dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0).select_many(scores, 1000).tolist()) == {0}
