"""Parquet files that the engine reads by itself: the same summaries as by the stream, and never the wrong column."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpselect import ROWS, Dataset, SelectionError, check
from dpselect.errors import InvalidDataError
from dpselect.rows import duckdb as engine
from dpselect.rows import scan
from dpselect.rows.files import FileSource
from tests.rows.tables import count, gather, opened, total, write_parquet

Ways = Callable[..., list[Any]]


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> Ways:
    """Calls something twice, directly and by the stream, and says whether the first time was direct."""

    def both(ask: Callable[[], Any]) -> list[Any]:
        streamed: list[bool] = []
        batches = scan.Scan._batches

        def watched(self: scan.Scan) -> Any:
            streamed.append(True)
            return batches(self)

        with monkeypatch.context() as patch:
            patch.setattr(scan.Scan, "_batches", watched)
            found = [ask(), not streamed]
            patch.setattr(scan, "_read_by_the_engine", lambda *_: ())
            return [ask(), *found]

    return both


UNITS = {
    pa.int8(): [1, 1, 2, None],
    pa.uint32(): [2**32 - 1, 0, 0, None],
    pa.uint64(): [2**64 - 1, 2**64 - 2, 2**64 - 1, None],
    pa.int64(): [-(2**63), 2**63 - 1, 5, 5],
    pa.date32(): [date(1, 1, 1), date(9999, 12, 31), date(1, 1, 1), None],
    pa.bool_(): [True, False, True, None],
    pa.dictionary(pa.int8(), pa.int64()): [7, 7, 8, None],
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("type_", UNITS, ids=str)
@pytest.mark.parametrize("values", [[5, 5, 6, 7], [5, None, 5, 5]])
def test_both_ways_find_the_same(ways: Ways, tmp_path: Path, type_: Any, values: list[Any]) -> None:
    rows = list(zip(UNITS[type_], values, strict=True))
    path = write_parquet(tmp_path / "t.parquet", rows, types=(type_, pa.int16()))
    streamed, directly, by_itself = ways(lambda: count(path, [7, 5, 6]))
    assert by_itself
    assert streamed == directly


VALUES: list[tuple[Any, list[Any], Any]] = [
    (pa.uint64(), [2**64 - 1, 7, None, 7], [7, 2**63 - 1]),
    (pa.date32(), [date(2026, 11, 21), date(1, 1, 1), None, None], [date(2026, 11, 21)]),
    (pa.bool_(), [True, False, None, True], [True, False]),
    (pa.int64(), [-(2**63), 2**63 - 1, 0, None], range(2**63 - 2, 2**63)),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("type_", "values", "candidates"), VALUES)
def test_both_ways_match_the_same(ways: Ways, tmp_path: Path, type_: Any, values: list[Any], candidates: Any) -> None:
    path = write_parquet(tmp_path / "t.parquet", list(enumerate(values)), types=(pa.int64(), type_))
    streamed, directly, by_itself = ways(lambda: count(path, candidates))
    assert by_itself
    assert streamed == directly
    assert sum(directly) > 0


def test_totals_go_both_ways(ways: Ways, tmp_path: Path) -> None:
    generator = np.random.default_rng(9)
    columns = {"unit": generator.integers(0, 500, 4000), "value": generator.integers(0, 9, 4000)}
    columns["part"], columns["amount"] = generator.integers(0, 4, 4000), generator.integers(-30, 30, 4000)
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    streamed, directly, by_itself = ways(
        lambda: total(tmp_path / "t.parquet", range(9), bounds=(-20, 30), scale=3, groups=range(4), most=4)
    )
    assert by_itself
    assert streamed == directly


@pytest.mark.parametrize("most", [1, 2])
def test_a_choice_of_rows_goes_both_ways(ways: Ways, tmp_path: Path, most: int) -> None:
    """Lots are drawn after the rows are read."""
    pq.write_table(pa.table({"unit": [1, 1, 1, 2, 3], "value": [5, 5, 5, 7, 10]}), tmp_path / "t.parquet")
    streamed, directly, by_itself = ways(lambda: gather(tmp_path / "t.parquet", bounds=(0, 9), most=most))
    assert by_itself
    assert streamed == directly == [5.0] * most + [7.0, 9.0]


AWKWARD: dict[str, list[tuple[str, list[int]]]] = {
    "names that differ in capitals": [("unit", [1, 2, 3]), ("VALUE", [9, 9, 9]), ("value", [5, 5, 6])],
    "names that differ in accents": [("unit", [1, 2, 3]), ("value", [5, 5, 6]), ("é", [9, 9, 9]), ("É", [9, 9, 9])],
}


@pytest.mark.parametrize("what", AWKWARD)
def test_names_the_engine_cannot_tell_apart_are_streamed(ways: Ways, tmp_path: Path, what: str) -> None:
    names, arrays = zip(*AWKWARD[what], strict=True)
    pq.write_table(pa.Table.from_arrays([pa.array(each) for each in arrays], names=names), tmp_path / "t.parquet")
    assert ways(lambda: count(tmp_path / "t.parquet", [5, 6, 9])) == [[2, 1, 0], [2, 1, 0], False]


FLOATS = [pa.float16(), pa.float32(), pa.float64()]


@pytest.mark.parametrize("other", ["age", "file_row_number"])
def test_a_column_without_a_name_is_no_number_of_a_row(tmp_path: Path, other: str) -> None:
    table = pa.table({"": [7, 7, 8, None], other: [1, 2, 3, 4]})
    pq.write_table(table, tmp_path / "people.parquet")
    for source in (tmp_path / "people.parquet", table):
        assert Dataset(source, unit="").count(epsilon=1000.0).value == 2
        checked = check(source, other, unit="", bounds=(0, 9))
        assert (checked.units, checked.usable_rows) == (2, 3)
        assert check(source, "", unit=ROWS, bounds=(0, 9)).usable_rows == 3


@pytest.mark.parametrize("type_", [pa.string(), pa.binary(), pa.decimal128(5, 2), pa.null(), *FLOATS])
def test_other_types_are_streamed(ways: Ways, tmp_path: Path, type_: Any) -> None:
    path = write_parquet(tmp_path / "t.parquet", [(None, 5)], types=(type_, pa.int64()))
    assert ways(lambda: count(path, [5])) == [[0], [0], False]


@pytest.mark.parametrize("extra", [5.0, 0.0, -0.0, -5.0, math.inf, None])
def test_one_row_does_not_decide_what_nan_is_elsewhere(tmp_path: Path, extra: float | None) -> None:
    """A file notes the smallest and the largest number of a column, and leaves out NaN."""

    def asked(amounts: list[float | None]) -> tuple[list[int], list[int]]:
        path, rows = tmp_path / "t.parquet", range(len(amounts))
        pq.write_table(pa.table({"unit": rows, "value": [1] * len(rows), "amount": amounts}), path)
        summed = total(path, [1], bounds=(0, 1000))[0]
        pq.write_table(pa.table({"unit": pa.array(amounts, pa.float64()), "value": [1] * len(rows)}), path)
        return list(summed), list(count(path, [1]))

    somebody = 0 if extra is None else max(0, min(1000, extra))
    assert asked([math.nan] * 50) == ([0], [0])
    assert asked([math.nan] * 50 + [extra]) == ([somebody], [int(extra is not None)])


def test_the_engine_left_to_itself_lets_one_row_decide(tmp_path: Path) -> None:
    """Control of the test above: NaN is the largest number of all, unless another one is noted."""

    def above(amounts: list[float]) -> object:
        pq.write_table(pa.table({"amount": amounts}), tmp_path / "t.parquet")
        query = f"SELECT count(*) FROM read_parquet('{tmp_path}/t.parquet') WHERE amount > 1000"
        return duckdb.connect().execute(query).fetchone()

    assert above([math.nan] * 50) == (50,)
    assert above([math.nan] * 50 + [0.0]) == (0,)


@pytest.mark.parametrize("name", ["[a].parquet", "a?.parquet", "{a,b}.parquet", "a*.parquet", "s3:x.parquet"])
def test_names_that_look_like_patterns_are_streamed(ways: Ways, tmp_path: Path, name: str) -> None:
    write_parquet(tmp_path / "a.parquet", [(1, 6)] * 3)
    path = write_parquet(tmp_path / name, [(1, 5), (2, 5)])
    assert ways(lambda: count(path, [5, 6])) == [[2, 0], [2, 0], False]


def test_folders_do_not_become_columns(ways: Ways, tmp_path: Path) -> None:
    """Control: left to itself, the engine would take the value from the name of the folder."""
    (tmp_path / "value=9").mkdir()
    path = write_parquet(tmp_path / "value=9" / "t.parquet", [(1, 5), (2, 5)])
    assert ways(lambda: count(path, [5, 9])) == [[2, 0], [2, 0], True]
    query = f"SELECT value FROM read_parquet('{path}', hive_partitioning = true)"
    assert duckdb.connect().execute(query).fetchall() == [(9,), (9,)]


def test_files_of_different_types_are_streamed(ways: Ways, tmp_path: Path) -> None:
    """Control: the engine would convert all files to the types of the first, and fail on what does not fit."""
    write_parquet(tmp_path / "a.parquet", [(1, 5)], types=(pa.int8(), pa.int8()))
    write_parquet(tmp_path / "b.parquet", [(2**40, 5)], types=(pa.int64(), pa.int8()))
    assert ways(lambda: count(tmp_path / "*.parquet", [5])) == [[2], [2], False]
    with pytest.raises(duckdb.Error):
        duckdb.connect().execute(f"SELECT sum(unit) FROM read_parquet('{tmp_path}/*.parquet')").fetchall()


def test_several_files_are_read_together(ways: Ways, tmp_path: Path) -> None:
    for i in range(3):
        write_parquet(tmp_path / f"it's {i}.parquet", [(i, 5), (9, 5), (i, 6)])
    assert ways(lambda: count(tmp_path / "*.parquet", [5, 6])) == [[4, 3], [4, 3], True]


def test_what_the_engine_cannot_read_is_left_to_the_stream(
    ways: Ways, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_parquet(tmp_path / "t.parquet", [(1, 5), (2, 5)])

    def failing(*_: object) -> str:
        raise duckdb.InvalidInputException("SENTINEL")

    monkeypatch.setattr(scan.Scan, "_of_files", failing)
    assert ways(lambda: count(path, [5])) == [[2], [2], False]


def test_a_full_memory_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_parquet(tmp_path / "t.parquet", [(1, 5), (2, 5)])
    seen: list[object] = []

    def full(*given: object) -> None:
        seen.append(given)
        raise duckdb.OutOfMemoryException("SENTINEL")

    monkeypatch.setattr(scan.Scan, "attach", full)
    with pytest.raises(SelectionError, match="more memory or temporary disk space"):
        count(path, [5])
    assert len(seen) == 1


def test_only_the_files_asked_for_can_be_reached(tmp_path: Path) -> None:
    one, other = (write_parquet(tmp_path / f"{name}.parquet", [(1, 5)]) for name in "ab")
    with engine.connected(paths=[str(one)]) as database:
        assert database.execute(f"SELECT count(*) FROM read_parquet('{one}')").fetchall() == [(1,)]
        for query in (f"SELECT * FROM read_parquet('{other}')", f"COPY (SELECT 1) TO '{one}'"):
            with pytest.raises(duckdb.Error):
                database.execute(query)
        with pytest.raises(duckdb.Error):
            database.execute(f"SET allowed_paths = ['{other}']")


def test_a_file_exchanged_since_it_was_described_is_refused(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "t.parquet", [(1, 2)])
    table = opened(path)
    assert scan.Scan(FileSource.at(path), {"who": scan.Cell(table.column("unit"))}).paths
    other = write_parquet(tmp_path / "o.parquet", [(1, 2.5)]).read_bytes()
    path.write_bytes(other)
    with pytest.raises(InvalidDataError, match="changed while it was read"):
        count(table, [2])
