"""The command line as one object. Each command is imported when it is called, or listed by ``--help``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

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

QUESTIONS = tuple(name.replace("_", "-") for name in BY_NAME)
"""The commands that ask a question of a table."""

_OTHERS = {
    "check": "dpselect.cli.check:check",
    "columns": "dpselect.cli.check:columns",
    "audit": "dpselect.cli.audit:audit",
    "plan": "dpselect.cli.plan:plan",
    "run": "dpselect.cli.run:run",
    "serve": "dpselect.cli.serve:serve",
    "ledger": "dpselect.cli.ledger:ledger_app",
    "verify": "dpselect.cli.verify:verify",
    "doctor": "dpselect.cli.doctor:doctor",
    "completion": "dpselect.cli.app:completion",
}

_SETTINGS: dict[str, Any] = {
    "name": "dpselect",
    "help_format": "plaintext",
    "version": __version__,
    "exit_on_error": False,
    "print_error": False,
    "suppress_keyboard_interrupt": False,
    "result_action": "return_value",
}
app = App(help=_ABOUT, **_SETTINGS)
for _name in QUESTIONS:
    app.command(f"dpselect.cli.options:{_name.replace('-', '_')}", name=_name)
for _name, _place in _OTHERS.items():
    app.command(_place, name=_name)


def run(arguments: Sequence[str]) -> Any:
    """Run what the arguments call.

    ``--help`` of a question fits on a screen, and ``--help-all`` says everything. If no command is called, all are
    imported, so that help has their texts.
    """
    given = ["--help" if each == "--help-all" else each for each in arguments]
    if "--help-all" not in arguments and "--help" in given and given[0] in QUESTIONS:
        from dpselect.cli.options import app_of

        brief = App(**_SETTINGS)
        brief.command(app_of(BY_NAME[given[0].replace("-", "_")], brief=True))
        return brief(given, console=app.console)
    if not given or given[0].startswith("-"):
        for name in app:
            app[name]
    return app(given)


def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print a completion script for SHELL.

    source <(dpselect completion bash)

    In zsh, run the same after compinit. In fish: dpselect completion fish | source

    Args:
        shell: Shell that will run the script.
    """
    script = app.generate_completion(prog_name="dpselect", shell=shell)
    # Offer files where nothing else is offered, as bash does for commands without a script.
    print(script.replace("\ncomplete -F ", "\ncomplete -o filenames -o default -F "))
