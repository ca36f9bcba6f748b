"""CSV, one physical line at a time: how a line is read never depends on another line.

General CSV readers guess types from the rows, let an open quote swallow the lines after it, and at a bad line lose
others or fail. Each of these lets one person's row change how everybody else's rows are read. So here the dialect is
fixed, and every line is read alone:

- the first line contains the names of the columns; a line break always ends a row, even after an open quote;
- comma, double quote (doubled inside quotes), UTF-8 with or without a byte order mark, ``\\n`` or ``\\r\\n``;
- a line is left out if it is longer than 1 MiB, if it has another number of fields than the first line or if its
  quotes do not pair up; a field is missing if it is not UTF-8 or has quotes that do not enclose it.

Proof that this keeps the sensitivity: ``proofs/counting.md``.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dpselect.backends.columns import Column, Holds
from dpselect.backends.failures import TranslatedErrors
from dpselect.backends.files import lines
from dpselect.backends.rows.arrow import Array, RecordBatch, pa, pc, valid_text
from dpselect.errors import InvalidDataError, Shown

_NEWLINE, _CARRIAGE_RETURN, _COMMA, _QUOTE = b'\n\r,"'


def read_columns(path: str, shown: Shown) -> tuple[Column, ...]:
    """The columns named in the first line of the file.

    Raises:
        InvalidDataError: the first line is not a list of different names; its content is never quoted, because in a
            file without a header it is the first person's row.
    """
    content = lines.first_line(path, shown)
    if b"\0" in content or b"\r" in content:
        raise InvalidDataError("source", shown, "a text file with line breaks of the form \\n or \\r\\n")
    expected = "a first line in UTF-8 with the names of the columns, separated by commas"
    hint = _hint_for_separator(content) or "Remove line breaks inside quotes first: docs/tables.md, CSV."
    with TranslatedErrors(lambda _: InvalidDataError("source", shown, expected, hint), csv.Error, ValueError):
        (names,) = csv.reader([content.decode()], strict=True)
    if len(names) < 2:
        expected = "at least two columns, a unit and a value, separated by commas"
        raise InvalidDataError("source", shown, expected, _hint_for_separator(content))
    if len(set(names)) < len(names):
        second = next(place for place, name in enumerate(names) if name in names[:place])
        same = f"Columns {names.index(names[second]) + 1} and {second + 1} have the same name"
        hint = f"{same}: rename one of them. Or the file has no header line."
        raise InvalidDataError("source", shown, "columns with different names", hint)
    return tuple(Column(name, Holds.ANYTHING) for name in names)


def _hint_for_separator(header: bytes) -> str:
    """The hint for a header whose fields are separated by something other than commas.

    The file is refused all the same: without a header line this is a person's row, and its separator would decide how
    everybody's rows are read.
    """
    for separator, called in ((";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars")):
        if separator.encode() in header:
            commas = " If its decimals have commas too, docs/tables.md says how." if separator == ";" else ""
            return f"It looks separated by {called}.{commas} {convert_hint(separator)}"
    return ""


def convert_hint(separator: str) -> str:
    """One line of Python that converts a file with another separator to commas.

    It uses no reader that guesses from the rows: one person's ``#`` could turn other people's values into comments. All
    values stay text. Line breaks inside fields become blanks, because each line is read alone.
    """
    old = "open('old.csv', newline='', encoding='utf-8-sig')"
    new = "open('new.csv', 'w', newline='', encoding='utf-8')"
    fields = "[' '.join(field.splitlines()) for field in row]"
    each = f"for row in csv.reader({old}, delimiter={separator!r}, strict=True)"
    return f"Convert it first, in Python: import csv; csv.writer({new}).writerows({fields} {each})"


def rows(path: str, places: Sequence[int], *, width: int, advance: Callable[[int], None]) -> Iterator[RecordBatch]:
    """Some fields of every line that can be read, in batches of nullable text columns.

    Args:
        path: a file whose header was read before.
        places: indices of the wanted columns, in this order.
        width: number of columns.
        advance: called with the number of bytes read since the last call.
    """
    with open(path, "rb") as file:
        advance(len(file.readline()))
        for block in lines.whole_lines(file, advance):
            separators, first = _fields_of_lines(np.frombuffer(block, np.uint8), width)
            columns = [_field(block, separators, first, at, last=at == width - 1) for at in places]
            yield pa.RecordBatch.from_arrays(columns, names=list(map(str, places)))


def _fields_of_lines(raw: NDArray[np.uint8], width: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The positions of the fields.

    Args:
        raw: bytes that end in a line break.
        width: number of fields a line has to have.

    Returns:
        Positions of all separators (commas outside quotes and line breaks), -1 before the first; and for each line to
        be kept the index of the separator before it, so that field j lies between separators ``first + j`` and
        ``first + j + 1``.
    """
    quotes = raw == _QUOTE
    quoted = bool(quotes.any())
    special = (raw == _NEWLINE) | (raw == _COMMA)
    at = np.flatnonzero(special | quotes if quoted else special)
    kind = raw[at]
    balanced = None
    if quoted:
        separates, balanced = _outside_quotes(kind)
        at, kind = at[separates], kind[separates]
    at = np.concatenate([[-1], at])
    last = np.flatnonzero(kind == _NEWLINE) + 1
    first = np.concatenate([[0], last[:-1]])
    keep = (last - first == width) & (at[last] - at[first] - 1 <= lines.LONGEST_LINE)
    return at, first[keep if balanced is None else keep & balanced]


def _outside_quotes(kind: NDArray[np.uint8]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which special bytes are separators, counting quotes from the start of the line; lines with paired quotes."""
    seen = np.cumsum(kind == _QUOTE)
    ends = np.flatnonzero(kind == _NEWLINE)
    before = np.concatenate([[0], seen[ends][:-1]])
    inside = (seen - np.repeat(before, np.diff(ends, prepend=-1))) % 2 == 1
    return (kind == _NEWLINE) | ((kind == _COMMA) & ~inside), (seen[ends] - before) % 2 == 0


def _field(block: bytes, separators: NDArray[np.int64], first: NDArray[np.int64], at: int, *, last: bool) -> Array:
    """Field `at` of each line, unquoted; null where it is not well formed."""
    raw = np.frombuffer(block, np.uint8)
    begin, end = separators[first + at] + 1, separators[first + at + 1]
    if last:
        end = end - ((end > begin) & (raw[end - 1] == _CARRIAGE_RETURN))
    # Fields and the gaps between them make one Arrow array over the block; every second element is a field.
    offsets = np.empty(2 * begin.size + 1, np.int32)
    offsets[0:-1:2], offsets[1:-1:2], offsets[-1] = begin, end, len(block)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(block)]
    alternating = pa.Array.from_buffers(pa.binary(), 2 * begin.size, buffers)
    fields = alternating.filter(pa.array(np.arange(2 * begin.size) % 2 == 0))
    return valid_text(_unquoted(fields) if b'"' in block else fields)


def _unquoted(fields: Array) -> Array:
    """Fields without the quotes around them, with doubled quotes inside made single; null if there are other quotes."""
    number = pc.count_substring(fields, pattern='"')
    inner = pc.binary_slice(fields, 1, -1)
    wrapped = pc.and_(pc.starts_with(fields, '"'), pc.ends_with(fields, '"'))
    pairs = pc.multiply(pc.count_substring(inner, pattern='""'), 2)
    well_formed = pc.and_(wrapped, pc.equal(pc.add(pairs, 2), number))
    unescaped = pc.if_else(well_formed, pc.replace_substring(inner, '""', '"'), None)
    return pc.if_else(pc.equal(number, 0), fields, unescaped)
