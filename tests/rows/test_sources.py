"""Sources that are refused, each by a message about names, headers and footers only."""

from __future__ import annotations

import gzip
import os
import re
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from dpselect import Dataset, Format
from dpselect.errors import InvalidDataError
from tests.formats.reading import counts as read
from tests.rows.tables import count, opened, write_csv, write_parquet

ENDINGS = ".csv, .txt, .tsv, .tab, .parquet, .arrow, .feather, .ipc, .orc, .xlsx, .dta, .sav, .zsav, .jsonl or .ndjson"


def refusal(source: Any) -> str:
    with pytest.raises(InvalidDataError) as caught:
        Dataset(source, unit="unit")
    assert caught.value.name == "source"
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return str(caught.value)


@pytest.mark.parametrize("source", [None, 3, b"t.csv", [], [b"t.csv"], ["t.csv", None], "", "a\0b.csv"])
def test_what_is_not_a_path(source: Any) -> None:
    assert re.search("expected the path of a file, (a list of paths, or )?a glob", refusal(source))


def test_no_such_file(tmp_path: Path) -> None:
    assert "expected an existing file" in refusal(tmp_path / "t.csv")
    assert "a glob that matches at least one file" in refusal(tmp_path / "*.csv")
    assert "local files only" in refusal("s3://bucket/t.parquet")
    assert "only in a shell" in refusal("~/no such file.csv")
    assert "write it to a file first" in refusal("-")
    assert "write it to a file first" in refusal(os.devnull)


def test_a_folder_names_the_glob_to_give(tmp_path: Path) -> None:
    assert "a file, not a folder" in refusal(tmp_path)
    assert f"It contains no file whose name ends in {ENDINGS}." in refusal(tmp_path)
    (tmp_path / "t.ndjson").touch()
    assert f"For all files in it give {str(tmp_path / '*.ndjson')!r}." in refusal(tmp_path)
    (tmp_path / "t.csv").touch()
    assert f"{str(tmp_path / '*.csv')!r} or {str(tmp_path / '*.ndjson')!r}" in refusal(tmp_path)


@pytest.mark.parametrize("name", ["t", "t.text", "t.bz2", "t.json", "csv"])
def test_other_extensions(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"unit,value\n1,2\n")
    assert f"a file whose name ends in {ENDINGS}" in refusal(tmp_path / name)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_an_empty_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    assert "The file is empty (0 bytes)." in refusal(tmp_path / name)


def test_a_header_without_rows_is_a_table(tmp_path: Path) -> None:
    for header in (b"unit,value", b"unit,value\n", b"unit,value\r\n"):
        assert count(write_csv(tmp_path / "t.csv", [], header=header), [1, 2]) == [0, 0]
    assert count(write_parquet(tmp_path / "t.parquet", [], types=(pa.int64(), pa.int64())), [1, 2]) == [0, 0]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"PAR1....", "Its content is Parquet."),
        (gzip.compress(b"unit,value\n", mtime=0), "Its content is compressed by gzip."),
        (b"PK\x03\x04rest", "Its content is a zip archive."),
        ("unit,value\n".encode("utf-16"), "Its content is UTF-16."),
        (b"unit,\0value\n1,2\n", "a text file with line breaks"),
        (b"unit,value\r1,2\r", "a text file with line breaks"),
        (b"un\xffit,value\n1,2\n", "a first line in UTF-8"),
        (b'"unit,value\n1,2\n', "a first line in UTF-8"),
        (b"unit;value\n1;2\n", "the names of columns, separated by commas. It looks"),
        (
            b"unit\tvalue\n1\t2\n",
            "separated by tabs. If it is, declare the format: delimiter='tab'. If line breaks stand inside quotes: "
            "quoted_line_breaks=True,",
        ),
        (b"unit,a,b,a\n1,2,3,4\n", "Columns 2 and 4 have the same name"),
        (b"\n1,2\n", "the names of columns, separated by commas. If lines such as titles"),
        (b"value,value\n1,2\n", "columns with different names"),
        (b"x" * (2 << 20) + b",y\n", "a first line of at most 1 MiB"),
    ],
)
def test_a_csv_that_is_something_else(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    assert reason in refusal(tmp_path / "t.csv")


@pytest.mark.parametrize(
    "content",
    [
        b"unit,value\n1,2\n",
        b"PAR1",
        b"PAR1PAR1",
        b"PAR1" + bytes(100) + b"PAR1",
        b"PAR1" + b"\xff" * 100 + b"PAR1",
        b"P",
    ],
)
def test_a_parquet_that_is_something_else(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.parquet").write_bytes(content)
    assert "a Parquet file" in refusal(tmp_path / "t.parquet")


def test_an_encrypted_or_cut_parquet(tmp_path: Path) -> None:
    content = write_parquet(tmp_path / "t.parquet", [(1, 2)]).read_bytes()
    (tmp_path / "t.parquet").write_bytes(content[:-7])
    assert "cut off" in refusal(tmp_path / "t.parquet")
    (tmp_path / "t.parquet").write_bytes(b"PARE" + content[4:-4] + b"PARE")
    assert "Its content is encrypted." in refusal(tmp_path / "t.parquet")


def test_parquet_columns_of_the_same_name(tmp_path: Path) -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["unit", "unit"])
    pq.write_table(table, tmp_path / "t.parquet")
    assert "columns with different names" in refusal(tmp_path / "t.parquet")


def test_a_file_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "isfile", lambda path: True)  # gone, or not ours, by the time it is opened
    assert "a file that can be opened" in refusal(tmp_path / "t.csv")


def test_files_that_do_not_belong_together(tmp_path: Path) -> None:
    write_csv(tmp_path / "ann.csv", [b"1,2"])
    write_parquet(tmp_path / "bob.parquet", [(1, 2)])
    assert "files of one format" in refusal(tmp_path / "*")
    write_csv(tmp_path / "cid.csv", [b"1,2"], header=b"other,names\n")
    message = refusal(tmp_path / "*.csv")
    assert "files that share at least one column" in message


def test_files_whose_columns_differ(tmp_path: Path) -> None:
    """Only those of the question have to agree, wherever they stand."""
    write_csv(tmp_path / "ann.csv", [b"1,2,x", b"2,2,y"], header=b"unit,value,note\n")
    write_csv(tmp_path / "bob.csv", [b"7,2,3", b"7,3,4", b"7,4"], header=b"more,value,unit\n")
    both = opened(tmp_path / "*.csv")
    assert both.holds("unit") == "untyped values (CSV)"
    assert count(tmp_path / "*.csv", [2, 3]) == [3, 1]
    for name, said in (
        ("note", "is missing in"),
        ("more", "is missing in .*1 of 2 in sorted order. and holds untyped"),
    ):
        with pytest.raises(InvalidDataError, match=f"column='{name}'.*{said}") as refused:
            count(both, [1], column=name)
        assert "bob" not in str(refused.value)  # a name that only the glob found might be a person's


@pytest.mark.parametrize("write", [pq.write_table, feather.write_feather])
def test_typed_files_whose_columns_differ(write: Any, tmp_path: Path) -> None:
    write(
        pa.table({"unit": [1, 2], "value": [5, 5], "other": ["x", "y"], "first": [1, 2]}), str(tmp_path / "a.parquet")
    )
    write(pa.table({"value": [5, 6], "other": [1.5, 2.5], "unit": [3, 4]}), str(tmp_path / "b.parquet"))
    if write is feather.write_feather:
        for name in "ab":
            (tmp_path / f"{name}.parquet").rename(tmp_path / f"{name}.arrow")
    source = tmp_path / ("*.parquet" if write is pq.write_table else "*.arrow")
    assert count(source, [5, 6]) == [3, 1]
    table = opened(source)
    with pytest.raises(
        InvalidDataError, match=r"other values in another file. It holds text in .*1 of 2.* and holds floa"
    ):
        count(table, ["x"], column="other")
    with pytest.raises(InvalidDataError, match=r"^unit='first'.* is missing in .*file 2 of 2"):
        table.units(unit="first")


def test_a_name_with_wildcards_that_exists_is_taken_literally(tmp_path: Path) -> None:
    write_csv(tmp_path / "[ab]?.csv", [b"1,2", b"2,2"])
    write_csv(tmp_path / "a1.csv", [b"1,2"])
    assert count(tmp_path / "[ab]?.csv", [2]) == [2]
    assert count(tmp_path / "[ab]*.csv", [2]) == [1]


def test_globs_match_files_in_sorted_order(tmp_path: Path) -> None:
    for name in ("b/2.CSV", "a/1.CSV", "b/x.csv/none"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        write_csv(tmp_path / name, [b"1,2"])
    found = tmp_path / "**" / "*.[cC][sS][vV]"
    write_csv(tmp_path / "b" / "2.CSV", [b"2,2"])
    assert count(found, [2]) == [2]
    for name, place in (("a/1.CSV", 1), ("b/2.CSV", 2)):
        (tmp_path / name).write_bytes(b"other,value\n1,2\n")
        with pytest.raises(InvalidDataError, match=f"file {place} of 2"):
            count(found, [2])
        write_csv(tmp_path / name, [b"1,2"])


def test_columns_are_told_by_exact_names(tmp_path: Path) -> None:
    table = opened(write_parquet(tmp_path / "t.parquet", [(1, 2)]))
    with pytest.raises(InvalidDataError, match=r"Did you mean 'value'\? The columns are: 'unit', 'value'\."):
        table.holds("Value")
    with pytest.raises(InvalidDataError, match=r"^unit=3: expected the name of a column"):
        table.units(unit=3)
    spaced = opened(write_csv(tmp_path / "t.csv", [], header=b'unit, value ,"a,b"\n'))
    with pytest.raises(InvalidDataError, match="Capitals and outer blanks count"):
        spaced.holds("value")
    assert spaced.holds(" value ") == spaced.holds("a,b") == "untyped values (CSV)"


NESTED = [pa.list_(pa.int64()), pa.struct([("a", pa.int64())]), pa.map_(pa.string(), pa.int64())]


@pytest.mark.parametrize("type_", [*NESTED, pa.timestamp("us"), pa.time32("s"), pa.duration("s")])
def test_units_that_cannot_be_told_apart_in_every_file(tmp_path: Path, type_: Any) -> None:
    path = write_parquet(tmp_path / "t.parquet", [(None, 1)], types=(type_, None))
    with pytest.raises(InvalidDataError, match="a column of identifiers"):
        opened(path).units()


@pytest.mark.parametrize(
    ("type_", "candidates", "reason"),
    [
        (pa.int64(), ["a"], "Column 'value' holds whole numbers: give whole numbers."),
        (pa.int64(), [1.5], "give whole numbers"),
        (pa.string(), [1], "Column 'value' holds text: give text."),
        (pa.float64(), ["a"], "give whole numbers or numbers"),
        (
            pa.float32(),
            [0.1],
            "Column 'value' holds 32-bit floating-point numbers: give whole numbers. "
            "In it 0.7 is 0.69999998...: convert it to doubles first, rounded to the decimals that you mean.",
        ),
        (pa.bool_(), [1], "give booleans"),
        (pa.date32(), ["2026-11-21"], "give dates"),
        (pa.timestamp("us"), ["a"], "This one holds times."),
        (pa.binary(), ["a"], "This one holds bytes."),
        *((nested, [1], "This one holds nested values.") for nested in NESTED),
    ],
)
def test_candidates_that_no_value_could_equal(tmp_path: Path, type_: Any, candidates: Any, reason: str) -> None:
    path = write_parquet(tmp_path / "t.parquet", [(1, None)], types=(None, type_))
    with pytest.raises(InvalidDataError) as caught:
        count(path, candidates)
    assert reason in str(caught.value)


@pytest.mark.parametrize("url", ["sqlite:///x.sqlite", "mysql://ann:secret@db/shop", "duckdb:///x.db"])
def test_of_databases_only_postgresql_is_read_by_its_url(url: str) -> None:
    with pytest.raises(
        InvalidDataError, match=r"postgresql://user@host/database; of other databases give an Ibis"
    ) as refused:
        opened(url, table="visits")
    assert "secret" not in str(refused.value)


def test_a_url_is_shown_by_its_scheme_and_nothing_of_a_source_moves_the_cursor() -> None:
    for url in ("mysql://host/db?charset=utf8", "s3://shop/*.csv"):
        said = refusal(url)
        assert f"<URL {url.partition('/')[0]}//...>" in said
        assert "give an Ibis table" in said
    assert refusal("a\x1b[31m\nRED://x").isprintable()


@pytest.mark.parametrize(
    ("name", "said"),
    [("t.JSON", ".jsonl"), ("t.xls", "Save the sheet"), ("t.zip", "may be compressed, with names in .gz and .zst")],
)
def test_other_formats_come_with_a_way_out(name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"unit\tvalue\n1\t2\n")
    assert said in refusal(tmp_path / name)


def test_the_way_out_of_another_separator_works(tmp_path: Path) -> None:
    lines = [
        '\ufeff"person";"note; long";income;"first\r\nday"',
        '007;"a;b, c";1200;2026-11-21',
        '8;"two\r\nlines, ""so""";;2026-11-21',
        "#9;'plain' # no comment;1300.50;2026-11-22",
        '10;"a\n\nb";01400;',
        "11;short",  # left out, as every line with too few fields
    ]
    path = tmp_path / "old.csv"
    path.write_bytes("\r\n".join([*lines, ""]).encode())
    assert "delimiter='semicolon'" in (hint := refusal(path))
    assert "quoted_line_breaks=True" in hint
    with pytest.raises(InvalidDataError, match="delimiter='semicolon'") as refused:
        opened(path, format=Format(quoted_line_breaks=True))
    assert "quoted_line_breaks" not in str(refused.value)
    declared = Format(delimiter="semicolon", quoted_line_breaks=True)
    notes = ["a;b, c", 'two\r\nlines, "so"', "'plain' # no comment", "a\n\nb", "short"]
    assert read(path, notes, declared, unit="person", column="note; long") == [1, 1, 1, 1, 0]
    assert read(path, [1200, 1400], declared, unit="person", column="income") == [1, 1]
    days = [date(2026, 11, 21), date(2026, 11, 22), date(2026, 11, 23)]
    assert read(path, days, declared, unit="person", column="first\r\nday") == [2, 1, 0]


@pytest.mark.parametrize(
    "source",
    [
        " postgresql://ann:secret@db/shop",
        "postgresql:ann:secret",
        "https://ann:secret@host/x.csv",
        "s3://ann:secret@host/x.parquet",
        "host=db password=secret",
        "md:shop?motherduck_token=secret",
    ],
)
def test_what_may_hold_a_password_is_not_repeated(source: str) -> None:
    with pytest.raises(InvalidDataError, match="text that may hold a password") as refused:
        opened(source)
    assert "secret" not in str(refused.value)
