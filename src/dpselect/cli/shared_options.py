"""The options that commands share, as data: what reads them, and what shows them, is imported apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpselect.arguments import OF_EVERY_QUESTION, OF_VIEWS, REQUIRED, Argument
from dpselect.formats import WORDS, Format
from dpselect.privacy import Neighbours, Times
from dpselect.questions.question import Question
from dpselect.summaries.kinds import CandidateKind

_OF_A_LIST = "Default: the column's type; for CSV, integers if all look like it (007 does not)."

UNIT = Argument(
    "text",
    "Column that identifies whom a row belongs to: who is protected; or rows, if each row is another person.",
    "unit",
)
"""What every question needs, besides an epsilon."""

CANDIDATES_AS = Argument(CandidateKind, f"Type of the candidates. {_OF_A_LIST}", "candidates_as", None)
"""Of questions that choose from a list, beside the list."""

GROUPS = (*OF_VIEWS, Argument(CandidateKind, f"Type of the groups. {_OF_A_LIST}", "groups_as", None))
"""Of questions that are answered for several groups."""

SHARED = (
    Argument(
        Neighbours,
        "Which tables the guarantee compares: one unit added or removed, or the rows of one unit replaced.",
        "neighbours",
        Neighbours.ADD_REMOVE,
    ),
    Argument("text", "For PostgreSQL: name of the table, or schema.table.", "table", None),
    Argument(
        "text",
        "Memory for grouping rows, such as 2GiB, before they go to a temporary folder. Reading takes 400 MiB more.",
        "memory_limit",
        None,
    ),
    *WORDS,
    Argument(
        "any text",
        "What the certificate calls the table, beside the names of its files without folders.",
        "source_name",
        None,
    ),
    *OF_EVERY_QUESTION,
    Argument("text", "Ledger to charge before the answer is drawn, such as sqlite:///budget.db.", "ledger", None),
    Argument("text", "Ledger account to charge.", "account", None),
    Argument(
        "text",
        "File that records the latest entry of each account, so that an older ledger copy is refused.",
        "anchor",
        None,
    ),
    Argument(
        Times,
        "Precision of the request time in the certificate, in UTC. A finer time would reveal something about the rows.",
        "times",
        Times.DAY,
    ),
    Argument(
        "flag",
        "Print cost and error bound; read no row, charge nothing. Exit status 2: the account would refuse it.",
        "dry_run",
        False,
    ),
    Argument("flag", "Print only the answer, without a progress bar; with --dry-run, only epsilon.", "quiet", False),
    Argument("json", "Print the certificate as JSON instead of a table.", "as_json", False),
)
"""Of every question."""


def options_of(about: type[Question]) -> dict[str, tuple[Argument, ...]]:
    """The options of a question by the part of its help that they are in, each part in its order."""
    listed = (CANDIDATES_AS,) if about.chooses() else ()
    needed = tuple(each for each in about.options() if each.default is REQUIRED)
    return {
        "needed": (UNIT, *needed),
        "question": (*(each for each in about.options() if each.default is not REQUIRED), *listed),
        "shared": SHARED,
        "groups": GROUPS,
    }


def shared(names: str) -> tuple[Argument, ...]:
    """Those of these names that commands without a question take, too."""
    return tuple(each for name in names.split() for each in SHARED if each.name == name)


def option_name(option: Argument) -> str:
    """As it is typed."""
    return "--json" if option.kind == "json" else f"--{option.name.replace('_', '-')}"


def filled(options: Sequence[Argument], given: Mapping[str, Any]) -> dict[str, Any]:
    """What was given, and the defaults of what was not."""
    return {each.name: each.default for each in options if each.default is not REQUIRED} | dict(given)


def format_of(given: Mapping[str, Any]) -> Format:
    """The declared format."""
    return Format(**{each.name: given[each.name] for each in WORDS})
