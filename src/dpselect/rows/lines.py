"""CSV, and text files of all kinds as blocks of whole lines of UTF-8, however they are encoded or compressed.

CSV is read one physical line at a time, by the rules of docs/files.md: how a line is read never depends on another
line. General readers guess types from the rows, let an open quote swallow the lines after it, and at a bad line lose
others or fail. Proof that this keeps the sensitivity: ``proofs/counting.md``.

Bytes that mean nothing in an encoding become bytes that mean nothing in UTF-8 either, at the same place: the field that
has them is missing, as in a file of UTF-8, and everything else is read as before.
"""

from __future__ import annotations

import codecs
import csv
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import InvalidDataError, Shown
from dpselect.formats import DELIMITER_WORDS, Format
from dpselect.rows import arrow
from dpselect.rows.arrow import Advance, Array, Batches, Skipped, ignored, pa, pc
from dpselect.rows.columns import LINE, Column, Holds

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}  # ends of the names of compressed text files, and what each is called

LONGEST_LINE = 1 << 20  # bytes of a line in UTF-8, without its line break; longer ones are left out
BLOCK, START = 1 << 22, 1 << 16
"""Bytes that are read at a time, and first; of what is compressed a quarter, so that Ctrl-C is heard as soon."""
Above = tuple[tuple[str, str | None], ...]
"""The columns that folders name, and their values for all rows of a file in them."""
_A_FILE, _PLAIN = Shown("<file>"), Format()

_NEWLINE, _CARRIAGE_RETURN, _QUOTE = b'\n\r"'
_CALLED = {separator: f"{word}s" for word, separator in DELIMITER_WORDS.items()}
_LINE_BREAKS = "If line breaks stand inside quotes: `quoted_line_breaks=True`, for files that a program wrote."
_ENCODING = "If it has another encoding, declare the format: `encoding='cp1252'`, or another one."
_TITLES = "If lines such as titles stand above the names, say how many: `skip_lines=1`."
_MORE = "More or fewer lines stand above the names than `skip_lines` says; blank ones count, too."


@dataclass(frozen=True, slots=True)
class File:
    """A file of a table, and how it is read."""

    path: str
    shown: Shown = _A_FILE  # in errors: a name that only a glob or a folder holds may be a person's
    above: Above = ()  # what the folders above it say
    declared: Format = _PLAIN  # how its cells are written
    before: int = 0  # how many lines of other files are counted before its first
    columns: tuple[Column, ...] = ()  # all that stand in it
    schema: Any = field(default=None, compare=False)  # where its columns have types, what Arrow makes of them


def blocks_of(path: str, advance: Advance = ignored) -> Generator[bytes]:
    """The bytes of a file, which the end of its name says to be compressed or not; the first block is a small one."""
    compression = next((name for end, name in COMPRESSIONS.items() if path.lower().endswith(end)), None)
    with open(path, "rb") as file:
        inside, most = file, BLOCK
        if compression is not None:
            most = -(-BLOCK // 4)
            inside = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), compression)
        size, done = START, 0
        while block := inside.read(size):
            now = file.tell()
            advance(now - done)
            size, done = most, now
            yield block
        advance(file.tell() - done)


def opened(file: File, advance: Advance = ignored) -> Generator[bytes]:
    """The text of a file as blocks of UTF-8, without a byte order mark; UTF-16 has to have one."""
    encoding = file.declared.encoding
    with closing(blocks_of(file.path, advance)) as blocks:
        text: Iterator[bytes] = blocks
        if encoding == "utf-16":
            start = first_bytes(blocks, 2)
            if not start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                hint = "Without one give the encoding 'utf-16-le' or 'utf-16-be'."
                raise InvalidDataError("source", file.shown, "UTF-16 with a byte order mark, as the format says", hint)
            text = chain([start], blocks)
        text = text if encoding == "utf-8" else _transcoded(text, encoding)
        yield first_bytes(text, len(codecs.BOM_UTF8)).removeprefix(codecs.BOM_UTF8)
        yield from text


def first_bytes(blocks: Iterator[bytes], number: int) -> bytes:
    """The first blocks, with at least so many bytes if there are so many."""
    start = b""
    while len(start) < number and (block := next(blocks, b"")):
        start += block
    return start


def _transcoded(blocks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """One block after another; what is left of a character waits for the next block."""
    # Undefined bytes go through as they are: all of them are continuation bytes of UTF-8 without a beginning.
    errors = "surrogatepass" if encoding.startswith("utf-16") else "surrogateescape"
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    yield from filter(None, (decoder.decode(block).encode("utf-8", errors) for block in blocks))
    if decoder.getstate()[0]:  # of a file that is cut off within a unit, or within a pair of them
        yield b"\xff"


def line_and_rest(text: Iterator[bytes], before: int = 0, *, quoted: bool = False) -> tuple[bytes, Iterator[bytes]]:
    """The line that so many are `before`, without its end, and the text after it; only a part if it is too long."""
    for block in text if before else ():
        if (breaks := block.count(b"\n")) >= before:
            text = chain([block.split(b"\n", before)[-1]], text)
            break
        before -= breaks
    line, end = b"", 0
    while len(line) <= LONGEST_LINE + 2 and not end and (found := next(filter(None, text), b"")):
        line += found
        end = _ends(line, 0)[0] if quoted else line.find(b"\n") + 1
    content = (line[: end - 1] if end else line).removesuffix(b"\r")
    return content, chain([line[end:] if end else b""], text)


def _ends(block: bytes, inside: int) -> tuple[int, int, int]:
    """Behind the first and the last line break outside quotes, or 0; and 1 if the text ends `inside` quotes, else 0."""
    raw = np.frombuffer(block, np.uint8)
    open_quotes = (inside + np.cumsum(raw == ord('"'), dtype=np.int32)) % 2
    ends = np.flatnonzero((raw == ord("\n")) & (open_quotes == 0)) + 1
    return (int(ends[0]), int(ends[-1]), int(open_quotes[-1])) if ends.size else (0, 0, int(open_quotes[-1]))


def whole_lines(text: Iterator[bytes], first: int, skipped: Skipped, *, quoted: bool) -> Iterator[tuple[int, bytes]]:
    """The text in blocks that end in a line break, each with the number of its first line; that of the text is `first`.

    Lines that are too long may be missing, and are `skipped`. With `quoted` no block ends inside quotes; what follows a
    quote that nobody closes is skipped as one line.
    """
    pending, skipping, inside = b"", False, 0
    for chunk in filter(None, text):
        start, last, inside = _ends(chunk, inside) if quoted else (chunk.find(b"\n") + 1, chunk.rfind(b"\n") + 1, 0)
        if skipping:
            first += chunk.count(b"\n", 0, start or len(chunk))
            if not start:
                continue
            chunk, last, skipping = chunk[start:], last - start, False
        if last:
            block = pending + chunk[:last]
            yield first, block
            breaks = np.frombuffer(block, np.uint8) == ord("\n")  # a quarter of the time of `count`
            first, pending = first + int(np.count_nonzero(breaks)), chunk[last:]
        else:
            pending += chunk
        if len(pending) > LONGEST_LINE + 1:  # one more for a carriage return
            skipped([first])
            first, pending, skipping = first + pending.count(b"\n"), b"", True
    if pending and inside:
        skipped([first])
    elif pending:
        yield first, pending + b"\n"


def described(file: File) -> File:
    """With the columns of the first line, which no error quotes: without a header it is the first person's row."""
    declared, refused = file.declared, partial(InvalidDataError, "source", file.shown)
    delimiter, above, quoted = declared.delimiter or ",", declared.skip_lines, declared.quoted_line_breaks
    with closing(opened(file)) as text:
        content, _ = line_and_rest(text, above, quoted=quoted)
    if len(content) > LONGEST_LINE:
        raise refused("a first line of at most 1 MiB with the names of the columns")
    if b"\0" in content or b"\r" in content.replace(b"\r\n", b"" if quoted else b"\r"):
        which = "be" if content[:1] == b"\0" else "le"
        hint = f"If it is UTF-16 without a byte order mark, declare the format: `encoding='utf-16-{which}'`."
        raise refused("a text file with line breaks of the form \\n or \\r\\n", hint if b"\0" in content else "")
    line_breaks, header, names = "" if quoted else _LINE_BREAKS, arrow.decoded(content), list[str]()
    hint = _ENCODING if header is None else line_breaks
    with suppress(csv.Error):
        (names,) = csv.reader([header or ""], delimiter=delimiter, strict=True)
        hint = hint if header is None else _MORE if above else _TITLES
    other = _other_delimiter(content, delimiter, line_breaks)
    if not any(names) or (len(names) == 1 and other):
        which, separator = f"line {above + 1}" if above else "a first line", _CALLED.get(delimiter, repr(delimiter))
        expected = f"{which} in {declared.encoding.upper()} with the names of columns, separated by {separator}"
        raise refused(expected, other or hint)
    if len(set(names)) < len(names):
        second = next(place for place, name in enumerate(names) if name in names[:place])
        same = f"Columns {names.index(names[second]) + 1} and {second + 1} have the same name"
        hint = f"{same}: rename one of them. Or the file has no header line."
        raise refused("columns with different names", hint)
    return replace(file, columns=tuple(Column(name, Holds.ANYTHING) for name in names))


def _other_delimiter(header: bytes, delimiter: str, line_breaks: str) -> str:
    """The hint for a header whose fields may be separated by something else.

    The file is refused all the same: without a header line this is a person's row, and its separator would decide how
    everybody's rows are read.
    """
    for separator, called in _CALLED.items():
        if separator != delimiter and separator.encode() in header:
            also = " and, if decimals have commas, `thousands='.'` `decimal=','`" if separator == ";" else ""
            looks = f"It looks separated by {called}. If it is, declare the format: `delimiter={called[:-1]!r}`{also}."
            return f"{looks} {line_breaks}".rstrip()
    return ""


def rows(file: File, columns: Sequence[Column], advance: Advance = ignored, skipped: Skipped = ignored) -> Batches:
    """Some fields of every line that can be read, as nullable text. Readers of all kinds of files take this."""
    declared, width, quoted = file.declared, len(file.columns), file.declared.quoted_line_breaks
    places = {column: file.columns.index(column) for column in columns if column != LINE}
    delimiter = ord(declared.delimiter or ",")
    with closing(opened(file, advance)) as text:
        header, rest = line_and_rest(text, declared.skip_lines, quoted=quoted)
        after = file.before + declared.skip_lines + header.count(b"\n") + 2
        for number, block in whole_lines(rest, after, skipped, quoted=quoted):
            raw = np.frombuffer(block, np.uint8)
            separators, first, bad = _fields_of_lines(raw, width, delimiter, quoted=quoted)
            found = {each: _field(block, separators, first, at, last=at == width - 1) for each, at in places.items()}
            if LINE in columns:
                ends = np.flatnonzero(raw == _NEWLINE)
                skipped((number + np.searchsorted(ends, bad)).tolist())
                found[LINE] = arrow.of_numpy(number + np.searchsorted(ends, separators[first] + 1))
            yield found


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
        seen = np.cumsum(kind == _QUOTE)
        separates = (kind != _QUOTE) & (seen % 2 == 0)
        if not quoted:  # they are counted from the start of the line, and have to be paired in it
            ends = np.flatnonzero(kind == _NEWLINE)
            before = np.concatenate([[0], seen[ends][:-1]])
            inside = (seen - np.repeat(before, np.diff(ends, prepend=-1))) % 2 == 1
            separates = (kind == _NEWLINE) | ((kind == delimiter) & ~inside)
            balanced = (seen[ends] - before) % 2 == 0
        at, kind = at[separates], kind[separates]
    at = np.concatenate([[-1], at])
    last = np.flatnonzero(kind == _NEWLINE) + 1
    first = np.concatenate([[0], last[:-1]])
    begin, end = at[first] + 1, at[last]
    is_blank = (begin == end) | ((end - begin == 1) & (raw[begin] == _CARRIAGE_RETURN))
    keep = ~is_blank & (last - first == width) & (at[last] - at[first] - 1 <= LONGEST_LINE)
    keep = keep if balanced is None else keep & balanced
    return at, first[keep], begin[~keep & ~is_blank]


def _field(block: bytes, separators: NDArray[np.int64], first: NDArray[np.int64], at: int, *, last: bool) -> Array:
    """Field `at` of each line, unquoted; null where it is not well formed."""
    raw = np.frombuffer(block, np.uint8)
    begin, end = separators[first + at] + 1, separators[first + at + 1]
    if last:
        end = end - ((end > begin) & (raw[end - 1] == _CARRIAGE_RETURN))
    fields = arrow.parts_of(block, np.stack([begin, end], axis=1))
    return arrow.valid_text(_unquoted(fields) if b'"' in block else fields)


def _unquoted(fields: Array) -> Array:
    """Fields without the quotes around them, with doubled quotes inside made single; null if there are other quotes."""
    number = pc.count_substring(fields, pattern='"')
    inner = pc.binary_slice(fields, 1, -1)
    wrapped = pc.and_(pc.starts_with(fields, '"'), pc.ends_with(fields, '"'))
    pairs = pc.multiply(pc.count_substring(inner, pattern='""'), 2)
    well_formed = pc.and_(wrapped, pc.equal(pc.add(pairs, 2), number))
    unescaped = pc.if_else(well_formed, pc.replace_substring(inner, '""', '"'), None)
    return pc.if_else(pc.equal(number, 0), fields, unescaped)
