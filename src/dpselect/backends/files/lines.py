"""Text files as blocks of whole lines, without lines of more than 1 MiB."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dpselect.backends.files.text_streams import START, Bytes, Continued, opened
from dpselect.errors import InvalidDataError, Shown

LONGEST_LINE = 1 << 20
"""Bytes of a line in UTF-8, without its line break; longer ones are left out."""

BLOCK = 1 << 22
"""Bytes that are read at a time."""


def first_line(path: str, shown: Shown, encoding: str = "utf-8") -> bytes:
    """The first line of a file in UTF-8, without its end and without a byte order mark.

    Raises:
        InvalidDataError: the line is too long. It is never quoted, because it may be the first person's row.
    """
    line = b""
    with opened(path, encoding) as text:
        while len(line) <= LONGEST_LINE + 2 and b"\n" not in line and (found := text.read(START)):
            line += found
    content = line.partition(b"\n")[0].removesuffix(b"\r")
    if len(content) > LONGEST_LINE:
        raise InvalidDataError("source", shown, "a first line of at most 1 MiB with the names of the columns")
    return content


def after_first(text: Bytes) -> Bytes:
    """The text after its first line break."""
    while block := text.read(BLOCK):
        _, line_break, rest = block.partition(b"\n")
        if line_break:
            return Continued(rest, text)
    return text


def ignored(_: int) -> None:
    """Nobody asks how many lines are left out."""


def whole_lines(text: Bytes, skipped: Callable[[int], None] = ignored) -> Iterator[bytes]:
    """The text in blocks that end in a line break; lines that are too long may be missing, and are `skipped`."""
    pending, skipping = b"", False
    while chunk := text.read(BLOCK):
        if skipping:
            found = chunk.find(b"\n")
            if found < 0:
                continue
            chunk, skipping = chunk[found + 1 :], False
        end = chunk.rfind(b"\n") + 1
        if end:
            yield pending + chunk[:end]
            pending = chunk[end:]
        else:
            pending += chunk
        if len(pending) > LONGEST_LINE + 1:  # one more for a carriage return
            pending, skipping = b"", True
            skipped(1)
    if pending:
        yield pending + b"\n"
