"""Folders of table formats, whose files still contain deleted rows: refused, with the way to the rows that count."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpselect as dps
from dpselect.errors import InvalidDataError
from tests.rows.tables import count, opened

ALL, LEFT = 100, 40
"""Rows in the first file; and in the second one, which was written when the others had been deleted."""


def files_in(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("before", ALL), ("after", LEFT)):
        pq.write_table(pa.table({"unit": range(rows), "value": [1] * rows}), folder / f"{name}.parquet")


def delta(table: Path) -> Path:
    """As the library deltalake writes it; in the log only what says which files there were."""
    files_in(table)
    log = table / "_delta_log"
    log.mkdir()
    (log / f"{0:020}.json").write_text('{"add":{"path":"before.parquet"}}\n')
    (log / f"{1:020}.json").write_text('{"remove":{"path":"before.parquet"}}\n{"add":{"path":"after.parquet"}}\n')
    return table


def partitioned_delta(table: Path) -> Path:
    """The files in folders of their own."""
    delta(table)
    files = table / "city=north" / "year=2026"
    files_in(files)
    return files


def iceberg(table: Path) -> Path:
    """As pyiceberg writes it."""
    files_in(table / "data")
    (table / "metadata").mkdir()
    (table / "metadata" / "00001-26956a77-70d0-4000-a4e8-c080e82700f0.metadata.json").write_text("{}")
    return table / "data"


def packed_iceberg(table: Path) -> Path:
    """As with ``write.metadata.compression-codec=gzip``, in one of its two spellings."""
    files_in(table / "data" / "city=north")
    (table / "metadata").mkdir()
    (table / "metadata" / "v1.metadata.json.gz").write_bytes(gzip.compress(b"{}"))
    return table / "data" / "city=north"


def older_packed_iceberg(table: Path) -> Path:
    """The other spelling."""
    files_in(table / "data")
    (table / "metadata").mkdir()
    (table / "metadata" / "00000-a.gz.metadata.json").write_bytes(gzip.compress(b"{}"))
    return table / "data"


def hudi(table: Path) -> Path:
    files_in(table / "north")
    (table / ".hoodie").mkdir()
    return table / "north"


FORMATS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "delta": (delta, "Delta table, whose files still contain deleted rows.*folder that contains _delta_log"),
    "partitioned": (
        partitioned_delta,
        "Delta table, whose files still contain deleted rows.*folder that contains _delta_log",
    ),
    "iceberg": (iceberg, "Iceberg table, whose files still contain deleted rows.*load_table"),
    "packed": (packed_iceberg, "Iceberg table, whose files still contain deleted rows.*load_table"),
    "older": (older_packed_iceberg, "Iceberg table, whose files still contain deleted rows.*load_table"),
    "hudi": (hudi, "Hudi table, whose files still contain deleted rows.*hudi"),
}

SOURCES: dict[str, Callable[[Path, Path], object]] = {
    "a folder": lambda table, files: str(table),
    "a folder of files": lambda table, files: str(files),
    "a file": lambda table, files: str(files / "after.parquet"),
    "a path": lambda table, files: files / "after.parquet",
    "a glob": lambda table, files: str(files / "*.parquet"),
    "a glob of folders": lambda table, files: str(table.parent / "**" / "*.parquet"),
    "a relative path": lambda table, files: os.path.relpath(files / "after.parquet"),
    "a link": lambda table, files: link(files / "after.parquet", table.parent / "elsewhere" / "linked.parquet"),
    "a link to the folder": lambda table, files: str(Path(link(table, table.parent / "linked")) / "**" / "*.parquet"),
}


def link(target: Path, name: Path) -> str:
    name.parent.mkdir(exist_ok=True)
    name.symlink_to(target)
    return str(name)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("way", SOURCES)
def test_files_of_table_formats_are_refused(name: str, way: str, tmp_path: Path) -> None:
    make, said = FORMATS[name]
    said = f"part of an? {said}"
    if (name, way) in (("delta", "a folder"), ("delta", "a folder of files"), ("partitioned", "a folder")):
        said = "a table that deltalake can read"  # its own reader opens it, and this log lacks most of what is in one
    table = tmp_path / "ta[b]le"  # which a glob would read as another name
    source = SOURCES[way](table, make(table))
    if "glob" in way or way.endswith("to the folder"):
        source = str(source).replace("ta[b]le", "ta[[]b]le")
    with pytest.raises(InvalidDataError, match=said) as refused:
        opened(source)
    assert "*.parquet" not in str(refused.value).replace(str(source), "")  # no glob is advised


def test_a_file_of_a_table_is_not_read_alone(tmp_path: Path) -> None:
    delta(tmp_path / "table")
    with pytest.raises(InvalidDataError, match="Delta"):
        dps.Dataset(tmp_path / "table" / "after.parquet", unit="unit")


def test_a_file_that_only_a_glob_found_is_not_named(tmp_path: Path) -> None:
    delta(tmp_path / "ann-lee")
    with pytest.raises(InvalidDataError, match="Delta") as refused:
        opened(str(tmp_path / "*" / "*.parquet"))
    assert "ann-lee" not in str(refused.value)


def test_other_files_are_read(tmp_path: Path) -> None:
    """Beside a table and beside what looks a little like one."""
    delta(tmp_path / "table")
    iceberg(tmp_path / "other")
    plain = tmp_path / "plain"
    files_in(plain)
    (plain / "metadata").mkdir()
    (plain / "metadata" / "columns.json").write_text("{}")
    (plain / "x_delta_log").mkdir()
    assert count(plain / "before.parquet", [1]) == [ALL]
    assert count(str(plain / "*.parquet"), [1]) == [ALL]
    (tmp_path / "table" / "notes.csv").write_text("unit,value\n1,1\n")  # of no table of Delta
    assert count(tmp_path / "table" / "notes.csv", [1]) == [1]


def test_folders_of_plain_files_are_still_shown_the_glob(tmp_path: Path) -> None:
    files_in(tmp_path)
    with pytest.raises(InvalidDataError, match=r"For all files in it give .*\*\.parquet"):
        opened(str(tmp_path))
