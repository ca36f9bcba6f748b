"""JSON lines: each line is one object, read alone, so that how a line is read never depends on another line.

- The columns are the keys of the first line; keys that only later lines have cannot be used.
- A line is left out if it is longer than 1 MiB, not UTF-8, not one JSON object, or nested more than 200 levels deep.
- If a line has a key twice, the last one counts; a key that the line does not have is missing.
- A number is the text as written, text is itself, ``true`` and ``false`` are these words; ``null``, lists and objects
  are missing. Candidates decide how the text is read, as in CSV.

The compiled core does the reading: general readers guess types from the rows or stop at a bad line, and Python's own
reader takes seven times as long.

Proof that this keeps the sensitivity: ``proofs/counting.md``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dpselect._native import _core
from dpselect.backends.columns import Column, Holds
from dpselect.backends.files import lines
from dpselect.backends.files.text_streams import opened
from dpselect.backends.rows.arrow import Array, RecordBatch, pa
from dpselect.errors import InvalidDataError, Shown

_BLANK_LINE = re.compile(rb"^[ \t\r]*\n", re.MULTILINE)

DEEPEST = 200
"""Levels of nested lists and objects, including the line's own object."""


def read_columns(path: str, shown: Shown) -> tuple[Column, ...]:
    """The keys of the first line, in alphabetical order.

    Raises:
        InvalidDataError: the first line is not a JSON object with text for keys. Its content is never quoted: it is the
            first person's row.
    """
    keys = _core.json_keys(lines.first_line(path, shown), lines.LONGEST_LINE, DEEPEST)
    if keys is None:
        hint = "Write one object on each line, not a list of objects, and not one object over several lines."
        raise InvalidDataError("source", shown, "a first line in UTF-8 with one JSON object", hint)
    if len(keys) < 2:
        raise InvalidDataError("source", shown, "at least two keys in the first line, a unit and a value")
    return tuple(Column(key, Holds.ANYTHING) for key in keys)


def rows(
    path: str,
    columns: Sequence[Column],
    *,
    advance: Callable[[int], None],
    skipped: Callable[[int], None] = lines.ignored,
) -> Iterator[RecordBatch]:
    """Some columns of every line that can be read, in batches of nullable text columns.

    Args:
        path: a file whose first line was read before.
        columns: those wanted, in this order.
        advance: called with the number of bytes read since the last call.
        skipped: called with the number of lines, blank ones aside, that cannot be read since the last call.
    """
    names = [column.name for column in columns]
    with opened(path, advance=advance) as text:
        for block in lines.whole_lines(text, skipped):
            fields = _core.json_fields(block, names, lines.LONGEST_LINE, DEEPEST)
            arrays = [_text(*buffers) for buffers in fields]
            if skipped is not lines.ignored:
                skipped(block.count(b"\n") - len(_BLANK_LINE.findall(block)) - len(arrays[0]))
            yield pa.RecordBatch.from_arrays(arrays, names=names)


def _text(present: NDArray[np.uint8], offsets: NDArray[np.int64], text: NDArray[np.uint8]) -> Array:
    buffers = [pa.py_buffer(present), pa.py_buffer(offsets), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.large_string(), offsets.size - 1, buffers)
