"""CSV, one physical line at a time: how a line is read never depends on another line.

General CSV readers guess types from the rows, let an open quote swallow the lines after it, and at a bad line lose
others or fail. Each of these lets one person's row change how everybody else's rows are read. So here the dialect is
fixed, and every line is read alone:

- the first line contains the names of the columns; a line break always ends a row, even after an open quote;
- comma, double quote (doubled inside quotes), UTF-8 with or without a byte order mark, ``\\n`` or ``\\r\\n``; another
  delimiter and another encoding only if they are declared, for all lines (`dpselect.formats.Format`);
- a line is left out if it is longer than 1 MiB, if it has another number of fields than the first line or if its
  quotes do not pair up; a field is missing if it is not UTF-8 or has quotes that do not enclose it.

Proof that this keeps the sensitivity: ``proofs/counting.md``.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import InvalidDataError, Shown
from dpselect.formats import DELIMITER_WORDS
from dpselect.rows.columns import Column, Holds
from dpselect.rows.duckdb.arrow import Array, RecordBatch, computed, of_numpy, pa, pc, valid_text
from dpselect.rows.failures import TranslatedErrors
from dpselect.rows.files import lines
from dpselect.rows.files.text_streams import opened

_NEWLINE, _CARRIAGE_RETURN, _QUOTE = b'\n\r"'


@dataclass(frozen=True, slots=True)
class LineDialect:
    """How the lines of a file are written.

    Attributes:
        delimiter: one of `dpselect.formats.DELIMITERS`.
        encoding: one of `dpselect.formats.ENCODINGS`.
        above: lines above the header.
        quoted: whether a line break inside quotes is part of a cell; see `dpselect.rows.files.lines`.
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    above: int = 0
    quoted: bool = False


PLAIN = LineDialect()
"""The dialect of files without a declared format."""

_CALLED = {
    ",": "commas",
    ";": "semicolons",
    "\t": "tabs",
    "|": "vertical bars",
    ":": "colons",
    "^": "carets",
    "~": "tildes",
    "#": "number signs",
    " ": "blanks",
    "\x01": "control characters 1",
    "\x1f": "control characters 31",
}

_LINE_BREAKS = "If line breaks stand inside quotes: quoted_line_breaks=True; docs/files.md says what it costs."
_TITLES = "If lines such as titles stand above the names, say how many: skip_lines=1."
_MORE = "skip_lines={} leaves out another number of lines than stand above the names; blank ones count, too."

_A_FILE = Shown("<file>")


def read_columns(path: str, shown: Shown, dialect: LineDialect = PLAIN) -> tuple[Column, ...]:
    """The columns named in the first line of the file.

    Raises:
        InvalidDataError: the first line is not a list of different names; its content is never quoted, because in a
            file without a header it is the first person's row.
    """
    delimiter = dialect.delimiter
    with opened(path, dialect.encoding, shown=shown) as text:
        content, _ = lines.header_and_rest(text, shown, above=dialect.above, quoted=dialect.quoted)
    if b"\0" in content or b"\r" in content.replace(b"\r\n", b"" if dialect.quoted else b"\r"):
        raise InvalidDataError(
            "source", shown, "a text file with line breaks of the form \\n or \\r\\n", _hint_for_zeros(content)
        )
    separated, encoding = f"separated by {_CALLED[delimiter]}", dialect.encoding.upper()
    which = f"line {dialect.above + 1}" if dialect.above else "a first line"
    expected = f"{which} in {encoding} with the names of the columns, {separated}"

    def refused(_: BaseException) -> InvalidDataError:
        hint = _hint_for_separator(content, dialect) or _hint_for_encoding(content) or _line_breaks(dialect)
        return InvalidDataError("source", shown, expected, hint)

    with TranslatedErrors(refused, csv.Error, ValueError):
        (names,) = csv.reader([content.decode()], delimiter=delimiter, strict=True)
    if len(names) < 2:
        expected = f"at least two columns, a unit and a value, {separated}"
        hint = _hint_for_separator(content, dialect) or (_MORE.format(dialect.above) if dialect.above else _TITLES)
        raise InvalidDataError("source", shown, expected, hint)
    if len(set(names)) < len(names):
        second = next(place for place, name in enumerate(names) if name in names[:place])
        same = f"Columns {names.index(names[second]) + 1} and {second + 1} have the same name"
        hint = f"{same}: rename one of them. Or the file has no header line."
        raise InvalidDataError("source", shown, "columns with different names", hint)
    return tuple(Column(name, Holds.ANYTHING) for name in names)


def _hint_for_zeros(header: bytes) -> str:
    if b"\0" not in header:
        return ""
    which = "be" if header[0] == 0 else "le"
    return f"If it is UTF-16 without a byte order mark, declare the format: encoding='utf-16-{which}'."


def _hint_for_encoding(header: bytes) -> str:
    try:
        header.decode()
    except UnicodeDecodeError:
        return "If it has another encoding, declare the format: encoding='cp1252', or another one."
    return ""


def _line_breaks(dialect: LineDialect) -> str:
    return "" if dialect.quoted else _LINE_BREAKS


def _hint_for_separator(header: bytes, dialect: LineDialect) -> str:
    """The hint for a header whose fields are separated by something other than the delimiter.

    The file is refused all the same: without a header line this is a person's row, and its separator would decide how
    everybody's rows are read.
    """
    for word, separator in DELIMITER_WORDS.items():
        if separator != dialect.delimiter and separator.encode() in header:
            also = " and, if decimals have commas, thousands='.' decimal=','" if separator == ";" else ""
            looks = f"It looks separated by {_CALLED[separator]}."
            declare = f"If it is, declare the format: delimiter={word!r}{also}."
            return f"{looks} {declare} {_line_breaks(dialect)}".rstrip()
    return ""


def rows(
    path: str,
    places: Sequence[int],
    *,
    width: int,
    advance: Callable[[int], None],
    skipped: Callable[[int], None] = lines.ignored,
    dialect: LineDialect = PLAIN,
) -> Iterator[RecordBatch]:
    """Some fields of every line that can be read, in batches of nullable text columns.

    Args:
        path: a file whose header was read before.
        places: indices of the wanted columns, in this order.
        width: number of columns.
        advance: called with the number of bytes read since the last call.
        skipped: called with the number of lines, blank ones aside, that cannot be read since the last call.
        dialect: the one in which the header was read.
    """
    delimiter = ord(dialect.delimiter)
    with opened(path, dialect.encoding, advance) as text:
        _, rest = lines.header_and_rest(text, _A_FILE, above=dialect.above, quoted=dialect.quoted)
        for block in lines.whole_lines(rest, skipped, quoted=dialect.quoted):
            raw = np.frombuffer(block, np.uint8)
            separators, first = _fields_of_lines(raw, width, delimiter, skipped, quoted=dialect.quoted)
            columns = [_field(block, separators, first, at, last=at == width - 1) for at in places]
            yield pa.RecordBatch.from_arrays(columns, names=list(map(str, places)))


def _fields_of_lines(
    raw: NDArray[np.uint8], width: int, delimiter: int, skipped: Callable[[int], None], *, quoted: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The positions of the fields.

    Args:
        raw: bytes that end in a line break.
        width: number of fields a line has to have.
        delimiter: the byte between them.
        skipped: called with the number of other lines, blank ones aside.
        quoted: whether line breaks inside quotes are no ends of lines.

    Returns:
        Positions of all separators (delimiters outside quotes, and line breaks), -1 before the first; and for each line
        to be kept the index of the separator before it, so that field j lies between separators ``first + j`` and
        ``first + j + 1``.
    """
    quotes = raw == _QUOTE
    has_quotes = bool(quotes.any())
    special = (raw == _NEWLINE) | (raw == delimiter)
    at = np.flatnonzero(special | quotes if has_quotes else special)
    kind = raw[at]
    balanced = None
    if has_quotes and quoted:
        separates = (kind != _QUOTE) & (np.cumsum(kind == _QUOTE) % 2 == 0)
        at, kind = at[separates], kind[separates]
    elif has_quotes:
        separates, balanced = _outside_quotes(kind, delimiter)
        at, kind = at[separates], kind[separates]
    at = np.concatenate([[-1], at])
    last = np.flatnonzero(kind == _NEWLINE) + 1
    first = np.concatenate([[0], last[:-1]])
    keep = (last - first == width) & (at[last] - at[first] - 1 <= lines.LONGEST_LINE)
    keep = keep if balanced is None else keep & balanced
    if not keep.all():
        begin, end = at[first[~keep]] + 1, at[last[~keep]]
        is_blank = (begin == end) | ((end - begin == 1) & (raw[begin] == _CARRIAGE_RETURN))
        skipped(int(np.count_nonzero(~is_blank)))
    return at, first[keep]


def _outside_quotes(kind: NDArray[np.uint8], delimiter: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which special bytes are separators, counting quotes from the start of the line; lines with paired quotes."""
    seen = np.cumsum(kind == _QUOTE)
    ends = np.flatnonzero(kind == _NEWLINE)
    before = np.concatenate([[0], seen[ends][:-1]])
    inside = (seen - np.repeat(before, np.diff(ends, prepend=-1))) % 2 == 1
    return (kind == _NEWLINE) | ((kind == delimiter) & ~inside), (seen[ends] - before) % 2 == 0


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
    fields = computed("array_filter", alternating, of_numpy(np.arange(2 * begin.size) % 2 == 0))
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
