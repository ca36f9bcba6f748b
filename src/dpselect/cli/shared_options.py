"""The options that commands share, as data: what reads them, and what shows them, is imported apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpselect.privacy import Neighbours
from dpselect.public_time import Times
from dpselect.questions.command import REQUIRED, Command, Option
from dpselect.summaries.kinds import CandidateKind

if TYPE_CHECKING:
    from dpselect.formats import Format

_OF_A_LIST = "Default: the column's type; for CSV, integers if all look like it (007 does not)."

NEEDED = (
    Option("unit", "text", "Column that identifies whom a row belongs to: who is protected."),
    Option("epsilon", "number", "Privacy loss of the whole answer. Smaller is more private and less accurate."),
)
"""What every question needs."""

LIST = (
    Option("candidates_as", CandidateKind, f"Type of the candidates. {_OF_A_LIST}", default=None),
    Option("yes", "flag", "Allow more than ten million candidates.", default=False),
)
"""Of questions that choose from a list, beside the list."""

CANDIDATES = Option(
    "candidates",
    "any text",
    "Public values to choose from, whether or not they occur: 1..100, red,green,blue, @file or @codes.csv:column.",
)
CANDIDATES_IF_ANY = Option(
    "candidates",
    "any text",
    "Public values to choose from: 1..100, red,green,blue, @file or @codes.csv:column. Without them, --delta.",
    default=None,
)

GROUPS = (
    Option("by", "text", "Column with the group of each row, for one answer per group in --groups.", default=None),
    Option("groups", "any text", "Public list of groups, written like candidates.", default=None),
    Option("groups_as", CandidateKind, f"Type of the groups. {_OF_A_LIST}", default=None),
    Option(
        "max_groups_per_unit",
        "whole",
        "Groups per unit. A unit in more groups takes part in this many, chosen at random. The error grows with it.",
        default=1,
    ),
)
"""Of questions that can be asked for several groups at once."""

FORMAT = (
    Option(
        "delimiter",
        "any text",
        "Character between the cells of a CSV file, or tab, semicolon or pipe. Default: comma; tab in .tsv files.",
        default=None,
    ),
    Option(
        "encoding",
        "text",
        "Encoding of a CSV file: utf-8, latin-1, iso-8859-15, cp1250, cp1251, cp1252, utf-16, utf-16-le or utf-16-be.",
        default="utf-8",
    ),
    Option(
        "thousands",
        "any text",
        "Mark between groups of three digits, such as ','. Default: none, and 1,234 is not a number.",
        default=None,
    ),
    Option("decimal", "any text", "Decimal mark: . or ,", default="."),
    Option(
        "date_format",
        "any text",
        "Format of dates, in the words %Y %y %m %b %d, such as %d.%m.%Y. Default: %Y-%m-%d.",
        default=None,
    ),
    Option(
        "strip",
        "any text",
        "Characters to take away from both ends of numbers and behind their signs, such as '$%'. 5% is then 5.",
        default="",
    ),
    Option("ignore_case", "flag", "Compare text and groups without regard to capitals.", default=False),
    Option("trim", "flag", "Compare text and groups without the blanks around them.", default=False),
    Option("sheet", "any text", "Name of the sheet of an Excel file. Default: the only one.", default=None),
)
"""How the cells of a file are written: the words of `dpselect.Format`."""

SHARED = (
    Option(
        "neighbours",
        Neighbours,
        "Which tables the guarantee compares: one unit added or removed, or the rows of one unit replaced.",
        default=Neighbours.ADD_REMOVE,
    ),
    Option("table", "text", "For PostgreSQL: name of the table, or schema.table.", default=None),
    Option(
        "engine",
        ("duckdb", "polars", "spark"),
        "Engine that reads the file; polars and spark read only Parquet. Default: duckdb.",
        default=None,
    ),
    Option(
        "memory_limit",
        "text",
        "Memory limit for reading, such as 2GiB; what does not fit goes to a temporary folder. DuckDB only.",
        default=None,
    ),
    *FORMAT,
    Option(
        "source_name",
        "any text",
        "What the certificate calls the table, beside the names of its files without folders.",
        default=None,
    ),
    Option(
        "usable_epsilon",
        "number",
        "Epsilon for the number of units that could be used, with noise, on top of --epsilon: a warning if it is"
        " small.",
        default=None,
    ),
    Option("ledger", "text", "Ledger to charge before the answer is drawn, such as sqlite:///budget.db.", default=None),
    Option("account", "text", "Ledger account to charge.", default=None),
    Option(
        "anchor",
        "text",
        "File that records the latest entry of each account, so that an older ledger copy is refused.",
        default=None,
    ),
    Option(
        "request",
        "text",
        "An id of your choice. Repeating the same question under the same id returns the same answer at no cost.",
        default=None,
    ),
    Option(
        "times",
        Times,
        "Precision of the request time in the certificate, in UTC. A finer time would reveal something about the rows.",
        default=Times.DAY,
    ),
    Option(
        "dry_run",
        "flag",
        "Print cost and error bound; read no row, charge nothing. Exit status 2: the account would refuse it.",
        default=False,
    ),
    Option(
        "show_columns",
        "flag",
        "Print only what the columns are called, on your terminal; needs nothing but SOURCE. See dpselect columns.",
        default=False,
    ),
    Option(
        "quiet",
        "flag",
        "Print only the answer, without a progress bar; with --dry-run, only epsilon.",
        default=False,
    ),
    Option("as_json", "json", "Print the certificate as JSON instead of a table.", default=False),
)
"""Of every question."""


def options_of(about: Command) -> dict[str, tuple[Option, ...]]:
    """The options of a question by the part of its help that they are in, each part in its order."""
    listed: tuple[Option, ...] = ()
    if about.chooses:
        listed = (CANDIDATES if about.needs_list else CANDIDATES_IF_ANY, *LIST)
    needed = tuple(each for each in about.options if each.default is REQUIRED)
    own = tuple(each for each in about.options if each.default is not REQUIRED)
    return {
        "needed": (*(each for each in listed if each.default is REQUIRED), *needed, *NEEDED),
        "question": (*(each for each in listed if each.default is not REQUIRED), *own),
        "shared": SHARED,
        "groups": GROUPS,
    }


def filled(options: Sequence[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """What was given, and the defaults of what was not."""
    return {each.name: each.default for each in options if each.default is not REQUIRED} | dict(given)


def format_of(given: Mapping[str, Any]) -> Format:
    """The declared format."""
    from dpselect.formats import Format

    return Format(**{each.name: given[each.name] for each in FORMAT})
