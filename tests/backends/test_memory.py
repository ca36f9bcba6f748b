"""What one unit's rows look like, many or long, never decides whether memory is enough."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpselect.backends.contract import Amount, Grouping, Table
from dpselect.backends.opening import open_table
from dpselect.backends.rows import connection
from dpselect.summaries import PublicCandidates, PublicDomain

UNITS, ROWS, GROUPS = 50_000, 600_000, 20


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One unit has most of the rows, in every group."""
    path = tmp_path_factory.mktemp("crowded") / "t.parquet"
    unit = np.concatenate([np.arange(UNITS), np.full(ROWS, -1)])
    part = np.arange(UNITS + ROWS) % GROUPS
    columns = {"unit": unit, "value": (unit + 1.0) % 1000, "part": part, "one": np.arange(UNITS + ROWS)}
    pq.write_table(pa.table(columns), path, row_group_size=1 << 17)
    return path


@pytest.fixture
def table(crowded: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    monkeypatch.setitem(connection.SETTINGS, "threads", "1")
    return open_table(str(crowded), memory_limit=20 << 20)


def grouping(table: Table, most: int) -> Grouping:
    return Grouping(table.column("part"), PublicCandidates.given(range(GROUPS)), most)


@pytest.mark.parametrize("most", [1, 3, 2000])
def test_a_unit_with_many_rows_keeps_as_many_as_it_may(table: Table, most: int) -> None:
    asked = {"unit": table.unit("unit"), "column": table.column("value"), "domain": PublicDomain.given((0, 1000))}
    (found,) = table.gather(**asked, max_rows_per_unit=most)
    assert len(found.values) == UNITS + most


@pytest.mark.parametrize("most", [1, 3])
def test_a_unit_with_many_rows_is_in_as_many_groups_as_it_may(table: Table, most: int) -> None:
    asked = {"unit": table.unit("unit"), "grouping": grouping(table, most)}
    found = table.gather(
        **asked, column=table.column("value"), domain=PublicDomain.given((0, 1000)), max_rows_per_unit=2
    )
    assert sum(len(each.values) for each in found) == UNITS + 2 * most
    candidates = PublicCandidates.given(range(UNITS + ROWS))
    counts = table.count(**asked, column=table.column("one"), candidates=candidates)
    assert sum(int(each.counts.sum()) for each in counts) == UNITS + ROWS // GROUPS * most
    amount = Amount(table.column("value"), 1, 0, 5)  # type: ignore[arg-type]
    totals = table.total(**asked, column=table.column("one"), candidates=candidates, amount=amount)
    assert len(totals) == GROUPS
