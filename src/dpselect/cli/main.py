"""From arguments to an exit status: 0, 2 for bad input, 130 for Ctrl-C, 1 for anything unforeseen.

Also 2 for a dry run of a question that the account would refuse, and 1 for a `doctor` who finds that nothing works.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from cyclopts import CycloptsError

from dpselect import AnswerNotStoredWarning, FaultError, SelectionError
from dpselect.cli.app import app
from dpselect.cli.check import check
from dpselect.cli.columns import columns, rewritten
from dpselect.cli.completion import completion
from dpselect.cli.doctor import doctor
from dpselect.cli.help_text import in_one_piece
from dpselect.cli.ledger import ledger_app, verify
from dpselect.cli.options import with_two_words
from dpselect.cli.output import encode_anything
from dpselect.cli.passwords import without_passwords
from dpselect.cli.plan import plan
from dpselect.cli.question_options import REFUSED
from dpselect.cli.questions import COMMANDS, command_of, usage_of
from dpselect.cli.run import run
from dpselect.cli.serve import serve
from dpselect.cli.streams import can_be_written, fill_closed
from dpselect.cli.wording import file_named, in_words, misread, names_of

BAD_INPUT, UNFORESEEN, INTERRUPTED, BROKEN_PIPE = REFUSED, 1, 130, 141

for about in COMMANDS:
    app.command(command_of(about), alias=about.alias or None, usage=usage_of(about))
app.command(in_one_piece(check))
app.command(in_one_piece(columns))
app.command(in_one_piece(plan))
app.command(in_one_piece(run))
app.command(in_one_piece(serve))
app.command(ledger_app)
app.command(verify)
app.command(doctor)
app.command(completion)

_QUESTIONS = {name for about in COMMANDS for name in (about.name.replace("_", "-"), about.alias) if name}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: default ``sys.argv[1:]``.

    Returns:
        The exit status. Whatever goes wrong, standard output stays empty and standard error gets one line.
    """
    given = rewritten(with_two_words(sys.argv[1:] if arguments is None else arguments), app, _QUESTIONS)
    fill_closed()
    if not can_be_written(sys.stdout):
        text = "standard output is closed, so no answer could be written. Nothing was read, charged or changed."
        return _report(text, BAD_INPUT)
    encode_anything(sys.stdout)
    try:
        return _run(given)
    except KeyboardInterrupt:
        if arguments is None:  # the process is ending: a second Ctrl-C has nothing left to stop
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()  # the reader has closed it
        return BROKEN_PIPE
    except OSError as error:
        if error.filename is not None:  # a standard stream has none
            return _unforeseen(error)
        _drop_output()
        hint = "Its charge stands. If the question had a --request, repeating it under the same id is free."
        return _report(f"the answer could not be written to standard output. {hint}", UNFORESEEN)
    except Exception as error:  # noqa: BLE001 - a traceback may quote a row
        return _unforeseen(error)


def _run(given: list[str]) -> int:
    try:
        with _warnings_in_one_line():
            status = app(given)
        sys.stdout.flush()
    except (CycloptsError, SelectionError) as error:
        status = UNFORESEEN if isinstance(error, FaultError) else BAD_INPUT
        return _report(without_passwords(_in_words(error, given), given), status)
    return status if isinstance(status, int) else 0


def _unforeseen(error: Exception) -> int:
    return _report(f"unexpected {type(error).__name__}; nothing was shown. Please report it.", UNFORESEEN)


def _in_words(error: CycloptsError | SelectionError, arguments: Sequence[str]) -> str:
    names = names_of(app, arguments)
    if said := file_named(arguments):
        return said
    return misread(error, arguments, names) if isinstance(error, CycloptsError) else in_words(error, names, arguments)


@contextmanager
def _warnings_in_one_line() -> Generator[None]:
    """Report an answer that is not stored like an error, without a place in the code."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", AnswerNotStoredWarning)
        shown = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, AnswerNotStoredWarning):
                _report(f"warning: {message}", 0)
            else:
                shown(message, category, *place, **more)

        warnings.showwarning = show
        yield


def _drop_output() -> None:
    """Keep Python from trying on exit to write the rest again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(text: str, status: int) -> int:
    with suppress(OSError):  # if nobody can read it, the status still tells
        print("dpselect:", " ".join(text.split()), file=sys.stderr)
    return status
