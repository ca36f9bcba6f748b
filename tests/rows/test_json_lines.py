"""JSON lines: every line alone, against a slow reader of one line; and no line changes how another is read."""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dpselect as dps
from dpselect.errors import InvalidDataError
from dpselect.rows import json_lines
from dpselect.rows import lines as lines_module
from dpselect.rows.columns import Column, Holds
from dpselect.rows.files import FileSource
from dpselect.rows.lines import File
from tests.rows.tables import count, gather

Pair = tuple[str | None, str | None]
UNIT, VALUE = Column("unit", Holds.ANYTHING), Column("value", Holds.ANYTHING)
FIRST = b'{"unit": null, "value": null}'


def write(folder: Path, lines: list[bytes], *, first: bytes = FIRST, name: str = "t.jsonl") -> Path:
    path = folder / name
    path.write_bytes(first + b"".join(b"\n" + line for line in lines))
    return path


def read(lines: list[bytes], *, end: bytes = b"\n") -> Counter[Pair]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.jsonl"
        path.write_bytes(b"\n".join(lines) + (end if lines else b""))
        read_so_far: list[int] = []
        batches = json_lines.rows(File(str(path)), [UNIT, VALUE], read_so_far.append)
        pairs = [
            pair for batch in batches for pair in zip(batch[UNIT].to_pylist(), batch[VALUE].to_pylist(), strict=True)
        ]
        assert sum(read_so_far) == path.stat().st_size
        return Counter(pairs)


def meaning(line: bytes) -> Pair | None:
    """By Python's own reader, which is slow and knows nothing of the other lines."""
    try:
        row = json.loads(line.decode(), parse_constant=missing, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict):
        return None
    return cell(row.get("unit")), cell(row.get("value"))


def reached(line: str) -> None:
    raise ValueError(line)


def missing(said: str) -> None:
    """NaN and infinite numbers, which no JSON has but many programs write."""
    del said


def cell(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeError:
        return None
    return value


values = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text('ab,\u00e9{}[]"\\ \n', max_size=4), st.lists(st.none(), max_size=2)
)
objects = st.dictionaries(st.sampled_from(["unit", "value", "other"]), values, max_size=3).map(
    lambda row: json.dumps(row).encode()
)
pieces = st.sampled_from(
    [b"{", b"}", b'"unit"', b'"value"', b":", b",", b"7", b"[", b"]", b"\xff", b"\r", b" ", b"NaN"]
)
noise = st.lists(pieces, max_size=9).map(b"".join)
escapes = [b"a", b"\xc3\xa9", b"\xed\xa0\x80", b"\\u00E9", b"\\ud83d", b"\\uDE00", b"\\n", b'\\"', b"\\\\", b"\\/"]
strings = st.lists(st.sampled_from([*escapes, b"\\u12g4", b"\\x", b"\t", b"\x7f", b"\0"]), max_size=5)
numbers = st.lists(st.sampled_from([b"-", b"0", b"10", b".", b"e", b"E+", b"Infinity"]), min_size=1, max_size=6)
written = st.one_of(strings.map(lambda text: b'"' + b"".join(text) + b'"'), numbers.map(b"".join))
keys = st.sampled_from([b'"unit"', b'"value"', b'"\\u0075nit"', b'"uni\\ud800"'])
members = st.lists(st.tuples(keys, written).map(b" :".join), max_size=3)
noise = st.one_of(noise, members.map(lambda each: b"{" + b", ".join(each) + b"}"))
scalars = st.sampled_from(
    [b"7", b"-0.5", b"null", b"true", b'"unit"', b'"value"', b'"[{"', b'"}]"', b'"a\xc3\xa9"', b'"\\n"']
)
names = st.sampled_from([b'"unit"', b'"value"', b'"other"', b'"u\\"', b'""'])
blanks = st.sampled_from([b"", b"", b" ", b"\t", b"  ", b"\r"])


def nested_in(inside: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    lists = st.lists(inside, max_size=3).map(lambda each: b"[" + b",".join(each) + b"]")
    return st.one_of(lists, members_of(inside))


def members_of(value: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    written = st.tuples(blanks, names, blanks, st.just(b":"), blanks, value, blanks).map(b"".join)
    return st.lists(written, max_size=4).map(lambda each: b"{" + b",".join(each) + b"}")


noise = st.one_of(noise, members_of(st.recursive(scalars, nested_in, max_leaves=6)))
lines_of = st.lists(st.one_of(objects, noise), max_size=10)


@settings(max_examples=80)
@given(lines=lines_of, end=st.sampled_from([b"", b"\n"]))
@example(lines=[b'{"unit": 1', b', "value": 2}'], end=b"")
def test_lines_mean_what_the_slow_reader_says(lines: list[bytes], end: bytes) -> None:
    expected = Counter(pair for line in lines if (pair := meaning(line)) is not None)
    assert read(lines, end=end) == expected


@settings(max_examples=60)
@given(lines=lines_of, added=st.one_of(objects, noise), at=st.integers(0, 10))
def test_one_more_line_never_changes_the_others(lines: list[bytes], added: bytes, at: int) -> None:
    before, after = read(lines), read([*lines[:at], added, *lines[at:]])
    assert before - after == Counter()
    assert (after - before).total() == int(meaning(added) is not None)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("block", [1, 7, 64])
@settings(max_examples=30)
@given(lines=lines_of, long=st.lists(st.integers(0, 90), max_size=4))
def test_blocks_and_long_lines_cut_nothing_else(block: int, lines: list[bytes], long: list[int]) -> None:
    lines = [*lines, *(b'{"unit": "' + b"x" * size + b'"}' for size in long)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines_module, "BLOCK", block)
        for module in (lines_module, json_lines):
            patch.setattr(module, "LONGEST_LINE", 40)
        expected = Counter(pair for line in lines if len(line) <= 40 and (pair := meaning(line)) is not None)
        assert read(lines) == expected


EASY = [
    b'{"unit": 1, "value": 2}',
    b'{"value": "a/}", "unit": -0.50e+3, "x": "", "y": null}\r',
    b' { "other" :"[1, {", "value": null, "unit":"\xc3\xa9"}',
    b'{"unit": "unit", "x": "value", "unit": true, "value": 7}',
    b'{ "unit" : 1 , "value"\t:\tfalse }\r',
    b'{"value": NaN, "unit": 3, "x": Infinity}',
    b"{}",
]


def test_python_reads_only_lines_that_are_not_easy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else reading would take several times as long, and no other test would notice."""
    expected = Counter(meaning(line) for line in EASY)
    monkeypatch.setattr(json_lines, "_row", reached)
    assert read(EASY) == expected
    for hard in (b'{"unit": "\\""}', b'{"unit":  1}', b'{"unit": 1  }', b'{"uni\\u0074": 1}', b'{"x": [1]}', b"{"):
        with pytest.raises(ValueError, match=re.escape(hard.decode())):
            read([hard])


@settings(max_examples=60)
@given(lines=lines_of)
def test_each_way_alone_reads_the_same(lines: list[bytes]) -> None:
    """Also the lines that Python never sees otherwise."""
    expected = read(lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_lines, "_EASY", "a^")
        assert read(lines) == expected


NO_OBJECTS = """{ | {}{} | {}, | {"a"} | {"a":} | {"a":1,} | {,} | {a:1} | {"a":1.} | {"a":.1} | {"a":+1} | {"a":1e}
    {"a":-} | {"a":infinity} | {"a":nul} | {"a":truely} | {"a":[1,]} | {"a":[1 2]} | {"a":"} | {"a":"\\x"} | {"a":"\\
    {"a":"\\u12g4"} | {"a":"\\u12 | \ufeff{} | {\xa0} | {}\v | {"a" 1} | {"a":1]} | [{"a":1}} | {"a":"b""c"} | {"a":1e+}
    {"a":{"b"}} | {"a":[{"b":}]} | {"a":[01]} | {"a":--1} | {"a":1.e1} | {"a":TRUE} | {"a":"\\u+123"} | {"a":1 "b":2}"""


@pytest.mark.parametrize("line", re.split(r" \| |\n *", NO_OBJECTS))
def test_what_is_no_object_is_left_out(line: str) -> None:
    assert meaning(line.encode()) is None
    assert read([b'{"unit": 1}', line.encode()]) == {("1", None): 1}


@pytest.mark.parametrize("name", ["", "é", "a b", ":", ",", '","', '":', "unit", "{", "}", "[", "\\", "\n", "x" * 300])
@pytest.mark.parametrize("before", ["", ":", '", "', "{", "é", "\\"])
def test_keys_may_be_anything(name: str, before: str) -> None:
    """The same text as a value, in a list or deeper down is no key."""
    row = {"first": before, "other": [name, {name: 0}], name: f"<{before}>", "last": name, "deeper": {name: 1}}
    with TemporaryDirectory() as folder:
        ways = itertools.product([True, False], [None, (",", ":")])
        lines = [json.dumps(row, ensure_ascii=plain, separators=between).encode() for plain, between in ways]
        path = write(Path(folder), lines[1:], first=lines[0])
        assert name in {column.name for column in json_lines.described(File(str(path))).columns}
        column = Column(name, Holds.ANYTHING)
        batches = json_lines.rows(File(str(path)), [column])
        assert [cell for batch in batches for cell in batch[column].to_pylist()] == [f"<{before}>"] * len(lines)


@pytest.mark.parametrize(
    ("line", "pair"),
    [
        (b'{"unit": 1, "value": 2}', ("1", "2")),
        (b' {"unit":"1","value":"2"} \r', ("1", "2")),
        (b'{"value": 1.50, "unit": 1e3}', ("1e3", "1.50")),
        (b'{"unit": -0, "value": 12345678901234567890123}', ("-0", "12345678901234567890123")),
        (b'{"unit": ' + b"9" * 10_000 + b"}", ("9" * 10_000, None)),
        (b'{"unit": true, "value": null}', ("true", None)),
        (b'{"unit": {"a": 1}, "value": [1]}', (None, None)),
        (b'{"unit": 1, "x": {"unit": 2, "value": 3}}', ("1", None)),
        (b'{"unit": 1, "unit": 2, "value": 3, "value": null}', ("2", None)),
        (b'{"unit": "\\u00e9", "value": "\xc3\xa9"}', ("é", "é")),
        (b'{"unit": "\\ud83d\\ude00", "value": "\\ud83d"}', ("😀", None)),
        (b'{"unit": "\\"\\\\\\/\\b\\f\\n\\r\\t", "value": "\\/\\u0000"}', ('"\\/\b\f\n\r\t', "/\0")),
        (b'{"unit": "x\\ud83d\\ud83d\\ude00", "value": "\\ude00\\ud83d"}', (None, None)),
        (b'{"unit": 0E7, "value": false, "x": "\x7f"}', ("0E7", "false")),
        (b'{"unit": "", "value": ","}', ("", ",")),
        (b"{}", (None, None)),
        (b'{"unit": NaN}', (None, None)),
        (b'{"unit": 1, "value": -Infinity}', ("1", None)),
        (b'{"unit": 1, "value": 7, "x": NaN}', ("1", "7")),
        (b'{"unit": 1, "value": 7, "x": [Infinity, {"y": NaN}]}', ("1", "7")),
        (b'{"unit": nan}', None),
        (b'{"unit": -NaN}', None),
        (b'{"unit": 01}', None),
        (b"{'unit': 1}", None),
        (b'{"unit": 1,}', None),
        (b'{"unit": 1} {"unit": 2}', None),
        (b'{"unit": "\xff"}', None),
        (b'{"unit": "a\tb"}', None),
        (b"[1, 2]", None),
        (b'"unit"', None),
        (b"7", None),
        (b"", None),
        (b'{"unit": 1', None),
        (b'{"unit": ' + b"[" * 5000 + b"]" * 5000 + b"}", None),
    ],
)
def test_examples(line: bytes, pair: Pair | None) -> None:
    assert read([b'{"unit": "before"}', line, b'{"unit": "after"}']) == Counter(
        [("before", None), ("after", None), *([] if pair is None else [pair])]
    )


def test_the_longest_line_is_kept_and_a_longer_one_left_out() -> None:
    fits = b'{"unit": "' + b"x" * (lines_module.LONGEST_LINE - 12) + b'"}'
    assert len(fits) == lines_module.LONGEST_LINE
    assert read([fits, fits + b"\r", fits + b" "]).total() == 2


def nested(depth: int, *, before: bytes = b"") -> bytes:
    return b'{"unit": "u"' + before + b', "value": ' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"


def test_deep_nesting_is_left_out_even_where_python_would_go_deeper() -> None:
    """Where its limit has been raised, the parser calls itself until the process dies."""
    limit = sys.getrecursionlimit()
    deep = json_lines.DEEPEST
    sys.setrecursionlimit(200_000)
    try:
        hidden = b', "other": "' + b"]" * 100_000 + b'\\""'
        for line in (
            nested(deep + 1),
            nested(100_000),
            nested(100_000, before=hidden),
            b"[" * 100_000,
            b'"' + b"[" * 1000 + b'"',
        ):
            assert read([line, b'{"unit": 1}']) == {("1", None): 1}
    finally:
        sys.setrecursionlimit(limit)
    text = b', "other": "' + b"[" * 1000 + b'", "more": [' + b",".join([b"[]"] * 1000) + b"]"
    assert read([nested(deep), nested(deep, before=text)]) == {("u", None): 2}


def test_questions_to_json_lines(tmp_path: Path) -> None:
    lines = [b'{"unit": 1, "value": "x"}', b'{"value": "x", "unit": "1"}', b'{"unit": 2, "value": 7.0}', b"broken"]
    path = write(tmp_path, lines, first=b'\xef\xbb\xbf{"unit": 2, "value": "y"}')
    assert count(path, ["x", "y", "z"]) == [1, 1, 0]
    assert count(path, [7, 8]) == [1, 0]
    assert gather(path) == [7.0]
    assert dps.Dataset(path, unit="unit").most_common("value", candidates=["x"], epsilon=1.0).value == "x"


def test_several_files_with_keys_in_any_order(tmp_path: Path) -> None:
    write(tmp_path, [], first=b'{"unit": 1, "value": 5}', name="a.jsonl")
    write(tmp_path, [], first=b'{"value": 5, "unit": 2}', name="b.ndjson")
    assert count(tmp_path / "*", [5]) == [2]
    write(tmp_path, [], first=b'{"value": 5, "who": 2}', name="c.jsonl")
    assert count(tmp_path / "*", [5], unit="value", column="value") == [1]
    with pytest.raises(InvalidDataError, match=r"It holds .* in .*file 1 of 3.* and is missing in .*file 3 of 3"):
        count(tmp_path / "*", [5])


@pytest.mark.parametrize(
    "first", [b"[", b'[{"unit": 1}]', b"{", b"7", b"", b"unit,value", b'{"unit": "\xff", "value": 1}']
)
def test_a_file_of_something_else(tmp_path: Path, first: bytes) -> None:
    with pytest.raises(InvalidDataError, match="a first line in UTF-8 with one JSON object"):
        FileSource.at(write(tmp_path, [b'{"unit": 1, "value": 2}'], first=first))


def test_other_refusals_name_no_key(tmp_path: Path) -> None:
    """The first line is somebody's row: its keys are columns, but none is listed to who did not know it."""
    with pytest.raises(InvalidDataError, match="keys in the first line"):
        FileSource.at(write(tmp_path, [], first=b"{}"))
    path = write(tmp_path, [], first=b'{"SENTINEL": 1, "unit": 2}')
    with pytest.raises(InvalidDataError) as caught:
        count(path, [1])
    assert "SENTINEL" not in str(caught.value)
    path.write_bytes(b"PAR1" + path.read_bytes())
    with pytest.raises(InvalidDataError, match="a file of JSON lines, as its name says"):
        FileSource.at(path)
