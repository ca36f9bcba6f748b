"""The command line as one object. Each command is imported when it is called, or listed by ``--help``."""

from __future__ import annotations

from collections.abc import Sequence

from cyclopts import App
from cyclopts import CycloptsError as CycloptsError

from dpselect import __version__
from dpselect.questions.question import BY_NAME

_ABOUT = """\
Differentially private selection from tables. The files of the examples are
in examples/data of a checkout.

The ten pages opened by the most sessions, protecting each session with
epsilon 1:

    dpselect top-k clicks.parquet page 10 \\
        --unit session --candidates 1..41270 --epsilon 1

How many there are, how many have each value, and what they add up to:

    dpselect count adult.csv --unit person_id --epsilon 0.5
    dpselect histogram adult.csv education_num \\
        --unit person_id --candidates 1..16 --epsilon 0.5
    dpselect sum adult.csv hours_per_week \\
        --unit person_id --clip 0 80 --epsilon 0.5

Each run spends its epsilon, and several runs on the same data add up. A ledger
adds them up and refuses whatever exceeds the budget: see dpselect ledger
--help, and the options --ledger and --account of every question.

How accurate such an answer will be, before anything is spent and without
looking at the data:

    dpselect plan --candidates-count 41270 --monotonic
"""

ALIASES = {"best-price": "price"}
"""Other names of commands."""

QUESTIONS = tuple(name.replace("_", "-") for name in BY_NAME)
"""The commands that ask a question of a table."""

_OTHERS = {
    "check": "dpselect.cli.check:check",
    "columns": "dpselect.cli.columns:columns",
    "plan": "dpselect.cli.plan:plan",
    "run": "dpselect.cli.run:run",
    "serve": "dpselect.cli.serve:serve",
    "ledger": "dpselect.cli.ledger:ledger_app",
    "verify": "dpselect.cli.ledger:verify",
    "doctor": "dpselect.cli.doctor:doctor",
    "completion": "dpselect.cli.completion:completion",
}

_SHOW_COLUMNS = "--show-columns"

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
for _name in QUESTIONS:
    app.command(f"dpselect.cli.questions:{_name.replace('-', '_')}", name=_name, alias=ALIASES.get(_name))
for _name, _place in _OTHERS.items():
    app.command(_place, name=_name)


def as_parsed(arguments: Sequence[str]) -> list[str]:
    """The arguments as `app` takes them. If they call no command, all are imported, so that help has their texts."""
    given = list(arguments)
    if _SHOW_COLUMNS in given:
        from dpselect.cli.columns import rewritten

        given = rewritten(given, app, [*QUESTIONS, *ALIASES.values()])
    if not given or given[0].startswith("-"):
        for name in app:
            app[name]
    return given
