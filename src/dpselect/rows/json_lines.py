"""JSON lines, by the rules of docs/files.md: each line is one object, and how it is read depends on no other line.

General readers guess types from the rows, round numbers, read more than JSON, or stop at a bad line. Python's own reads
one line exactly, but takes ten times as long as all the rest. So a regular expression finds the lines that are easy to
read, in a block at once: objects without others inside, and without backslashes. In these each quote begins or ends
text, and cells are cut out where they stand. Python reads the others. Proof: ``proofs/counting.md``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import accumulate
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import InvalidDataError
from dpselect.rows import arrow, lines
from dpselect.rows.arrow import Advance, Array, Batches, Skipped, decoded, ignored, of_numpy, pa, text_array
from dpselect.rows.columns import LINE, Column, Holds
from dpselect.rows.lines import LONGEST_LINE, File, line_and_rest, opened

DEEPEST = 200  # levels of nested lists and objects, including the line's own object
_BLANK = r"[ \t]?"
_TEXT = r'"[^"\\\x00-\x1f]*"'
_NUMBER = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?"
_MEMBER = f"{_TEXT}{_BLANK}:{_BLANK}({_TEXT}|{_NUMBER}|true|false|null|NaN|Infinity){_BLANK}"
_EASY = rf"^{_BLANK}\{{{_BLANK}({_MEMBER}(,{_BLANK}{_MEMBER})*)?\}}\r?\n$"
"""A line that is easy to read, with at most one blank between its parts."""
_IN_QUOTES = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_READER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=lambda _: None)


def described(file: File) -> File:
    """With the keys of the first line, in alphabetical order. It is never quoted: it is the first person's row."""
    with closing(opened(file)) as text:
        line, _ = line_and_rest(text)
    written = decoded(line)
    found = None if written is None else _row(written)
    if found is None:
        hint = "Write one object on each line, not a list of objects, and not one object over several lines."
        raise InvalidDataError("source", file.shown, "a first line in UTF-8 with one JSON object", hint)
    keys = sorted({key for key in _keys(found) if key == key.encode(errors="ignore").decode()})
    if not keys:
        raise InvalidDataError("source", file.shown, "keys in the first line")
    return replace(file, columns=tuple(Column(key, Holds.ANYTHING) for key in keys))


def _keys(row: dict[str, Any], before: str = "") -> Iterator[str]:
    for key, value in row.items():
        yield before + key
        if type(value) is dict:
            yield from _keys(cast("dict[str, Any]", value), f"{before}{key}.")


def rows(file: File, columns: Sequence[Column], advance: Advance = ignored, skipped: Skipped = ignored) -> Batches:
    """Some columns of every line that can be read, as nullable text, and the numbers of the lines: see `lines.rows`."""
    asked = [column for column in columns if column != LINE]
    names = [column.name for column in asked]
    has_fields = any("." in name for name in names)  # of objects within the lines, which no easy line has
    with closing(opened(file, advance)) as text:
        for number, block in lines.whole_lines(text, file.before + 1, skipped, quoted=False):
            raw = np.frombuffer(block, np.uint8)
            offsets = np.append(0, np.flatnonzero(raw == ord("\n")) + 1)
            every, length = arrow.valid_text(arrow.between(block, offsets)), np.diff(offsets)
            easy = arrow.true_at(arrow.matches(every, _EASY)) & (length <= LONGEST_LINE) & (not has_fields)
            others, bad, found = np.flatnonzero(~easy), list[int](), list[Any]()
            hard = arrow.computed("array_take", every, of_numpy(others)).to_pylist()
            for at, line in zip((number + others).tolist(), hard, strict=True):
                if line is not None and (row := _row(line)) is not None:
                    found.append((at, *(_cell(row, name) for name in names)))
                elif line is None or line.strip(" \t\r\n"):
                    bad.append(at)
            skipped(bad)
            if others.size < easy.size:
                joined = raw[np.repeat(easy, length)].tobytes() if others.size else block
                cells = _easy_cells(joined, np.cumsum(length[easy]) - 1, names)
                yield {**dict(zip(asked, cells, strict=True)), LINE: of_numpy(number + np.flatnonzero(easy))}
            if found:
                at, *texts = zip(*found, strict=True)
                cells = [text_array(list(each)) for each in texts]
                yield {**dict(zip(asked, cells, strict=True)), LINE: of_numpy(np.array(at))}


def _easy_cells(block: bytes, ends: NDArray[np.int64], names: Sequence[str]) -> list[Array]:
    """What stands under each key in each of some lines that match `_EASY`, as `_cell` says."""
    raw = np.frombuffer(block, np.uint8)
    quotes = np.flatnonzero(raw == ord('"'))
    begins, opened, closed = np.append(0, ends[:-1]), quotes[::2], quotes[1::2]
    lengths, after = closed - opened - 1, np.append(opened[1:], raw.size)

    def under(name: str) -> Array:
        key = name.encode()
        text = np.flatnonzero(lengths == len(key))
        if key and text.size:
            every = np.ndarray(raw.size - len(key) + 1, f"S{len(key)}", block, strides=(1,))  # texts of this length
            text = text[every[opened[text] + 1] == key]
        value = closed[text] + 1
        value += raw[value] <= ord(" ")
        is_key = raw[value] == ord(":")
        text, value = text[is_key], value[is_key] + 1
        value += raw[value] <= ord(" ")
        first = raw[value]
        is_text = first == ord('"')
        is_known = is_text | (first == ord("t")) | (first == ord("f")) | (first <= ord("9"))
        each_has_one = value.size == ends.size and ((begins < value) & (value < ends)).all()
        line: Any = slice(None) if each_has_one else np.searchsorted(ends, value)
        # Words and numbers end at the comma or brace before the next quote or the end of the line, or a blank before.
        stop = np.minimum(after[text], ends[line]) - 1
        stop -= raw[stop] <= ord(" ")
        stop -= raw[stop - 1] <= ord(" ")
        end = np.where(is_text, closed[np.minimum(text + 1, closed.size - 1)], stop)
        stand, known = np.stack([begins, begins], axis=1), np.zeros(ends.size, np.bool_)
        stand[line], known[line] = np.stack([value + is_text, end], axis=1), is_known  # of equal keys the last one
        held = [pa.py_buffer(np.packbits(known, bitorder="little")), *arrow.parts_of(block, stand).buffers()[1:]]
        return pa.Array.from_buffers(pa.large_string(), ends.size, held)  # a scalar of null would import pandas

    return [under(name) for name in names]


def _row(line: str) -> dict[str, Any] | None:
    """The object in a line; None if it is to be left out. Numbers are the text as written."""
    deepest = line.count("[") + line.count("{")
    if deepest > DEEPEST:  # so many are inside each other, at most, if the line is JSON
        steps = ({"[": 1, "{": 1, "]": -1, "}": -1}.get(each, 0) for each in _IN_QUOTES.sub("", line))
        deepest = max(accumulate(steps, initial=0))
    if deepest > DEEPEST or len(line.encode().removesuffix(b"\n").removesuffix(b"\r")) > LONGEST_LINE:
        return None
    try:
        row: dict[str, Any] = _READER.decode(line)
    except (ValueError, RecursionError):
        return None
    return row if type(row) is dict else None


def _cell(row: dict[str, Any], name: str) -> str | None:
    """What a line has under a key, or under a key of an object in it.

    Text and numbers as they are, booleans as words; all else is missing.
    """
    value: Any = row
    for key in [name] if name in row else name.split("."):
        value = cast("dict[str, Any]", value).get(key) if type(value) is dict else None
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else None
