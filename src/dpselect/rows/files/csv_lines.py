"""CSV, one physical line at a time, by the rules of docs/files.md: how a line is read never depends on another line.

General CSV readers guess types from the rows, let an open quote swallow the lines after it, and at a bad line lose
others or fail. Proof that this keeps the sensitivity: ``proofs/counting.md``.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import closing

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import InvalidDataError, Shown
from dpselect.formats import DELIMITER_WORDS, Format
from dpselect.rows.columns import Column, Holds
from dpselect.rows.duckdb.arrow import Array, decoded, of_numpy, parts_of, pc, valid_text
from dpselect.rows.failures import TranslatedErrors
from dpselect.rows.files import lines
from dpselect.rows.files.lines import Reading, opened

_NEWLINE, _CARRIAGE_RETURN, _QUOTE = b'\n\r"'
_CALLED = {separator: f"{word}s" for word, separator in DELIMITER_WORDS.items()}
_LINE_BREAKS = "If line breaks stand inside quotes: `quoted_line_breaks=True`; docs/files.md says what it costs."
_TITLES = "If lines such as titles stand above the names, say how many: `skip_lines=1`."
_MORE = "`skip_lines={}` leaves out another number of lines than stand above the names; blank ones count, too."


def read_columns(path: str, shown: Shown, declared: Format = lines.PLAIN) -> tuple[Column, ...]:
    """The columns named in the first line of the file.

    Raises:
        InvalidDataError: the first line is not a list of different names; its content is never quoted, because in a
            file without a header it is the first person's row.
    """
    delimiter, above = declared.delimiter or ",", declared.skip_lines
    with closing(opened(path, declared.encoding, shown=shown)) as text:
        content, _ = lines.header_and_rest(text, shown, declared)
    if b"\0" in content or b"\r" in content.replace(b"\r\n", b"" if declared.quoted_line_breaks else b"\r"):
        expected = "a text file with line breaks of the form \\n or \\r\\n"
        which = "be" if content[:1] == b"\0" else "le"
        hint = f"If it is UTF-16 without a byte order mark, declare the format: `encoding='utf-16-{which}'`."
        raise InvalidDataError("source", shown, expected, hint if b"\0" in content else "")
    separated, encoding = f"separated by {_CALLED.get(delimiter, repr(delimiter))}", declared.encoding.upper()
    which = f"line {above + 1}" if above else "a first line"
    expected = f"{which} in {encoding} with the names of the columns, {separated}"
    line_breaks = "" if declared.quoted_line_breaks else _LINE_BREAKS

    def refused(_: BaseException) -> InvalidDataError:
        undecoded = "If it has another encoding, declare the format: `encoding='cp1252'`, or another one."
        others = undecoded if decoded(content) is None else line_breaks
        return InvalidDataError("source", shown, expected, _other_delimiter(content, delimiter, line_breaks) or others)

    with TranslatedErrors(refused, csv.Error, ValueError):
        (names,) = csv.reader([content.decode()], delimiter=delimiter, strict=True)
    if not any(names) or (len(names) == 1 and _other_delimiter(content, delimiter, line_breaks)):
        hint = _other_delimiter(content, delimiter, line_breaks) or (_MORE.format(above) if above else _TITLES)
        raise InvalidDataError("source", shown, f"the names of columns, {separated}", hint)
    if len(set(names)) < len(names):
        second = next(place for place, name in enumerate(names) if name in names[:place])
        same = f"Columns {names.index(names[second]) + 1} and {second + 1} have the same name"
        hint = f"{same}: rename one of them. Or the file has no header line."
        raise InvalidDataError("source", shown, "columns with different names", hint)
    return tuple(Column(name, Holds.ANYTHING) for name in names)


def _other_delimiter(header: bytes, delimiter: str, line_breaks: str) -> str:
    """The hint for a header whose fields may be separated by something else.

    The file is refused all the same: without a header line this is a person's row, and its separator would decide how
    everybody's rows are read.
    """
    for word, separator in DELIMITER_WORDS.items():
        if separator != delimiter and separator.encode() in header:
            also = " and, if decimals have commas, `thousands='.'` `decimal=','`" if separator == ";" else ""
            looks = f"It looks separated by {_CALLED[separator]}."
            return f"{looks} If it is, declare the format: `delimiter={word!r}`{also}. {line_breaks}".rstrip()
    return ""


def rows(asked: Reading) -> Iterator[list[Array]]:
    """Some fields of every line that can be read, as nullable text, and the numbers of lines if asked for."""
    declared, width, quoted = asked.declared, len(asked.among), asked.declared.quoted_line_breaks
    places = [asked.among.index(column) for column in asked.columns]
    delimiter = ord(declared.delimiter or ",")
    with closing(opened(asked.path, declared.encoding, asked.advance)) as text:
        header, rest = lines.header_and_rest(text, asked.shown, declared)
        after = asked.before + declared.skip_lines + header.count(b"\n") + 2
        for number, block in lines.whole_lines(rest, after, asked.skipped, quoted=quoted):
            raw = np.frombuffer(block, np.uint8)
            separators, first, bad = _fields_of_lines(raw, width, delimiter, quoted=quoted)
            columns = [_field(block, separators, first, at, last=at == width - 1) for at in places]
            if asked.numbered:
                ends = np.flatnonzero(raw == _NEWLINE)
                asked.skipped((number + np.searchsorted(ends, bad)).tolist())
                columns.append(of_numpy(number + np.searchsorted(ends, separators[first] + 1)))
            yield columns


def _fields_of_lines(
    raw: NDArray[np.uint8], width: int, delimiter: int, *, quoted: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The positions of the fields of lines, which end in a line break, where each line has to have `width` of them.

    Returns:
        Positions of all separators (delimiters outside quotes, and line breaks), -1 before the first; for each line to
        be kept the index of the separator before it, so that field j lies between separators ``first + j`` and
        ``first + j + 1``; and where the others begin, blank ones aside.
    """
    quotes = raw == _QUOTE
    has_quotes = bool(quotes.any())
    special = (raw == _NEWLINE) | (raw == delimiter)
    at = np.flatnonzero(special | quotes if has_quotes else special)
    kind = raw[at]
    balanced = None
    if has_quotes:
        separates, balanced = _outside_quotes(kind, delimiter, quoted=quoted)
        at, kind = at[separates], kind[separates]
    at = np.concatenate([[-1], at])
    last = np.flatnonzero(kind == _NEWLINE) + 1
    first = np.concatenate([[0], last[:-1]])
    begin, end = at[first] + 1, at[last]
    is_blank = (begin == end) | ((end - begin == 1) & (raw[begin] == _CARRIAGE_RETURN))
    keep = ~is_blank & (last - first == width) & (at[last] - at[first] - 1 <= lines.LONGEST_LINE)
    keep = keep if balanced is None else keep & balanced
    return at, first[keep], begin[~keep & ~is_blank]


def _outside_quotes(
    kind: NDArray[np.uint8], delimiter: int, *, quoted: bool
) -> tuple[NDArray[np.bool_], NDArray[np.bool_] | None]:
    """Which special bytes are separators, counting quotes from the start of the line; lines with paired quotes."""
    seen = np.cumsum(kind == _QUOTE)
    if quoted:
        return (kind != _QUOTE) & (seen % 2 == 0), None
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
    fields = parts_of(block, np.stack([begin, end], axis=1))
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
