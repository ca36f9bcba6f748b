"""Several files as one table, and files of types that are not Parquet: lists, folders of partitions, Arrow, ORC."""

from __future__ import annotations

import pickle
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

import dpselect as dps
from dpselect import Format
from dpselect.errors import InvalidDataError
from tests.formats.reading import counts, counts_in_groups, numbers
from tests.rows.tables import opened

ROWS = pa.table(
    {
        "unit": pa.array([1, 1, 2, 3, None, 4, 5]),
        "value": pa.array(["a", "b", "a", None, "a", "ä", "b"]),
        "number": pa.array([1.5, float("nan"), 2.5, None, 9.0, float("inf"), -1.0]),
        "paid": pa.array([Decimal("1.50"), None, Decimal("7.00"), Decimal("7.00"), None, None, Decimal("1.50")]),
        "day": pa.array([date(2026, 11, 21), None, None, date(2026, 11, 21), None, None, date(1999, 1, 1)]),
        "is": pa.array([True, False, True, None, True, True, False]),
    }
)
ASKED: dict[str, Any] = {
    "value": ["a", "b", "ä", "c"],
    "paid": [1.5, 7.0],
    "day": [date(2026, 11, 21), date(1999, 1, 1)],
    "is": [True, False],
}


def arrow(rows: pa.Table, path: Path) -> Path:
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, rows.schema) as writer:
        writer.write_table(rows, max_chunksize=3)
    return path


def written_feather(rows: pa.Table, path: Path) -> Path:
    feather.write_feather(rows, path, compression="zstd", chunksize=2)
    return path


def written_orc(rows: pa.Table, path: Path) -> Path:
    orc.write_table(rows, path)
    return path


WRITERS: dict[str, Any] = {"t.arrow": arrow, "t.ipc": arrow, "t.feather": written_feather, "t.orc": written_orc}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", WRITERS)
def test_the_same_as_the_table_in_memory(name: str, tmp_path: Path) -> None:
    path = WRITERS[name](ROWS, tmp_path / name)
    for column, candidates in ASKED.items():
        expected = counts(ROWS, candidates, None, column=column)
        assert counts(path, candidates, None, column=column) == expected
        assert sum(expected) > 0
    renamed = ROWS.select(["unit", "number"]).rename_columns(["unit", "value"])
    assert numbers(WRITERS[name](renamed, path), None) == numbers(renamed, None)
    assert opened(path).holds("value") == opened(renamed).holds("value")


@pytest.mark.parametrize("name", WRITERS)
def test_text_that_is_not_utf_8_is_missing_in_its_own_row(name: str, tmp_path: Path) -> None:
    texts = pa.array([b"a", b"\xff", b"a\xc3", b"a"], pa.binary())
    bad = pa.Array.from_buffers(pa.string(), 4, texts.buffers())
    path = WRITERS[name](pa.table({"unit": [1, 2, 3, 4], "value": bad}), tmp_path / name)
    assert counts(path, ["a", "b"], None) == [2, 0]


@pytest.mark.parametrize("name", WRITERS)
def test_names_with_points_and_categories(name: str, tmp_path: Path) -> None:
    rows = pa.table({"unit": [1, 2, 3], "a": [{"b": 1}] * 3, "a.b": ["x", "y", "x"]})
    assert counts(WRITERS[name](rows, tmp_path / name), ["x", "y"], None, column="a.b") == [2, 1]
    if name != "t.orc":
        rows = pa.table({"unit": [1, 2, 3], "value": pa.array(["x", "y", "x"]).dictionary_encode()})
        assert counts(WRITERS[name](rows, tmp_path / name), ["x", "y"], None) == [2, 1]


@pytest.mark.parametrize("name", WRITERS)
def test_what_is_not_what_its_name_says(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    for content, said in ((b"", "The file is empty"), (b"unit,value\n1,2\n", "as its name says")):
        path.write_bytes(content)
        with pytest.raises(InvalidDataError, match=said):
            opened(path)
    whole = WRITERS[name](ROWS, path).read_bytes()
    for cut in (whole[: len(whole) // 2], whole[:8] + whole[-8:]):
        path.write_bytes(cut)
        with pytest.raises(InvalidDataError, match=r"as its name says|that can be read to its end"):
            opened(path)
    twice = ROWS.select(["unit", "value"]).rename_columns(["unit", "unit"])
    with pytest.raises((InvalidDataError, pa.ArrowException)):
        opened(WRITERS[name](twice, path))


def test_a_stream_and_the_first_feather_come_with_a_way_out(tmp_path: Path) -> None:
    path = tmp_path / "t.arrow"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, ROWS.schema) as writer:
        writer.write_table(ROWS)
    with pytest.raises(InvalidDataError, match=r"an Arrow file, as its name says.*write_feather"):
        opened(path)


def test_deleted_rows_of_table_formats_are_not_read_from_orc(tmp_path: Path) -> None:
    (tmp_path / "metadata").mkdir()
    (tmp_path / "metadata" / "v1.metadata.json").touch()
    path = written_orc(ROWS, tmp_path / "t.orc")
    with pytest.raises(InvalidDataError, match="Iceberg"):
        opened(path)


def test_a_list_of_files_is_one_table(tmp_path: Path) -> None:
    paths = [tmp_path / "may.csv", tmp_path / "june.csv"]
    paths[0].write_text("unit,value\n1,a\n2,b\n")
    paths[1].write_text("unit,value\n1,a\n3,a\n")
    for source in (paths, tuple(map(str, paths)), [str(paths[0]), paths[1]]):
        assert counts(source, ["a", "b"], None) == [2, 1]
    assert counts(paths[:1], ["a", "b"], None) == [1, 1]
    data = dps.Dataset(paths, unit="unit")
    assert repr(data) == "Dataset(<2 files>, unit='unit')"
    again = pickle.loads(pickle.dumps(data))
    release = again.most_common("value", candidates=["a", "b"], epsilon=100.0)
    assert (release.value, (release.source or {})["files"]) == ("a", ["may.csv", "june.csv"])
    assert str(tmp_path) not in release.to_json()
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("visits", epsilon=1.0, unit="unit")

    def asked(source: Any) -> Any:
        visits = dps.Dataset(source, unit="unit", ledger=ledger, account="visits")
        return visits.most_common("value", candidates=["a", "b"], epsilon=0.5, request="once")

    assert asked(paths) == asked(paths[::-1])
    with pytest.raises(dps.errors.RequestReusedError):
        asked(paths[:1])


def test_lists_that_are_no_table(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("unit,value\n1,a\n")
    for source, said in (
        ([path, tmp_path / "none.csv"], "an existing file"),
        ([path, tmp_path], "a file, not a folder"),
        ([path, str(tmp_path / "*.parquet")], "a glob that matches at least one file"),
        ([path, "postgresql://ann:secret@db/shop"], "an existing file"),
    ):
        with pytest.raises(InvalidDataError) as refused:
            opened(source)
        assert said in str(refused.value)
        assert "secret" not in str(refused.value)
    for other in ([], [1, 2], [None]):
        with pytest.raises(InvalidDataError):
            opened(other)


@pytest.fixture
def partitioned(tmp_path: Path) -> Path:
    folder = tmp_path / "visits"
    for year, city, rows in (
        ("2025", "north", {"unit": [1, 2], "value": ["a", "a"]}),
        ("2026", "S%C3%BCd%2F", {"unit": [1, 3], "value": ["b", "a"]}),
        ("2026", "__HIVE_DEFAULT_PARTITION__", {"unit": [4, 5], "value": ["a", "a"]}),
    ):
        inside = folder / f"year={year}" / f"city={city}"
        inside.mkdir(parents=True)
        pq.write_table(pa.table(rows), inside / "part-0.parquet")
    (folder / "_SUCCESS").touch()
    (folder / "year=2026" / ".hidden.crc").touch()
    return folder


def test_folders_are_columns(partitioned: Path) -> None:
    assert counts(partitioned, ["a", "b"], None) == [5, 1]
    assert counts(partitioned, [2025, 2026], None, column="year") == [2, 4]
    assert counts(partitioned, ["north", "Süd/", "south"], None, column="city") == [2, 2, 0]
    assert counts(partitioned, ["a", "b"], None, unit="year") == [2, 1]
    assert counts(partitioned, ["north", "Süd/"], None, unit="year", column="city") == [1, 1]
    assert counts(partitioned, ["a", "b"], None, unit="city") == [2, 1]  # the third one is missing, and nobody
    assert counts(partitioned, ["NORTH", "süd/"], Format(ignore_case=True), column="city") == [2, 2]


def test_folders_are_groups(partitioned: Path, tmp_path: Path) -> None:
    partitioned.rename(tmp_path / "other")
    for folder in (tmp_path / "other").glob("*/city=*"):
        folder.rename(folder.with_name(folder.name.replace("city=", "part=")))
    assert counts_in_groups(tmp_path / "other", ["a", "b"], ["north", "south"], None) == [[2, 0], [0, 0]]


def test_a_folder_of_partitions_in_a_certificate(partitioned: Path) -> None:
    release = dps.Dataset(f"{partitioned}/", unit="unit").most_common("value", candidates=["a", "b"], epsilon=100.0)
    assert (release.source or {})["files"] == ["visits"]
    assert "north" not in release.to_json()


def test_text_in_partitions(tmp_path: Path) -> None:
    for month in ("05", "06"):
        (tmp_path / f"month={month}").mkdir()
        (tmp_path / f"month={month}" / "t.csv").write_text(f"unit;value\n{month};1,5\n")
    format = Format(delimiter=";", decimal=",")
    assert numbers(tmp_path, format) == [1.5, 1.5]
    assert counts(tmp_path, [5, 6, 7], format, column="month") == [1, 1, 0]


def test_folders_that_are_no_table(partitioned: Path, tmp_path: Path) -> None:
    part = partitioned / "year=2025" / "city=north" / "part-0.parquet"
    stray = partitioned / "stray.parquet"
    stray.write_bytes(part.read_bytes())
    with pytest.raises(InvalidDataError, match="One file is in another place") as refused:
        opened(partitioned)
    assert "stray" not in str(refused.value)
    stray.unlink()
    other = partitioned / "year=2027" / "town=x"
    other.mkdir(parents=True)
    (other / "t.parquet").write_bytes(part.read_bytes())
    with pytest.raises(InvalidDataError, match="folders that name the same columns"):
        opened(partitioned)
    (tmp_path / "empty" / "year=2026").mkdir(parents=True)
    with pytest.raises(InvalidDataError, match="a folder with files in it"):
        opened(tmp_path / "empty")
    (tmp_path / "twice" / "value=a").mkdir(parents=True)
    (tmp_path / "twice" / "value=a" / "t.parquet").write_bytes(part.read_bytes())
    with pytest.raises(InvalidDataError, match="have a column in common"):
        opened(tmp_path / "twice")
    (partitioned / "_delta_log").mkdir()
    with pytest.raises(InvalidDataError, match="deltalake can read"):
        opened(partitioned)


def test_one_unit_more_moves_each_count_by_at_most_one_in_any_folder(partitioned: Path) -> None:
    """Also where its row is the first of a new folder."""
    before = counts(partitioned, ["a", "b"], None)
    for inside in ("year=2025/city=north", "year=2030/city=new", "year=%FF/city="):
        (partitioned / inside).mkdir(parents=True, exist_ok=True)
        path = partitioned / inside / "part-1.parquet"
        pq.write_table(pa.table({"unit": [99, 99], "value": ["a", "a"]}), path)
        assert counts(partitioned, ["a", "b"], None) == [before[0] + 1, before[1]]
        path.unlink()
