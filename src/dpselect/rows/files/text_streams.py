"""Text files as streams of UTF-8, however they are encoded or compressed; what one line says depends on no other line.

Bytes that mean nothing in an encoding become bytes that mean nothing in UTF-8 either, at the same place: the field that
has them is missing, as in a file of UTF-8, and everything else is read as before.

- In an encoding of one byte a character each byte is decoded by itself.
- In UTF-16 the file is a sequence of units of 16 bits, and a line ends at the unit of a line break. Half of a pair of
  surrogates, with something else after it, spoils itself alone.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, BinaryIO, Protocol

from dpselect.errors import InvalidDataError, Shown
from dpselect.rows.duckdb.arrow import pa

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
"""Ends of the names of compressed text files, and what each is called."""

_MARKS = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}

_UTF8_MARK = codecs.BOM_UTF8

_A_FILE = Shown("<file>")

START = 1 << 16
"""Bytes of the beginning of a file that are read at a time."""

_INVALID = b"\xff"
"""Stands for an incomplete character at the end of a file."""


class Bytes(Protocol):
    """What lines are read from."""

    def read(self, size: int, /) -> bytes:
        """About `size` bytes at most; none at the end of the file."""
        ...


@contextmanager
def uncompressed(path: str, advance: Callable[[int], None] = lambda _: None) -> Generator[Bytes]:
    """The bytes of a file, which the end of its name says to be compressed or not.

    Args:
        path: of the file.
        advance: called with the number of bytes of the file read since the last call.
    """
    compression = next((name for end, name in COMPRESSIONS.items() if path.lower().endswith(end)), None)
    with open(path, "rb") as file:
        inside: Any = file
        if compression is not None:
            inside = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), compression)
        yield _Counted(inside, file, advance)


@contextmanager
def opened(
    path: str, encoding: str = "utf-8", advance: Callable[[int], None] = lambda _: None, shown: Shown = _A_FILE
) -> Generator[Bytes]:
    """The text of a file as UTF-8, without a byte order mark.

    Args:
        path: of the file.
        encoding: one of `dpselect.formats.ENCODINGS`.
        advance: called with the number of bytes of the file read since the last call.
        shown: its name in errors.

    Raises:
        InvalidDataError: it should be UTF-16, and has no byte order mark.
    """
    with uncompressed(path, advance) as file:
        if encoding == "utf-16":
            encoding = _byte_order(file, shown)
        text = file if encoding == "utf-8" else _Transcoded(file, encoding)
        start = b""
        while len(start) < len(_UTF8_MARK) and (found := text.read(START)):
            start += found
        yield Continued(start.removeprefix(_UTF8_MARK), text)


def _byte_order(file: Bytes, shown: Shown) -> str:
    """The encoding that the mark at the beginning of the file tells."""
    start = file.read(1) + file.read(1)
    for name, mark in _MARKS.items():
        if start == mark:
            return name
    hint = f"Without one give the encoding {' or '.join(map(repr, _MARKS))}."
    raise InvalidDataError("source", shown, "UTF-16 with a byte order mark, as the format says", hint)


class Continued:
    """What was read already, and then the rest."""

    def __init__(self, start: bytes, rest: Bytes) -> None:
        self._start, self._rest = start, rest

    def read(self, size: int, /) -> bytes:
        """The start in one piece, however long, then blocks of the rest."""
        start, self._start = self._start, b""
        return start or self._rest.read(size)


class _Counted:
    def __init__(self, inside: Any, file: BinaryIO, advance: Callable[[int], None]) -> None:
        self._inside, self._file, self._advance = inside, file, advance
        self._done = 0

    def read(self, size: int, /) -> bytes:
        block = self._inside.read(size)
        done = self._file.tell()
        self._advance(done - self._done)
        self._done = done
        return block


class _Transcoded:
    """One block after another; what is left of a character waits for the next block."""

    def __init__(self, file: Bytes, encoding: str) -> None:
        self._file = file
        # Undefined bytes go through as they are: all of them are continuation bytes of UTF-8 without a beginning.
        self._errors = "surrogatepass" if encoding in _MARKS else "surrogateescape"
        self._decoder = codecs.getincrementaldecoder(encoding)(self._errors)

    def read(self, size: int, /) -> bytes:
        while block := self._file.read(size):
            if found := self._decoder.decode(block).encode("utf-8", self._errors):
                return found
        left, _ = self._decoder.getstate()  # of a file that is cut off within a unit, or within a pair of them
        self._decoder.reset()
        return _INVALID if left else b""
