"""From arguments to an exit status: 0, 2 for bad input, 130 for Ctrl-C, 1 for anything unforeseen."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError, MissingArgumentError

from dpselect import SelectionError, __version__
from dpselect.cli import questions
from dpselect.cli.completion import completion
from dpselect.cli.doctor import doctor
from dpselect.cli.ledger import ledger_app, verify
from dpselect.cli.plan import plan

BAD_INPUT, UNFORESEEN, INTERRUPTED, BROKEN_PIPE = 2, 1, 130, 141

_ABOUT = """\
Differentially private selection from tables.

The ten pages that most sessions opened, protecting each session with epsilon 1:

    dpselect top-k clicks.parquet page 10 \\
        --unit session --candidates 1..41270 --epsilon 1

Each run spends its epsilon; several runs on the same data add up. A ledger adds
them up, and refuses what was not promised: dpselect ledger --help, and the
options --ledger and --account of every question.

How good such an answer will be, known before anything is spent and without looking at the data:

    dpselect plan --candidates-count 41270 --monotonic
"""

app = App(
    name="dpselect",
    help=_ABOUT,
    help_format="plaintext",
    version=__version__,
    exit_on_error=False,
    print_error=False,
    suppress_keyboard_interrupt=False,
    result_action="return_value",
)
for question in (
    questions.most_common,
    questions.least_common,
    questions.top_k,
    questions.best_date,
    questions.best_by,
    questions.quantile,
    questions.median,
    questions.quantiles,
    questions.mean,
    questions.price,
    questions.density,
):
    app.command(question)
app.command(plan)
app.command(ledger_app)
app.command(verify)
app.command(doctor)
app.command(completion)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: default ``sys.argv[1:]``.

    Returns:
        The exit status. Whatever goes wrong, standard output stays empty and standard error gets one line.
    """
    try:
        status = app(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except MissingArgumentError as error:
        return _report(_missing(error), BAD_INPUT)
    except (CycloptsError, SelectionError) as error:
        return _report(str(error), BAD_INPUT)
    except KeyboardInterrupt:
        if arguments is None:  # a process on its way out: a second Ctrl-C has nothing left to stop
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()  # whoever read it has seen enough
        return BROKEN_PIPE
    except OSError:
        _drop_output()
        return _report("the answer could not be written to standard output.", UNFORESEEN)
    except Exception as error:  # noqa: BLE001 - a traceback may quote a row
        return _report(f"unforeseen {type(error).__name__}; nothing was shown. Please report it.", UNFORESEEN)
    return status if isinstance(status, int) else 0


_HINTS = {
    "--candidates": " They are public values, never read from the column.",
    "--bounds": " It takes two public numbers, the smallest and the largest answer.",
}


def _missing(error: MissingArgumentError) -> str:
    """Which argument is missing; the parser's own text reads as if its value were."""
    argument = error.argument
    name = argument.name if argument is not None else ""
    if argument is None or not name or list(argument.tokens):
        return str(error)
    if not argument.required:
        return f"{name} needs a value. See --help."
    return f"{name} is required.{_HINTS.get(name, '')} See --help."


def _drop_output() -> None:
    """Keep Python from trying to write what is left once more on exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(text: str, status: int) -> int:
    print("dpselect:", " ".join(text.split()), file=sys.stderr)
    return status
