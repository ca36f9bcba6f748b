"""Attack: one person's number decides what a database makes of everybody else's.

A Parquet file notes the smallest and the largest number of a column, and databases skip work by it. NaN is neither.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpselect as dps
from tests.attacks import naive

UNKNOWN = 1000
"""People of whom no amount is known."""


def write(folder: Path, *, present: bool) -> str:
    """Everybody's amount is NaN; somebody's is 0, on the second page, where there are ten people with 5."""
    path, rows = folder / "amounts.parquet", UNKNOWN + 10 + int(present)
    amounts = [math.nan] * UNKNOWN + [5.0] * 10 + [0.0] * int(present)
    page = [1] * UNKNOWN + [2] * 10 + [1] * int(present)
    pq.write_table(pa.table({"person": range(rows), "page": page, "amount": amounts}), path)
    return str(path)


def test_one_person_moves_a_naive_total_by_a_thousand_people(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    totals = [naive.total_in_file(write(tmp_path, present=present), 1000, 1.0, rng) for present in (False, True)]
    assert totals[0] < 100_000
    assert totals[1] > 900_000


@pytest.mark.parametrize("present", [False, True])
def test_here_what_is_no_number_counts_nothing_whoever_else_is_there(tmp_path: Path, present: bool) -> None:
    people = dps.Dataset(write(tmp_path, present=present), unit="person")
    release = people.best_by("page", sum="amount", clip=(0, 5), candidates=[1, 2], epsilon=50.0)
    assert release.value == 2
