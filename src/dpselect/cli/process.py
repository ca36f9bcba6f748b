"""The process of a command: from arguments to an exit status, by standard streams that may be closed, and signals.

The status is 0, 2 for bad input, 128 and its number for a signal (130 for Ctrl-C), 1 otherwise. Also 2 for a dry run of
a question that the account would refuse, and 1 for a `doctor` who finds that nothing works and for an `audit` that
refutes a claim.
"""

from __future__ import annotations

import codecs
import errno
import gc
import os
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, TextIO

from dpselect import __version__

if TYPE_CHECKING:
    from dpselect.ledger import Receipt

BAD_INPUT, UNFORESEEN, BROKEN_PIPE = 2, 1, 141

_HELP = ("-h", "--help", "--help-all")
_GROUPS: list[list[str]] = [[], ["ledger"]]  # words that call no command, but the list of those that there are
_PATIENCE_SECONDS, _BAR = 0.5, 40  # after which a progress bar is shown, and its length


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, by default that of ``sys.argv``; its exit status.

    Whatever goes wrong, standard output stays empty and standard error gets one line.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if arguments is None:  # no command needs NumPy's threads for matrices, which spin for a while before they sleep
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    fill_closed()
    if not can_be_written(sys.stdout):
        say("standard output is closed, so no answer could be written. Nothing was read, charged or changed.")
        return BAD_INPUT
    encode_anything(sys.stdout)
    before = last_charge()
    try:
        if arguments is None and given[:1] != ["serve"]:  # whose server listens to signals itself
            _end_like_an_interrupt()
        return _run(given)
    except KeyboardInterrupt as error:
        number = next((each for each in error.args if isinstance(each, signal.Signals)), signal.SIGINT)
        if arguments is None:  # the process is ending: a second Ctrl-C has nothing left to stop
            signal.signal(number, signal.SIG_IGN)
        charged = last_charge()  # or the last one of an earlier command
        notes = [] if given[:1] in (["ledger"], ["run"], ["serve"]) else ["interrupted; nothing was charged."]
        if charged is not None and charged is not before:
            notes = [f"interrupted after entry {charged.sequence} of account {charged.account!r} was charged."]
        for note in getattr(error, "__notes__", notes):
            say(note)
        return 128 + number
    except BrokenPipeError:
        _drop_output()  # the reader has closed it
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - a traceback may quote a row
        text = f"unexpected {type(error).__name__}; nothing was shown. Please report it."
        if isinstance(error, OSError) and error.filename is None:  # of a standard stream
            _drop_output()
            hint = "Its charge stands. If the question had a --request, repeating it under the same id is free."
            text = f"the answer could not be written to standard output. {hint}"
        say(text)
        return UNFORESEEN
    finally:
        if arguments is None:
            gc.freeze()  # the process is ending: a last search for garbage would go through all libraries


def _run(given: list[str]) -> int:
    if given == ["--version"]:  # so that nothing is imported for it
        print(__version__, flush=True)
        return 0
    from dpselect.cli.commands import called, command, help_of, in_words, listed, read, without_passwords
    from dpselect.errors import AnswerNotStoredWarning, FaultError, SelectionError

    found = None
    try:
        words = [each for each in given if each not in _HELP]
        if words != given or words in _GROUPS:
            brief = "--help-all" not in given
            print(listed(*words) if words in _GROUPS else help_of(command(called(words)), brief=brief))
            return 0
        name = called(given)
        found = command(name)
        with warnings.catch_warnings():  # such as of an answer that is not stored: like an error, in one line
            warnings.simplefilter("always", AnswerNotStoredWarning)
            warnings.showwarning = _warn
            status = found.run(**read(found, given[len(name.split()) :]))
        sys.stdout.flush()
    except SelectionError as error:
        status = UNFORESEEN if isinstance(error, FaultError) else BAD_INPUT
        say(without_passwords(in_words(error, found), given))
    return status or 0


def _end_like_an_interrupt() -> None:
    """Let signals end the command as Ctrl-C does, so that it can name what was charged; not ones that are ignored."""

    def end(number: int, _frame: object) -> None:
        raise KeyboardInterrupt(signal.Signals(number))

    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", None)):  # Windows has none
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, end)


def last_charge() -> Receipt | None:
    requests = sys.modules.get("dpselect.ledger.requests")  # which brings a database with it
    return getattr(getattr(requests, "last", None), "receipt", None)


def _warn(message: Warning | str, *place: object, **more: object) -> None:
    say(f"warning: {message}")


def _drop_output() -> None:
    """Keep Python from trying on exit to write the rest again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fill_closed() -> None:
    """Open something for each closed standard stream; otherwise the next file that is opened would take its place.

    Standard output stays ``None``: there is nowhere to write an answer then.
    """
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

    def as_in_json(error: Any) -> tuple[str, int]:
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
