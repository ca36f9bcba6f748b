"""Files in declared formats: delimiters, encodings and compression, each line read by itself."""

from __future__ import annotations

import bz2
import gzip
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpselect as dps
from dpselect import Format
from dpselect.errors import InvalidDataError
from dpselect.formats import DELIMITERS, ENCODINGS
from dpselect.rows import lines
from dpselect.rows.lines import File
from tests.formats.reading import counts, counts_in_groups, numbers, written

TEXTS = ["Köln", "Zürich", "Besançon"]


def gzipped(content: bytes) -> bytes:
    """The same at any time, as it is in the names of tests."""
    return gzip.compress(content, mtime=0)


def zstd(content: bytes) -> bytes:
    return pa.compress(content, codec="zstd", asbytes=True)


@pytest.mark.parametrize("delimiter", DELIMITERS)
def test_delimiters(delimiter: str, tmp_path: Path) -> None:
    format = Format(delimiter=delimiter)
    path = written(tmp_path / "t.csv", [(1, "a"), (2, f"b{delimiter}c"), (3, "a")], format)
    assert counts(path, ["a", f"b{delimiter}c"], format) == [2, 1]


@pytest.mark.parametrize("encoding", [each for each in ENCODINGS if each != "cp1251"])
def test_encodings(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    texts = [text.replace("ç", "c") for text in TEXTS] if encoding == "cp1250" else TEXTS
    content = "\r\n".join(["unit,stadt-ö", *(f"{at},{text}" for at, text in enumerate(texts)), '8,"ä""ö"', ""])
    path.write_bytes(content.encode(encoding))
    assert counts(path, [*texts, 'ä"ö', "x"], Format(encoding=encoding), column="stadt-ö") == [1, 1, 1, 1, 0]


def test_cyrillic(tmp_path: Path) -> None:
    format = Format(encoding="cp1251", ignore_case=True)
    path = written(tmp_path / "t.csv", [(1, "Москва"), (2, "москва"), (3, "Тверь")], format)
    assert counts(path, ["МОСКВА", "тверь"], format) == [2, 1]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("block", [1, 2, 3, 7, 64])
def test_utf_16_in_blocks_of_any_size(
    encoding: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of a character, and half of a pair of surrogates, wait for the next block."""
    monkeypatch.setattr(lines, "BLOCK", block)
    monkeypatch.setattr(lines, "START", block)
    texts = ["a\U0001f600b", "\u0a0a", "\U0001f600", "ö"]  # U+0A0A has the bytes of line breaks
    path = written(tmp_path / "t.csv", list(enumerate(texts)), Format(encoding=encoding))
    assert counts(path, [*texts, "a"], Format(encoding=encoding)) == [1, 1, 1, 1, 0]


def test_bytes_that_mean_nothing_are_missing_in_their_own_field(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for byte in (0x81, 0x8D, 0x8F, 0x90, 0x9D):
        path.write_bytes(
            b"unit,value\n1,a\n2,\xc4" + bytes([byte]) + b"\n3,\xc4\x80\n4,\xc4\n" + bytes([byte]) + b",a\n"
        )
        assert counts(path, ["a", "Ä", "Ä€"], Format(encoding="cp1252")) == [1, 1, 1]


def test_half_a_pair_of_surrogates_is_missing_in_its_own_field(tmp_path: Path) -> None:
    path, format = tmp_path / "t.csv", Format(encoding="utf-16-le")
    for half in (b"\x3d\xd8", b"\x00\xde", b"\x00\xde\x3d\xd8"):
        ok, bad = "2,a\n".encode("utf-16-le"), "1,".encode("utf-16-le") + half + "\n".encode("utf-16-le")
        path.write_bytes("unit,value\n".encode("utf-16-le") + bad + ok)
        assert counts(path, ["a"], format) == [1]


def test_utf_16_that_is_cut_off_loses_its_last_line_alone(tmp_path: Path) -> None:
    path, format = tmp_path / "t.csv", Format(encoding="utf-16")
    content = "unit,value\n1,a\n2,a".encode("utf-16")
    for cut, expected in ((content, 2), (content + b"\x0a", 1), (content + b"\x3d\xd8", 1), (content[:-1], 1)):
        path.write_bytes(cut)
        assert counts(path, ["a"], format) == [expected]


def test_utf_16_without_a_mark_says_which_words_to_use(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("unit,value\n".encode("utf-16-le"))
    with pytest.raises(InvalidDataError, match=r"byte order mark.*'utf-16-le' or 'utf-16-be'"):
        counts(path, ["a"], Format(encoding="utf-16"))


@pytest.mark.parametrize(
    ("encoding", "content", "said"),
    [
        ("utf-8", "unit,value\n".encode("utf-16"), "Its content is UTF-16. Declare the format: encoding='utf-16'."),
        ("utf-8", "unit,value\n".encode("utf-16-le"), "declare the format: encoding='utf-16-le'."),
        ("utf-8", "unit,value\n".encode("utf-16-be"), "declare the format: encoding='utf-16-be'."),
        ("utf-16-le", b"unit,value\n", "a first line in UTF-16-LE"),
        ("utf-8", b"unit,v\xe4lue\n1,2\n", "a first line in UTF-8"),
        ("cp1252", b"unit,v\x81lue\n1,2\n", "a first line in CP1252"),
        ("cp1252", b"\x1f\x8b..", "compressed by gzip"),
    ],
)
def test_a_header_in_another_encoding(encoding: str, content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(InvalidDataError) as refused:
        counts(tmp_path / "t.csv", ["a"], Format(encoding=encoding) if encoding != "utf-8" else None)
    assert said in str(refused.value)


def test_lines_that_are_too_long_are_so_in_utf_8(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or where a block ends would decide about a line of UTF-16, which has twice as many bytes."""
    monkeypatch.setattr(lines, "LONGEST_LINE", 40)
    texts = ["a" * 38, "b" * 39, "ö" * 19, "ü" * 20, "z"]
    for encoding in ("utf-8", "latin-1", "utf-16"):
        for block in (5, 64, 1 << 20):
            monkeypatch.setattr(lines, "BLOCK", block)
            monkeypatch.setattr(lines, "START", block)
            path = tmp_path / "t.csv"
            path.write_bytes(
                ("unit,value\n" + "".join(f"{at},{text}\n" for at, text in enumerate(texts))).encode(encoding)
            )
            format = Format(encoding=encoding) if encoding != "utf-8" else None
            assert counts(path, texts, format) == [1, 0, 1, 0, 1]


@pytest.mark.parametrize("block", [7, 1 << 20])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le"])
def test_lines_above_the_header_are_left_out(
    encoding: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever they hold: an open quote or a zero byte in them changes nothing."""
    monkeypatch.setattr(lines, "BLOCK", block)
    monkeypatch.setattr(lines, "START", block)
    path = tmp_path / "t.csv"
    path.write_bytes('Sales, of "May\n\n\0\nunit,value\n1,a\n2,a\n3,b\n'.encode(encoding))
    assert counts(path, ["a", "b", "value"], Format(encoding=encoding, skip_lines=3)) == [2, 1, 0]
    with pytest.raises(InvalidDataError, match="the names of columns"):
        counts(path, ["a"], Format(encoding=encoding, skip_lines=9))


@pytest.mark.parametrize("block", [3, 8, 1 << 20])
def test_line_breaks_in_quotes_if_they_are_declared(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "BLOCK", block)
    monkeypatch.setattr(lines, "START", block)
    path, declared = tmp_path / "t.csv", Format(quoted_line_breaks=True)
    path.write_bytes(b'unit,"my\nvalue"\n1,"a\nb"\n2,"say ""a\n\n"""\r\n\n3,c\n4,"a\r\nb"\n5,a,a\n6,c')
    names = {"column": "my\nvalue"}
    asked = ["a\nb", 'say "a\n\n"', "c", "a\r\nb", "a"]
    assert counts(path, asked, declared, **names) == [1, 1, 2, 1, 0]
    path.write_bytes(b'unit,value\n1,"a\nb"\n2,b\n3,"c\n4,b\n')
    assert counts(path, ["b"]) == [2]  # 2 and 4: each line is read by itself
    assert counts(path, ["b", "a\nb"], declared) == [1, 1]  # the open quote swallows 4, as the option says


@pytest.mark.parametrize("block", [5, 1 << 20])
def test_what_is_too_long_in_quotes_is_left_out(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LONGEST_LINE", 30)
    monkeypatch.setattr(lines, "BLOCK", block)
    path = tmp_path / "t.csv"
    path.write_bytes(b'unit,value\n1,a\n2,"' + b"b\n" * 40 + b'"\n3,a\n4,"' + b"b\n" * 40)
    assert counts(path, ["a", "b"], Format(quoted_line_breaks=True)) == [2, 0]


def test_another_separator_is_named_with_the_words_that_read_it(tmp_path: Path) -> None:
    content = "unit;value\n1;2,5\n2;3,5\n"
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(InvalidDataError) as refused:
        numbers(tmp_path / "t.csv", None)
    assert "declare the format: delimiter='semicolon' and, if decimals have commas, thousands='.' decimal=','." in str(
        refused.value
    )
    assert numbers(tmp_path / "t.csv", Format(delimiter="semicolon", decimal=",")) == [2.5, 3.5]
    (tmp_path / "t.csv").write_text(content.replace(",", ".").replace(";", ","))
    with pytest.raises(InvalidDataError, match=r"separated by semicolons.*It looks separated by commas"):
        numbers(tmp_path / "t.csv", Format(delimiter=";"))


@pytest.mark.parametrize("name", ["t.tsv", "t.TAB", "t.tsv.gz"])
def test_tab_separated_values(name: str, tmp_path: Path) -> None:
    content = b"unit\tvalue\n1\ta,b\n2\tc\n3\ta,b\tx\n"
    (tmp_path / name).write_bytes(gzipped(content) if name.endswith("gz") else content)
    assert counts(tmp_path / name, ["a,b", "c"], None) == [1, 1]
    (tmp_path / "t.tsv").write_bytes(content.replace(b"\t", b";"))
    assert counts(tmp_path / "t.tsv", ["a,b", "c"], Format(delimiter=";")) == [1, 1]


@pytest.mark.parametrize(("ending", "compress"), [(".gz", gzipped), (".zst", zstd), (".GZ", gzipped)])
@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.ndjson", "t.json"])
def test_compressed_text(name: str, ending: str, compress: Any, tmp_path: Path) -> None:
    rows = range(20_000)
    if name == "t.csv":
        content = "\ufeffunit,value\n" + "".join(f"{at},{at % 3}\n" for at in rows)
    else:
        content = "".join(f'{{"unit": {at}, "value": {at % 3}}}\n' for at in rows)
    path = tmp_path / f"{name}{ending}"
    path.write_bytes(compress(content.encode()))
    assert counts(path, [0, 1, 2, 3], None) == [6667, 6667, 6666, 0]


def test_a_file_of_several_compressed_parts(tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_bytes(gzipped(b"unit,value\n1,a\n") + gzipped(b"2,a\n3,b\n"))
    assert counts(tmp_path / "t.csv.gz", ["a", "b"], None) == [2, 1]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("t.csv.gz", b"unit,value\n1,2\n", "cut off, damaged"),
        ("t.csv.gz", gzipped(gzipped(b"unit,value\n")), "Its content is compressed by gzip."),
        ("t.csv.gz", gzipped(b""), "The file is empty"),
        ("t.csv.zst", gzipped(b"unit,value\n"), "cut off, damaged"),
        ("t.csv.bz2", bz2.compress(b"unit,value\n"), "a file whose name ends in"),
        ("t.parquet.gz", gzipped(b"PAR1"), "Text files may be compressed"),
        ("t.gz", gzipped(b"unit,value\n"), "Text files may be compressed"),
    ],
)
def test_what_is_not_compressed_as_its_name_says(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidDataError) as refused:
        counts(tmp_path / name, ["a"], None)
    assert said in str(refused.value)


def test_a_compressed_file_that_was_cut_off_is_refused_without_a_word_of_it(tmp_path: Path) -> None:
    content = gzipped(b"unit,value\n" + b"".join(b"%d,SENTINEL%d\n" % (at, at * 7919) for at in range(90_000)))
    (tmp_path / "t.csv.gz").write_bytes(content[: len(content) // 2])
    with pytest.raises(InvalidDataError, match="that can be read to its end") as refused:
        counts(tmp_path / "t.csv.gz", ["a"], None)
    assert "SENTINEL" not in str(refused.value)


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_progress_counts_the_bytes_of_the_file(ending: str, tmp_path: Path) -> None:
    content = b"unit,value\n" + b"1,2\n" * 50_000
    path = tmp_path / f"t.csv{ending}"
    path.write_bytes(gzipped(content) if ending else content)
    done: list[int] = []
    file = lines.described(File(str(path)))
    rows = sum(len(batch[file.columns[0]]) for batch in lines.rows(file, file.columns, done.append))
    assert (rows, sum(done)) == (50_000, path.stat().st_size)


def test_the_header_and_the_rows_are_read_in_the_same_dialect(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("unit|v,|w\n1|2|ö\n".encode("utf-16"))
    file = lines.described(File(str(path), declared=Format(delimiter="|", encoding="utf-16")))
    assert [column.name for column in file.columns] == ["unit", "v,", "w"]
    (batch,) = lines.rows(file, [file.columns[2], file.columns[0]])
    assert [batch[file.columns[at]].to_pylist() for at in (2, 0)] == [["ö"], ["1"]]


def test_a_format_and_groups_and_dates_together(tmp_path: Path) -> None:
    format = Format(delimiter=";", ignore_case=True, trim=True, date_format="%d.%m.%Y")
    path = tmp_path / "t.csv"
    path.write_text("unit;value;part\n1;1.2.2026; West\n2;02.02.2026;NORTH\n3;2.2.2026;west \n4;3.2.26;west\n")
    days = [date(2026, 2, 1), date(2026, 2, 2)]
    assert counts_in_groups(path, days, ["West", "North"], format) == [[1, 1], [0, 1]]
    assert counts(path, ["WEST", "south"], format, column="part") == [3, 0]


def test_what_the_holder_of_the_data_is_told_is_read_in_the_format(tmp_path: Path) -> None:
    format = Format(thousands=",", ignore_case=True)
    path = written(tmp_path / "t.csv", [(1, "1,234"), (2, "12,34"), (3, "RED")], format)
    for declared, numbers_read, reds in ((None, 0, 0), (format, 1, 1)):
        assert dps.check(path, "value", unit="unit", format=declared).usable_rows == numbers_read
        assert dps.check(path, "value", unit="unit", candidates=["red"], format=declared).usable_rows == reds


def test_json_lines_with_numbers_in_text(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"unit": 1, "value": "$1,234.5"}\n{"unit": 2, "value": 7.25}\n{"unit": 3, "value": "7,25"}\n')
    assert numbers(path, Format(thousands=",", strip="$")) == [7.25, 1234.5]


def test_text_of_typed_tables_may_be_compared_without_case_and_blanks(tmp_path: Path) -> None:
    table = pa.table({"unit": [1, 2, 3, 4], "value": ["Red", " red", "BLUE ", None]})
    pq.write_table(table, tmp_path / "t.parquet")
    for source in (table, tmp_path / "t.parquet"):
        assert counts(source, ["red", "Blue"], Format(ignore_case=True, trim=True)) == [2, 1]
        assert counts(source, ["red", "Red"], None) == [0, 1]


def test_the_released_candidate_is_the_caller_s(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", [(at, "RED ") for at in range(50)], Format())
    data = dps.Dataset(path, unit="unit", format=Format(ignore_case=True, trim=True))
    assert data.most_common("value", candidates=["blue", "Red"], epsilon=100.0).value == "Red"
