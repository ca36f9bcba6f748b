"""Attack: sums of floats that move by far more than one person's amount, by their order and by their rounding.

Source: Casacuberta et al. (2022).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import dpselect as dps
from tests.attacks import naive
from tests.drawn_answers import planned
from tests.rows.tables import total, write_rows

EACH = 1 << 15
LARGE, SMALL = 1.0, 0.0009765625
"""What a person adds is clipped to 1. A thousandth of that is lost on a sum of 2^15 in 32 bits."""


def column(*, large_first: bool) -> np.ndarray:
    """The same amounts of the same people; a table has no order, and engines keep none."""
    parts = [np.full(EACH, LARGE), np.full(EACH, SMALL)]
    return np.concatenate(parts if large_first else parts[::-1]).astype(np.float32)


def test_the_order_of_rows_is_told_by_a_naive_sum() -> None:
    """The rows are the same, so the outputs should be, too. They differ by 32 amounts, or 96 scales of the noise."""
    rng = np.random.default_rng(1)
    first, last = (float(sum(column(large_first=each))) for each in (True, False))
    assert last - first == 32 * LARGE
    for large_first in (True, False):
        for _ in range(10):
            guess = naive.noisy_sum(column(large_first=large_first), LARGE, 3.0, rng) < (first + last) / 2
            assert guess is large_first  # wrong with probability e^-48 / 2


def rounded_up(*, present: bool) -> float:
    """One amount of 1 in front of very many, or not: above 1 each of them is rounded up to nearly twice as much."""
    many = np.full(1 << 22, 2.0**-24 * (1 + 2.0**-10), dtype=np.float32)
    rows = np.concatenate([np.ones(int(present), dtype=np.float32), many])
    return float(np.add.accumulate(rows)[-1])  # one after the other, as sum() does, but faster


def test_one_row_moves_a_naive_sum_by_more_than_its_amount() -> None:
    """So the density far from both sums changes by a factor of ``e^(1.24 epsilon)``, without any change of order."""
    assert rounded_up(present=True) - rounded_up(present=False) > 1.24 * LARGE


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("large_first", [True, False])
def test_here_the_order_does_not_matter(tmp_path: Path, kind: str, large_first: bool) -> None:
    amounts = column(large_first=large_first)[:: 1 << 5]
    rows = [(place, "x", "all", float(amount)) for place, amount in enumerate(amounts)]
    path = write_rows(tmp_path, rows, kind=kind, types=(None, None, None, pa.float32()))
    half = EACH >> 5
    assert total(path, ["x"], scale=1024, bounds=(0, 1024)) == [[half * 1024 + half]]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_here_one_row_moves_a_sum_by_at_most_its_bound(tmp_path: Path, kind: str) -> None:
    """Whatever somebody's rows hold, and wherever they are; two rows of one person are clipped together."""
    few = [(str(place), "x", "all", (-1.0) ** place * 0.1) for place in range(300)]
    found = []
    for extra in ([], [0.1], [1e30], [-1e30], [5e-324], [1.0, 1.0]):
        rows = [("new", "x", "all", amount) for amount in extra]
        path = write_rows(tmp_path, rows + few, kind=kind, types=(pa.string(), None, None, pa.float64()))
        found.append(total(path, ["x"], scale=100, bounds=(-100, 100))[0][0])
    assert [each - found[0] for each in found] == [0, 10, 100, -100, 0, 100]


def test_here_no_amount_is_rounded_on_the_way(tmp_path: Path) -> None:
    """Whole numbers that no float of 32 bits holds."""
    amounts = [2.0**24 + 1, 2.0**24 + 1, -(2.0**24) - 3, 2.0**31 - 1]
    rows = [(place, "x", "all", amount) for place, amount in enumerate(amounts)]
    path = write_rows(tmp_path, rows, kind="parquet")
    assert total(path, ["x"], bounds=(-(2**31), 2**31)) == [[2**31 + 2**24 - 2]]


def test_here_one_row_changes_no_probability_by_more_than_epsilon(tmp_path: Path) -> None:
    """The person of 1 in front of very many, who decides how a sum of floats is rounded; here as one of two groups."""
    task = planned("best_by", candidates=["x", "y"], sum="amount", clip=(0, 1), scale=2**25, epsilon=1.0)
    clip = task.amounts
    many = [(str(place), "xy"[place % 2], "all", 2.0**-24 * (1 + 2.0**-10)) for place in range(2000)]
    laws = []
    for first in ([], [("first", "x", "all", 1.0)]):
        path = write_rows(tmp_path, first + many, kind="parquet", types=(pa.string(), None, None, pa.float32()))
        (found,) = total(path, ["x", "y"], scale=2**25, bounds=(clip.lower, clip.upper))
        laws.append(np.log(task.mechanism.pmf(np.array(found))))
    assert 0.5 < np.abs(laws[1] - laws[0]).max() <= 1.0 + 1e-9


def test_a_mean_is_of_exact_sums() -> None:
    """Numbers that a float sum adds to zero or to a million, by their order."""
    values = [1e9, 1.0, -1e9] * 1000
    naive_sums = {float(np.add.accumulate(np.array(each, np.float32))[-1]) for each in (values, sorted(values))}
    assert len(naive_sums) == 2
    mechanism = dps.mechanisms.MeanMechanism(epsilon=1.0, bounds=(-1e9, 1e9), step=1)
    cdfs = [mechanism.cdf(np.array(each), [0.0, 0.5, 1e6]) for each in (values, sorted(values))]
    assert np.array_equal(cdfs[0], cdfs[1])
