"""Text files as blocks of whole lines of UTF-8, however they are encoded or compressed.

Bytes that mean nothing in an encoding become bytes that mean nothing in UTF-8 either, at the same place: the field that
has them is missing, as in a file of UTF-8, and everything else is read as before.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from dpselect.errors import InvalidDataError, Shown
from dpselect.formats import Format
from dpselect.rows.columns import Column
from dpselect.rows.duckdb.arrow import pa

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
"""Ends of the names of compressed text files, and what each is called."""

LONGEST_LINE = 1 << 20
"""Bytes of a line in UTF-8, without its line break; longer ones are left out."""
BLOCK, START = 1 << 22, 1 << 16
"""Bytes that are read at a time, and first; of what is compressed a quarter, so that Ctrl-C is heard as soon."""
_MARKS = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
_A_FILE = Shown("<file>")
PLAIN = Format()
"""Of files of which nothing is declared."""


def ignored(_: Any) -> None:
    """Nobody asks which lines are left out, or how much was read."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What is to be read of one file.

    Attributes:
        path, shown: of the file; its name in errors.
        columns, among: those wanted, in this order; all that it has.
        declared: how its cells are written.
        advance: called with the number of bytes read since the last call.
        numbered: whether lines of text have their numbers, from 1, behind the other columns.
        before: how many lines are counted before the first.
        skipped: called with the numbers of lines, blank ones aside, that cannot be read since the last call.
    """

    path: str
    columns: Sequence[Column]
    among: tuple[Column, ...] = ()
    declared: Format = PLAIN
    shown: Shown = _A_FILE
    advance: Callable[[int], None] = ignored
    numbered: bool = False
    before: int = 0
    skipped: Callable[[list[int]], None] = ignored


def blocks_of(path: str, advance: Callable[[int], None] = ignored) -> Generator[bytes]:
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


def opened(
    path: str, encoding: str = "utf-8", advance: Callable[[int], None] = ignored, shown: Shown = _A_FILE
) -> Generator[bytes]:
    """The text of a file as blocks of UTF-8, without a byte order mark; UTF-16 has to have one."""
    with closing(blocks_of(path, advance)) as blocks:
        text: Iterator[bytes] = blocks
        if encoding == "utf-16":
            start = first_bytes(blocks, 2)
            known = [name for name, mark in _MARKS.items() if start.startswith(mark)]
            if not known:
                hint = f"Without one give the encoding {' or '.join(map(repr, _MARKS))}."
                raise InvalidDataError("source", shown, "UTF-16 with a byte order mark, as the format says", hint)
            (encoding,), text = known, chain([start[2:]], blocks)
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
    errors = "surrogatepass" if encoding in _MARKS else "surrogateescape"
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    yield from filter(None, (decoder.decode(block).encode("utf-8", errors) for block in blocks))
    if decoder.getstate()[0]:  # of a file that is cut off within a unit, or within a pair of them
        yield b"\xff"


def header_and_rest(text: Iterator[bytes], shown: Shown, declared: Format = PLAIN) -> tuple[bytes, Iterator[bytes]]:
    """The line that names the columns, without its end, and the text after it.

    If it is too long it is refused, and never quoted, because it may be the first person's row.
    """
    for _ in range(declared.skip_lines):
        for block in text:
            _, line_break, rest = block.partition(b"\n")
            if line_break:
                text = chain([rest], text)
                break
    line, end = b"", 0
    while len(line) <= LONGEST_LINE + 2 and not end and (found := next(filter(None, text), b"")):
        line += found
        end = _ends(line, 0)[0] if declared.quoted_line_breaks else line.find(b"\n") + 1
    content = (line[: end - 1] if end else line).removesuffix(b"\r")
    if len(content) > LONGEST_LINE:
        raise InvalidDataError("source", shown, "a first line of at most 1 MiB with the names of the columns")
    return content, chain([line[end:] if end else b""], text)


def _ends(block: bytes, inside: int) -> tuple[int, int, int]:
    """Behind the first and the last line break outside quotes, or 0; and 1 if the text ends `inside` quotes, else 0."""
    raw = np.frombuffer(block, np.uint8)
    open_quotes = (inside + np.cumsum(raw == ord('"'), dtype=np.int32)) % 2
    ends = np.flatnonzero((raw == ord("\n")) & (open_quotes == 0)) + 1
    return (int(ends[0]), int(ends[-1]), int(open_quotes[-1])) if ends.size else (0, 0, int(open_quotes[-1]))


def whole_lines(
    text: Iterator[bytes], first: int = 1, skipped: Callable[[list[int]], None] = ignored, *, quoted: bool = False
) -> Iterator[tuple[int, bytes]]:
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


def numbered_lines(path: str, encoding: str, wanted: Collection[int], *, before: int) -> dict[int, bytes]:
    """Some lines of a file, by their numbers, of which so many come before the first."""
    found, rest = dict[int, bytes](), b""
    with closing(opened(path, encoding)) as text:
        for block in chain(text, [b"\n"]):
            *whole, rest = (rest + block).split(b"\n")
            found |= {number: line for number, line in enumerate(whole, before + 1) if number in wanted}
            before += len(whole)
            if before >= max(wanted):
                break
    return found
