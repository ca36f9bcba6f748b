"""What one unit's rows look like, many or long, never decides whether memory is enough."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpselect.rows import duckdb as engine
from dpselect.rows import library_files
from dpselect.rows.arrow import PIECE_BYTES, plain_batches
from dpselect.rows.columns import Column, Holds
from dpselect.rows.lines import File
from tests.rows import engines
from tests.rows.tables import Groups, Opened, count, opened
from tests.slow import SLOW

UNITS, ROWS, GROUPS = 50_000, 600_000 if SLOW else 300_000, 20


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
def table(crowded: Path, monkeypatch: pytest.MonkeyPatch) -> Opened:
    monkeypatch.setitem(engine.SETTINGS, "threads", "1")
    return opened(str(crowded), memory_limit=20 << 20)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("most", [1, 3, 2000])
def test_a_unit_with_many_rows_keeps_as_many_as_it_may(table: Opened, most: int) -> None:
    (found,) = table.numbers("value", (0, 1000), most=most)
    assert len(found) == UNITS + most


@pytest.mark.sampled(1)
@pytest.mark.parametrize("most", [1, 3])
def test_a_unit_with_many_rows_is_in_as_many_groups_as_it_may(table: Opened, most: int) -> None:
    groups: Groups = ("part", range(GROUPS), most)
    found = table.numbers("value", (0, 1000), groups=groups, most=2)
    assert sum(map(len, found)) == UNITS + 2 * most
    each_row = range(UNITS + ROWS)
    counts = table.counts("one", each_row, groups=groups)
    assert sum(map(sum, counts)) == UNITS + ROWS // GROUPS * most
    totals = table.totals("value", (0, 5), column="one", candidates=each_row, groups=groups)
    assert len(totals) == GROUPS


LONG = "z" * (1 << 20)


def repeated(values: pa.Array, times: int) -> pa.DictionaryArray:
    """Many rows of one long text, and two of short ones."""
    return pa.DictionaryArray.from_arrays(pa.array([0] * times + [None, 1, 2], pa.int32()), values)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("type_", [pa.string(), pa.large_string(), pa.string_view(), pa.binary()])
def test_long_text_that_is_stored_once_is_written_out_in_pieces(type_: pa.DataType) -> None:
    texts = repeated(pa.array([LONG, "x", "y"]).cast(type_), 100)
    if not pa.types.is_binary(type_):
        assert count(pa.table({"unit": range(103), "value": texts}), ["x", "y", LONG]) == [1, 1, 100]
    column = Column("value", Holds.BYTES if pa.types.is_binary(type_) else Holds.TEXT)
    batch = pa.RecordBatch.from_arrays([texts], ["value"])
    parts = [read[column] for read in plain_batches(batch, [column])]
    assert [each for part in parts for each in part.to_pylist()] == texts.to_pylist()
    assert max(map(len, parts[:-1])) == PIECE_BYTES // len(LONG)


def test_long_text_in_a_file_is_written_out_in_pieces(tmp_path: Path) -> None:
    columns = (Column("unit", Holds.INTEGERS), Column("value", Holds.TEXT))
    table = pa.table({"unit": range(53), "value": repeated(pa.array([LONG, "x", "y"]), 50)})
    for stored, dictionary in (("once.parquet", True), ("each.parquet", False)):
        pq.write_table(table, tmp_path / stored, use_dictionary=dictionary, compression="zstd")
        batches = list(library_files.rows(File(str(tmp_path / stored)), columns))
        assert sum(len(batch[columns[0]]) for batch in batches) == 53
        assert max(sum(each.nbytes for each in batch.values()) for batch in batches) < 2 * PIECE_BYTES


@engines.deprecations
def test_a_relation_of_text_that_is_not_utf8() -> None:
    raw = pa.array([b"ann", b"bob", b"\xff\xc3"])
    rows = pa.table({"unit": pa.Array.from_buffers(pa.string(), 3, raw.buffers()), "value": [1, 1, 1]})
    assert count(duckdb.connect().from_arrow(rows), [1]) == [2]
