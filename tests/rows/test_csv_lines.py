"""CSV: every line alone, against a slow reader of one line; and no line changes how another is read."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpselect.rows import lines as lines_module
from dpselect.rows.columns import Column, Holds
from dpselect.rows.lines import File
from tests.slow import EXAMPLES

Pair = tuple[str | None, str | None]


def slow(line: bytes, *, width: int, longest: int) -> list[bytes] | None:
    """The fields of one line, byte by byte; None if it is left out."""
    if len(line) > longest:
        return None
    fields, inside = [b""], False
    for position in range(len(line)):
        byte = line[position : position + 1]
        inside ^= byte == b'"'
        if byte == b"," and not inside:
            fields.append(b"")
        else:
            fields[-1] += byte
    fields[-1] = fields[-1].removesuffix(b"\r")
    return None if inside or len(fields) != width else fields


def meaning(field: bytes) -> str | None:
    if b'"' in field:
        inner = field[1:-1]
        if len(field) < 2 or field[:1] != b'"' or field[-1:] != b'"' or b'"' in inner.replace(b'""', b""):
            return None
        field = inner.replace(b'""', b'"')
    try:
        return field.decode()
    except UnicodeDecodeError:
        return None


def expected(lines: list[bytes], *, width: int, longest: int = lines_module.LONGEST_LINE) -> Counter[Pair]:
    rows = (slow(line, width=width, longest=longest) for line in lines)
    return Counter((meaning(row[0]), meaning(row[-1])) for row in rows if row is not None)


def read(lines: list[bytes], *, width: int, end: bytes = b"\n") -> Counter[Pair]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_bytes(b"header\n" + b"\n".join(lines) + (end if lines else b""))
        read_so_far: list[int] = []
        among = tuple(Column(str(at), Holds.ANYTHING) for at in range(width))
        batches = lines_module.rows(File(str(path), columns=among), [among[0], among[-1]], read_so_far.append)
        pairs = [
            pair for batch in batches for pair in zip(*(column.to_pylist() for column in batch.values()), strict=True)
        ]
        assert sum(read_so_far) == path.stat().st_size
        return Counter(pairs)


pieces = st.sampled_from([b"a", b"7", b",", b'"', b'""', b" ", b"\r", b"\0", b"\xff", b"\xc3\xa9", b"\xe2\x82", b";"])
lines_of = st.lists(st.lists(pieces, max_size=8).map(b"".join), max_size=12)


@settings(max_examples=3 * EXAMPLES)
@given(lines=lines_of, width=st.integers(2, 3), end=st.sampled_from([b"", b"\n"]))
@example(lines=[b'"a"",",b'], width=2, end=b"")
@example(lines=[b"", b",", b""], width=2, end=b"\n")
def test_lines_mean_what_the_slow_reader_says(lines: list[bytes], width: int, end: bytes) -> None:
    assert read(lines, width=width, end=end) == expected(lines, width=width)


@settings(max_examples=2 * EXAMPLES)
@given(lines=lines_of, added=st.lists(pieces, max_size=20).map(b"".join), at=st.integers(0, 12))
def test_one_more_line_never_changes_the_others(lines: list[bytes], added: bytes, at: int) -> None:
    before, after = read(lines, width=2), read([*lines[:at], added, *lines[at:]], width=2)
    assert after - before == expected([added], width=2)
    assert before - after == Counter()


@pytest.mark.parametrize("block", [1, 2, 7, 64])
@settings(max_examples=EXAMPLES)
@given(lines=lines_of, long=st.lists(st.integers(0, 40), max_size=6), end=st.sampled_from([b"", b"\n"]))
def test_blocks_and_long_lines_cut_nothing_else(block: int, lines: list[bytes], long: list[int], end: bytes) -> None:
    lines = [*lines, *(b"x" * size + b",y" for size in long)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines_module, "BLOCK", block)
        patch.setattr(lines_module, "LONGEST_LINE", 12)
        assert read(lines, width=2, end=end) == expected(lines, width=2, longest=12)


def test_the_longest_line_is_kept_and_a_longer_one_left_out() -> None:
    fits = b"u," + b"x" * (lines_module.LONGEST_LINE - 2)
    assert read([fits, b"1,2", fits + b"x", b"3,4"], width=2) == {
        ("u", fits[2:].decode()): 1,
        ("1", "2"): 1,
        ("3", "4"): 1,
    }


def test_a_line_break_inside_quotes_ends_the_row() -> None:
    """Python's own reader lets one open quote swallow the rows of other people."""
    lines = [b'1,"open', b"2,kept", b"3,kept"]
    assert read(lines, width=2) == {("2", "kept"): 1, ("3", "kept"): 1}
    swallowed = list(csv.reader(line.decode() + "\n" for line in lines))
    assert swallowed == [["1", "open\n2,kept\n3,kept\n"]]


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        (b"1,2", ("1", "2")),
        (b"1,2\r", ("1", "2")),
        (b'"1","2"\r', ("1", "2")),
        (b'"a ""b"", c","2"', ('a "b", c', "2")),
        (b'"",""', ("", "")),
        (b'5" disk,2', None),
        (b'5" x 3",2', (None, "2")),
        (b'1, "2"', ("1", None)),
        (b"1,2,3", None),
        (b"1", None),
        (b"1;2", None),
        (b"\xff,2", (None, "2")),
        (b"\xc3\xa9,2", ("é", "2")),
    ],
)
def test_examples_of_the_dialect(line: bytes, fields: Pair | None) -> None:
    assert read([line], width=2) == ({} if fields is None else {fields: 1})
