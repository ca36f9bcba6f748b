"""Text files as blocks of whole lines, without lines of more than 1 MiB."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

from dpselect.errors import InvalidDataError, Shown

LONGEST_LINE = 1 << 20
"""Bytes of a line, without its line break; longer ones are left out."""

BLOCK = 1 << 23
"""Bytes that are read at a time."""


def first_line(path: str, shown: Shown) -> bytes:
    """The first line of a file without its end and without a byte order mark.

    Raises:
        InvalidDataError: the line is too long. It is never quoted, because it may be the first person's row.
    """
    with open(path, "rb") as file:
        line = file.readline(LONGEST_LINE + 2)
    content = line.removesuffix(b"\n").removesuffix(b"\r").removeprefix(b"\xef\xbb\xbf")
    if len(content) > LONGEST_LINE:
        raise InvalidDataError("source", shown, "a first line of at most 1 MiB with the names of the columns")
    return content


def whole_lines(file: BinaryIO, advance: Callable[[int], None]) -> Iterator[bytes]:
    """The rest of the file in blocks that end in a line break; lines that are too long may be missing."""
    pending, skipping = b"", False
    while chunk := file.read(BLOCK):
        advance(len(chunk))
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
    if pending:
        yield pending + b"\n"
