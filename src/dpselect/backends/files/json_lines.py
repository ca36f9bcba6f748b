"""JSON lines: each line one object, read alone, so that what a line says never depends on another line.

- The columns are the keys of the first line; keys that only later lines have cannot be asked about.
- A line is left out if it is longer than 1 MiB, not UTF-8, not one JSON object, or nested more than 200 deep.
- Of a key that a line has twice, the last one counts; one that it has not is missing.
- A number is the text it is written as, text is itself, ``true`` and ``false`` are these words; ``null``, lists and
  objects are missing. Candidates decide how the text is read, as in CSV.

Proof that this keeps the sensitivity: ``proofs/counting.md``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from json import JSONDecoder
from typing import Any, cast

import numpy as np

from dpselect.backends.columns import Column, Holds
from dpselect.backends.files import lines
from dpselect.backends.rows.arrow import RecordBatch, pa, text_array
from dpselect.errors import InvalidDataError, Shown

DEEPEST = 200
"""Lists and objects inside each other, the line's own object among them."""

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')

_WORDS = {True: "true", False: "false"}


def read_columns(path: str, shown: Shown) -> tuple[Column, ...]:
    """The keys of the first line, in alphabetical order.

    Raises:
        InvalidDataError: the first line is not a JSON object with text for keys. Its content is never quoted: it is the
            first person's row.
    """
    first = _object(lines.first_line(path, shown))
    if first is None:
        hint = "One object a line; not a list of all of them, and not one object over several lines."
        raise InvalidDataError("source", shown, "a first line in UTF-8 with one JSON object", hint)
    if len(first) < 2:
        raise InvalidDataError("source", shown, "at least two keys in the first line, a unit and a value")
    return tuple(Column(key, Holds.ANYTHING) for key in sorted(first))


def rows(path: str, columns: Sequence[Column], *, advance: Callable[[int], None]) -> Iterator[RecordBatch]:
    """Some columns of every line that can be read, in batches of nullable text columns.

    Args:
        path: a file whose first line was read before.
        columns: those wanted, in this order.
        advance: called with the number of bytes read since the last call.
    """
    names = [column.name for column in columns]
    with open(path, "rb") as file:
        if file.read(3) == b"\xef\xbb\xbf":
            advance(3)
        else:
            file.seek(0)
        for block in lines.whole_lines(file, advance):
            found = [row for line in block.split(b"\n") if (row := _object(line)) is not None]
            arrays = [text_array([_text(row.get(name)) for row in found]) for name in names]
            yield pa.RecordBatch.from_arrays(arrays, names=names)


def _refuse(constant: str) -> None:
    raise ValueError  # NaN and Infinity are no JSON


_DECODER = JSONDecoder(parse_float=str, parse_int=str, parse_constant=_refuse)


def _object(line: bytes) -> dict[str, Any] | None:
    """What stands in one line, numbers as the text they are written as; None if it is left out."""
    if not line or len(line) > lines.LONGEST_LINE + line.endswith(b"\r") or _too_deep(line):
        return None
    try:
        value = _DECODER.decode(line.decode())
    except ValueError:
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _too_deep(line: bytes) -> bool:
    """Decided before the line is parsed: the parser calls itself, and how deep it may go is not the line's alone."""
    if line.count(b"[") + line.count(b"{") <= DEEPEST:
        return False
    raw = np.frombuffer(_STRING.sub(b"", line), np.uint8) | 0x20  # brackets differ from braces by this bit
    return int(np.cumsum((raw == ord("{")).astype(np.int64) - (raw == ord("}"))).max(initial=0)) > DEEPEST


def _text(value: Any) -> str | None:
    if type(value) is str:
        return value
    return _WORDS[value] if type(value) is bool else None
