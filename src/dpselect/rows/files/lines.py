"""Text files as blocks of whole lines, without lines of more than 1 MiB.

A line break always ends a line, so that no line depends on another. Only if the caller declares it, a line break inside
quotes does not: then quotes are counted from the header on, and one that nobody closes swallows the lines after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from dpselect.errors import InvalidDataError, Shown
from dpselect.rows.files.text_streams import START, Bytes, Continued

LONGEST_LINE = 1 << 20
"""Bytes of a line in UTF-8, without its line break; longer ones are left out."""

BLOCK = 1 << 22
"""Bytes that are read at a time."""


def ignored(_: int) -> None:
    """Nobody asks how many lines are left out."""


def header_and_rest(text: Bytes, shown: Shown, *, above: int = 0, quoted: bool = False) -> tuple[bytes, Bytes]:
    """The line that names the columns, without its end, and the text after it.

    Args:
        text: from its beginning.
        shown: its name in errors.
        above: lines before it, which are left out.
        quoted: whether line breaks inside quotes are part of the line.

    Raises:
        InvalidDataError: the line is too long. It is never quoted, because it may be the first person's row.
    """
    for _ in range(above):
        text = _after_line(text)
    line, end = b"", 0
    while len(line) <= LONGEST_LINE + 2 and not end and (found := text.read(START)):
        line += found
        end = _ends(line, 0)[0] if quoted else line.find(b"\n") + 1
    content = (line[: end - 1] if end else line).removesuffix(b"\r")
    if len(content) > LONGEST_LINE:
        raise InvalidDataError("source", shown, "a first line of at most 1 MiB with the names of the columns")
    return content, Continued(line[end:] if end else b"", text)


def _after_line(text: Bytes) -> Bytes:
    while block := text.read(START):
        _, line_break, rest = block.partition(b"\n")
        if line_break:
            return Continued(rest, text)
    return text


def _ends(block: bytes, inside: int) -> tuple[int, int, int]:
    """Behind the first and the last line break outside quotes, or 0; and 1 if the block ends inside quotes, else 0.

    Args:
        block: some text.
        inside: the same of the text before.
    """
    raw = np.frombuffer(block, np.uint8)
    open_quotes = (inside + np.cumsum(raw == ord('"'), dtype=np.int32)) % 2
    ends = np.flatnonzero((raw == ord("\n")) & (open_quotes == 0)) + 1
    return (int(ends[0]), int(ends[-1]), int(open_quotes[-1])) if ends.size else (0, 0, int(open_quotes[-1]))


def whole_lines(text: Bytes, skipped: Callable[[int], None] = ignored, *, quoted: bool = False) -> Iterator[bytes]:
    """The text in blocks that end in a line break; lines that are too long may be missing, and are `skipped`.

    With `quoted` no block ends inside quotes; what follows a quote that nobody closes is skipped as one line.
    """
    pending, skipping, inside = b"", False, 0
    while chunk := text.read(BLOCK):
        first, last, inside = _ends(chunk, inside) if quoted else (chunk.find(b"\n") + 1, chunk.rfind(b"\n") + 1, 0)
        if skipping:
            if not first:
                continue
            chunk, last, skipping = chunk[first:], last - first, False
        if last:
            yield pending + chunk[:last]
            pending = chunk[last:]
        else:
            pending += chunk
        if len(pending) > LONGEST_LINE + 1:  # one more for a carriage return
            pending, skipping = b"", True
            skipped(1)
    if pending and inside:
        skipped(1)
    elif pending:
        yield pending + b"\n"
