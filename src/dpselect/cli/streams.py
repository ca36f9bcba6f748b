"""Whether anybody can read the answer: checked before it is charged, not after."""

from __future__ import annotations

import codecs
import errno
import os
import select
import sys
from io import TextIOWrapper
from typing import TextIO


def fill_closed() -> None:
    """Open something for each closed standard stream; otherwise the next file that is opened would take its place.

    Standard output stays ``None``: there is nowhere to write an answer then.
    """
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for as long as the process lives


def can_be_written(stream: TextIO | None) -> bool:
    """Whether `stream` is open, and for writing."""
    if stream is None or stream.closed:
        return False
    if _has_number(stream):
        try:
            os.write(stream.fileno(), b"")
        except OSError as error:
            return error.errno != errno.EBADF
    return True


def encode_anything(stream: TextIO) -> None:
    """Write characters that the stream's encoding lacks as JSON escapes, so that no answer that was charged is lost."""
    codecs.register_error("dpselect.json", _as_in_json)
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="dpselect.json")


def _as_in_json(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    import json

    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def refuse_unread() -> None:
    """Check whether the reader of standard output has gone, as far as the system can tell.

    Raises:
        BrokenPipeError: the reader has gone.
    """
    if not hasattr(select, "poll") or not _has_number(sys.stdout):  # on Windows only writing shows it
        return
    watched = select.poll()
    watched.register(sys.stdout.fileno(), 0)
    if any(happened & (select.POLLERR | select.POLLHUP) for _, happened in watched.poll(0)):
        raise BrokenPipeError


def _has_number(stream: TextIO) -> bool:
    """Whether it is a stream of the system; one in memory is not."""
    try:
        stream.fileno()
    except (OSError, ValueError):
        return False
    return True


def refuse_readers(why: str, *, allowed: bool) -> None:
    """Refuse to write what only the holder of the data may see to anything but a terminal, unless it is `allowed`."""
    if not (allowed or sys.stdout.isatty()):
        from dpselect.errors import SelectionError

        raise SelectionError(f"the output is no terminal, and {why}. If only you read it: --to-file-i-keep-private.")


def printable(text: str) -> str:
    """`text`, unless it would move the cursor, or worse; then as Python writes it."""
    return text if text.isprintable() else repr(text)
