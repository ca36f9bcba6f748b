r"""JSON lines: each line is one object, read alone, so that how a line is read never depends on another line.

- The columns are the keys of the first line, and those of the objects in it as ``address.city``; keys that only later
  lines have cannot be used. A line's own key ``address.city`` comes before that in an object.
- A line is left out if it is longer than 1 MiB, not UTF-8, not one JSON object, or nested more than 200 levels deep.
- If a line has a key twice, the last one counts; a key that the line does not have is missing.
- A number is the text as written, text is itself, ``true`` and ``false`` are these words; ``null``, lists and objects
  are missing, and so are ``NaN``, ``Infinity`` and ``-Infinity``, which some programs write. Candidates decide how the
  text is read, as in CSV.

General readers guess types from the rows, round numbers, read more than JSON, or stop at a bad line. Python's own reads
one line exactly, but takes ten times as long as all the rest. So a regular expression finds the lines that are easy to
read, in a block at once: objects without others inside, and without backslashes. In these each quote begins or ends
text, and another expression finds the cells. Python reads the others.

Proof that this keeps the sensitivity: ``proofs/counting.md``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import accumulate
from typing import Any, cast

import numpy as np

from dpselect.errors import InvalidDataError, Shown
from dpselect.formats import Format
from dpselect.rows.columns import Column, Holds
from dpselect.rows.duckdb.arrow import (
    Array,
    RecordBatch,
    between,
    of_numpy,
    pa,
    pc,
    text_array,
    valid_text,
)
from dpselect.rows.files import lines
from dpselect.rows.files.lines import Reading, opened

DEEPEST = 200
"""Levels of nested lists and objects, including the line's own object."""

_BLANK = r"[ \t\r]*"
_TEXT = r'"[^"\\\x00-\x1f]*"'
_NUMBER = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?"
_MEMBER = f"{_TEXT}[ \\t]?:[ \\t]?({_TEXT}|{_NUMBER}|true|false|null|NaN|Infinity){_BLANK}"
_EASY = rf"^{_BLANK}\{{{_BLANK}({_MEMBER}(,{_BLANK}{_MEMBER})*)?\}}{_BLANK}\n$"
"""A line that is easy to read, with at most one blank on each side of a colon."""

_IN_QUOTES = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)


def read_columns(path: str, shown: Shown, declared: Format = lines.PLAIN) -> tuple[Column, ...]:
    """The keys of the first line, in alphabetical order.

    Raises:
        InvalidDataError: the first line is not a JSON object with text for keys. Its content is never quoted: it is the
            first person's row.
    """
    with closing(opened(path)) as text:
        line, _ = lines.header_and_rest(text, shown)
    try:
        found = _row(line.decode())
    except UnicodeDecodeError:
        found = None
    if found is None:
        hint = "Write one object on each line, not a list of objects, and not one object over several lines."
        raise InvalidDataError("source", shown, "a first line in UTF-8 with one JSON object", hint)
    keys = [key for key in text_array(list(dict.fromkeys(_keys(found)))).to_pylist() if key is not None]
    if not keys:
        raise InvalidDataError("source", shown, "keys in the first line")
    return tuple(Column(key, Holds.ANYTHING) for key in sorted(keys))


def _keys(row: dict[str, Any], before: str = "") -> Iterator[str]:
    for key, value in row.items():
        yield before + key
        if type(value) is dict:
            yield from _keys(cast("dict[str, Any]", value), f"{before}{key}.")


def rows(asked: Reading) -> Iterator[RecordBatch]:
    """Some columns of every line that can be read, in batches of nullable text columns."""
    names = [column.name for column in asked.columns]
    with closing(opened(asked.path, advance=asked.advance)) as text:
        for number, block in lines.whole_lines(text, 1, asked.skipped):
            every = _lines(block)
            numbers = of_numpy(np.arange(number, number + len(every)))
            easy = _easy(every, names)
            others = pc.invert(easy)
            yield _batch([_easy_cells(every.filter(easy), name) for name in names], numbers.filter(easy), asked)
            found, bad = list[tuple[int, list[str | None]]](), list[int]()
            for at, line in zip(numbers.filter(others).to_pylist(), every.filter(others).to_pylist(), strict=True):
                if line is not None and (row := _row(line)) is not None:
                    found.append((at, [_cell(_under(row, name)) for name in names]))
                elif line is None or line.strip(" \t\r\n"):
                    bad.append(at)
            asked.skipped(bad)
            if found:
                at, cells = zip(*found, strict=True)
                yield _batch([text_array(list(each)) for each in zip(*cells, strict=True)], pa.array(at), asked)


def _batch(cells: list[Array], numbers: Array, asked: Reading) -> RecordBatch:
    columns = [*cells, numbers] if asked.numbered else cells
    return pa.RecordBatch.from_arrays(columns, names=list(map(str, range(len(columns)))))


def _lines(block: bytes) -> Array:
    """The lines of a block with their ends; null if they are too long or not UTF-8."""
    raw = np.frombuffer(block, np.uint8)
    offsets = np.append(0, np.flatnonzero(raw == ord("\n")) + 1)
    every, length = valid_text(between(block, offsets)), np.diff(offsets) - 1
    fits = length - ((length > 0) & (raw[offsets[1:] - 2] == ord("\r"))) <= lines.LONGEST_LINE
    return every if fits.all() else pc.if_else(of_numpy(fits), every, None)


def _easy(every: Array, names: Sequence[str]) -> Array:
    """Which lines are easy to read, with each of the keys once at most: of equal keys the last one counts.

    In such a line, only a text that is followed by a colon is a key. What stands between two texts has a comma or a
    colon, so with such a key no line is easy, nor with one that may be in an object.
    """
    if any(set(name) & set(",:.") for name in names):
        return pc.is_in(every, value_set=pa.array([], every.type))
    easy = pc.match_substring_regex(every, _EASY)
    for name in names:
        easy = pc.and_(easy, pc.less_equal(pc.count_substring_regex(every, _key(name)), 1))
    return easy.fill_null(False)


def _key(name: str) -> str:
    return f'"{re.escape(name)}"[ \\t]?:[ \\t]?'


def _easy_cells(easy: Array, name: str) -> Array:
    """What stands under a key in each of some lines that are easy to read, as `_cell` says."""
    found = pc.extract_regex(easy, f'{_key(name)}(?:"(?P<text>[^"]*)"|(?P<word>[-0-9tf][^ \\t\\r,}}]*))')
    text, word = (pc.struct_field(found, each) for each in ("text", "word"))
    return pc.binary_join_element_wise(text, word, pa.scalar("", easy.type))  # one of them is empty


_READER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=lambda _: None)


def _row(line: str) -> dict[str, Any] | None:
    """The object in a line; None if it is to be left out. Numbers are the text as written."""
    if _depth(line) > DEEPEST:
        return None
    try:
        row: dict[str, Any] = _READER.decode(line)
    except (ValueError, RecursionError):
        return None
    return row if type(row) is dict else None


def _depth(line: str) -> int:
    """How many lists and objects are inside each other, at most, if the line is JSON."""
    number = line.count("[") + line.count("{")
    if number <= DEEPEST:
        return number
    steps = ({"[": 1, "{": 1, "]": -1, "}": -1}.get(each, 0) for each in _IN_QUOTES.sub("", line))
    return max(accumulate(steps, initial=0))


def _under(row: dict[str, Any], name: str) -> Any:
    """What a line has under a key, or under a key of an object in it."""
    if name in row:
        return row[name]
    found: Any = row
    for key in name.split("."):
        found = cast("dict[str, Any]", found).get(key) if type(found) is dict else None
    return found


def _cell(value: Any) -> str | None:
    """Text and numbers as they are, booleans as words; all else is missing."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else None
