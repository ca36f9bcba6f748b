"""The standard streams: whether anybody can read the answer, checked before it is charged; tables; progress."""

from __future__ import annotations

import codecs
import errno
import os
import select
import sys
import time
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import TextIO

_PATIENCE_SECONDS, _BAR = 0.5, 40  # after which a progress bar is shown, and its length


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
    try:
        return os.write(stream.fileno(), b"") == 0
    except (OSError, ValueError) as error:  # also of one in memory, which has no number
        return getattr(error, "errno", None) != errno.EBADF


def encode_anything(stream: TextIO) -> None:
    """Write characters that the stream's encoding lacks as JSON escapes, so that no answer that was charged is lost."""

    def as_in_json(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        import json

        return json.dumps(error.object[error.start : error.end])[1:-1], error.end

    codecs.register_error("dpselect.json", as_in_json)
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="dpselect.json")


def refuse_unread() -> None:
    """Raise `BrokenPipeError` if the reader of standard output has gone, as far as the system can tell."""
    if not hasattr(select, "poll"):  # on Windows only writing shows it
        return
    watched = select.poll()
    with suppress(OSError, ValueError):  # one in memory has no number
        watched.register(sys.stdout.fileno(), 0)
    if any(happened & (select.POLLERR | select.POLLHUP) for _, happened in watched.poll(0)):
        raise BrokenPipeError


def say(text: str) -> None:
    """Say something on standard error; if nobody can read it, the answer is the same."""
    with suppress(OSError):
        print("dpselect:", " ".join(text.split()), file=sys.stderr)


def printable_lines(text: str) -> str:
    """`printable`, of each line."""
    from dpselect.errors import printable

    return "\n".join(map(printable, text.split("\n")))


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, right: Collection[int] = ()) -> str:
    """Rows below their heads, printable; see `text_table`."""
    from dpselect.errors import printable
    from dpselect.questions.wording import text_table

    return text_table([*map(printable, heads)], [[*map(printable, row)] for row in rows], right=right)


@contextmanager
def scan_progress(*, wanted: bool = True) -> Generator[Callable[[float], None] | None]:
    """A bar on standard error that shows how much was read: what to call with the fraction; None if nobody sees it."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    start, is_shown = time.monotonic(), False

    def advance(fraction: float) -> None:
        nonlocal is_shown
        is_shown = is_shown or time.monotonic() - start >= _PATIENCE_SECONDS
        if is_shown:
            _draw(f"\rreading {'#' * round(_BAR * fraction):-<{_BAR}} {fraction:4.0%}")

    try:
        yield advance
    finally:
        if is_shown:
            _draw(f"\r{'':{_BAR + 13}}\r")


def _draw(text: str) -> None:
    with suppress(OSError):
        print(text, end="", file=sys.stderr, flush=True)
