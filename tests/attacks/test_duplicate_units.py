"""Attack: one person with many rows, where noise was measured for one row."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.attacks import naive
from tests.drawn_answers import planned
from tests.rows.tables import count, gather, write_rows

CROWD = [(f"unit{place}", "a") for place in range(100)]
BUSY = [("busy", "b")] * 1000
BUSY_EVERYWHERE = [("busy", each) for each in "abc"] * 300


def test_one_person_decides_a_naive_selection() -> None:
    """Without them the answer is a; with them b, 900 scales of noise ahead."""
    rng = np.random.default_rng(8)
    for _ in range(20):
        values = [value for _, value in [*CROWD, ("other", "b")]]
        assert naive.most_common(values, 1.0, rng) == "a"
        assert naive.most_common([*values, *(value for _, value in BUSY)], 1.0, rng) == "b"


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("busy", [BUSY, BUSY_EVERYWHERE])
def test_here_they_are_counted_once(tmp_path: Path, kind: str, busy: list[tuple[str, str]]) -> None:
    """And so no candidate's probability changes by more than a factor of ``e^epsilon``."""
    task = planned("most_common", candidates=["a", "b", "c"], epsilon=1.0)
    laws, counts = [], []
    for rows in (CROWD, [*CROWD, *busy]):
        counts.append(count(write_rows(tmp_path, rows, kind=kind), ["a", "b", "c"]))
        laws.append(np.log(task.mechanism.pmf(np.array(counts[-1]))))
    assert max(np.subtract(counts[1], counts[0])) == 1
    assert np.abs(laws[1] - laws[0]).max() <= 1.0 + 1e-9


def test_counting_rows_would_break_that() -> None:
    """Control: the law of the same mechanism on rows."""
    task = planned("most_common", candidates=["a", "b"], epsilon=1.0)
    counts = [Counter(value for _, value in rows) for rows in (CROWD, [*CROWD, *BUSY])]
    before, after = (task.mechanism.pmf(np.array([each["a"], each["b"]])) for each in counts)
    assert before[1] < 1e-40
    assert after[1] > 0.99


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_here_one_of_their_numbers_counts(tmp_path: Path, kind: str) -> None:
    crowd = [(f"unit{place}", 1.0) for place in range(100)]
    busy = [("busy", 9.0 + place / 1000) for place in range(1000)]
    path = write_rows(tmp_path, [*crowd, *busy], kind=kind)
    kept = gather(path, bounds=(0, 10))
    assert kept[:-1] == [1.0] * 100
    assert kept[-1] > 1.0
    task = planned("quantile", level=0.5, bounds=(0, 10), step=1, epsilon=1.0, max_rows_per_unit=1)
    with_them, without = (task.mechanism.pmf(np.array(values)) for values in (kept, kept[:-1]))
    assert np.abs(np.log(with_them / without)).max() <= 1.0 + 1e-9
    assert with_them.sum() == pytest.approx(1.0)


def test_all_their_numbers_would_move_a_median() -> None:
    """Control: 1000 rows of one person against 100 people."""
    task = planned("quantile", level=0.5, bounds=(0, 10), step=1, epsilon=1.0, max_rows_per_unit=1)
    crowd = [1.0] * 100
    before, after = (task.mechanism.pmf(np.array(values)) for values in (crowd, crowd + [9.0] * 1000))
    assert before[9] < 1e-20
    assert after[9] > 0.99
