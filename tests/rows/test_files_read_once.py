"""A file that several names lead to is read once: its rows, and one person's contribution, would count twice."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect.errors import InvalidDataError
from tests.rows import placed

SURE = 60.0
"""An epsilon with which noise comes less often than once in 10^20 tests."""

ROWS = pa.table({"who": pa.array(range(100)), "paid": pa.array([10] * 100)})


def excel(folder: Path) -> Path:
    ROWS.to_pandas().to_excel(folder / "rows.xlsx", index=False)
    return folder / "rows.xlsx"


KINDS: dict[str, Callable[[Path], Path]] = {
    **{kind: lambda folder, kind=kind: Path(placed.one_file(kind, ROWS, folder)) for kind in placed.FILES},
    "excel": excel,
}

LINKS: dict[str, Callable[[Path, Path], None]] = {
    "symbolic": lambda link, file: link.symlink_to(file),
    "relative": lambda link, file: link.symlink_to(os.path.relpath(file, link.parent)),
    "hard": lambda link, file: link.hardlink_to(file),
}


def total(source: object, **options: str) -> float:
    """What everybody paid: 1000, if every row counts once."""
    data = dps.Dataset(source, unit="who", **options)
    return data.sum("paid", clip=(0, 1000), epsilon=1000 * SURE).value


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("link", LINKS)
def test_a_glob_that_meets_a_file_through_a_link(kind: str, link: str, tmp_path: Path) -> None:
    file = KINDS[kind](tmp_path)
    LINKS[link](tmp_path / f"again{file.suffix}", file)
    assert total(f"{tmp_path}/*{file.suffix}") == 1000


def test_a_glob_that_meets_a_file_through_links_of_both_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As somebody types it: names that come before that of the file, and a folder that is not absolute."""
    (tmp_path / "g").mkdir()
    file = KINDS["csv"](tmp_path / "g")
    LINKS["relative"](tmp_path / "g" / "a.csv", file)
    LINKS["hard"](tmp_path / "g" / "b.csv", file)
    monkeypatch.chdir(tmp_path)
    assert total("g/*.csv") == 1000


def test_a_glob_whose_parts_overlap_and_folders_that_are_linked(tmp_path: Path) -> None:
    (tmp_path / "deep" / "deeper").mkdir(parents=True)
    KINDS["csv"](tmp_path / "deep" / "deeper")
    (tmp_path / "linked").symlink_to(tmp_path / "deep", target_is_directory=True)
    for pattern in ("**/*.csv", "**/**/*.csv", "*/*/*.csv", "[dl]*/**/rows.csv"):
        assert total(f"{tmp_path}/{pattern}") == 1000, pattern


def test_copies_are_other_files(tmp_path: Path) -> None:
    """The control: two files with the same content hold the rows of different people, for all anyone knows."""
    file = KINDS["csv"](tmp_path)
    (tmp_path / "copy.csv").write_bytes(file.read_bytes())
    assert total(f"{tmp_path}/*.csv") == 2000


@pytest.mark.parametrize("link", LINKS)
def test_a_list_that_names_one_file_twice(link: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its name, through a link, or by a glob."""
    monkeypatch.chdir(tmp_path)
    file = KINDS["csv"](tmp_path)
    LINKS[link](tmp_path / "again.csv", file)
    for again in ("./rows.csv", str(file), "again.csv", f"{tmp_path}/../{tmp_path.name}/rows.csv", "*.csv"):
        assert total(["rows.csv", again]) == 1000
    (tmp_path / "copy.csv").write_bytes(file.read_bytes())
    assert total(["rows.csv", "*.csv"]) == 2000


def test_folders_of_partitions_that_are_links(tmp_path: Path) -> None:
    """What is kept elsewhere is read, and what stands there already is not read again."""
    table, elsewhere = tmp_path / "table", tmp_path / "archive"
    for folder in (table / "year=2025", elsewhere):
        folder.mkdir(parents=True)
        KINDS["parquet"](folder)
    (table / "year=2024").symlink_to(elsewhere, target_is_directory=True)
    assert total(str(table)) == 2000
    (table / "year=2024" / "again.parquet").hardlink_to(elsewhere / "rows.parquet")
    assert total(str(table)) == 2000
    counts = dps.Dataset(str(table), unit="who").histogram("year", candidates=["2024", "2025"], epsilon=2 * SURE)
    assert sum(counts.value) == 100


def test_one_file_in_two_partitions_is_refused(tmp_path: Path) -> None:
    (tmp_path / "year=2025").mkdir()
    KINDS["parquet"](tmp_path / "year=2025")
    (tmp_path / "year=2026").symlink_to(tmp_path / "year=2025", target_is_directory=True)
    with pytest.raises(InvalidDataError, match=r"one value in each column\. Links lead to one file from two folders"):
        total(str(tmp_path))


def test_partitions_that_lead_back_are_refused(tmp_path: Path) -> None:
    (tmp_path / "year=2025").mkdir()
    KINDS["csv"](tmp_path / "year=2025")
    (tmp_path / "year=2025" / "month=1").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(InvalidDataError, match="without links that lead back into it"):
        total(str(tmp_path))


@pytest.mark.parametrize("link", LINKS)
def test_files_without_numbers_are_told_by_their_paths(
    link: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on some file systems of Windows, where a hard link is another file for all anyone knows."""
    file = KINDS["csv"](tmp_path)
    LINKS[link](tmp_path / "again.csv", file)
    stat = os.stat

    def unnumbered(path: str) -> os.stat_result:
        return os.stat_result([number if at != 1 else 0 for at, number in enumerate(stat(path))])

    monkeypatch.setattr("dpselect.rows.files.os.stat", unnumbered)
    found = dps.Dataset(f"{tmp_path}/*.csv", unit="who")
    monkeypatch.undo()
    assert found.count(epsilon=SURE).value == 100
    assert found.sum("paid", clip=(0, 1000), epsilon=1000 * SURE).value == (2000 if link == "hard" else 1000)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_public_candidates_are_listed_once(kind: str, tmp_path: Path) -> None:
    file = KINDS[kind](tmp_path)
    (tmp_path / f"again{file.suffix}").symlink_to(file)
    assert dps.candidates_from(tmp_path / f"again{file.suffix}", column="paid") == [10]
    assert pd.unique(ROWS["paid"].to_pandas()).tolist() == [10]


def test_a_folder_written_by_spark_is_a_table(tmp_path: Path) -> None:
    """Its empty parts hold no row, and have no header either."""
    folder = tmp_path / "written.csv"
    folder.mkdir()
    for part, rows in enumerate(["who,x\n1,5\n2,5\n", "", "who,x\n3,5\n"]):
        (folder / f"part-0000{part}.csv").write_text(rows)
    (folder / ".part-00000.csv.crc").write_bytes(b"\0")
    refused = dps.errors.InvalidDataError
    with pytest.raises(refused, match="a file, not a folder"):
        dps.Dataset(folder, unit="who")
    (folder / "_SUCCESS").touch()
    assert dps.Dataset(folder, unit="who").count(epsilon=1000.0).value == 3
    year = tmp_path / "years" / "year=2026"
    shutil.copytree(folder, year)
    (year / "_SUCCESS").rename(year.parent / "_SUCCESS")
    by_year = dps.Dataset(year.parent, unit="who").by("year", groups=["2025", "2026"])
    assert by_year.count(epsilon=1000.0).value == {"2025": 0, "2026": 3}
    for each in folder.glob("part*"):
        each.write_text("")
    with pytest.raises(refused, match="a folder with files in it"):
        dps.Dataset(folder, unit="who")
