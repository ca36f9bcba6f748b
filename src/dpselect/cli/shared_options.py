"""The options that commands share, as data: what reads them, and what shows them, is imported apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpselect.arguments import OF_EVERY_QUESTION, OF_VIEWS, REQUIRED, Argument
from dpselect.privacy import Neighbours
from dpselect.public_time import Times
from dpselect.questions.declared import Question
from dpselect.summaries.kinds import CandidateKind

if TYPE_CHECKING:
    from dpselect.formats import Format

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

FORMAT = (
    Argument(
        "any text",
        "Character between the cells of a CSV file, or tab, semicolon or pipe. Default: comma; tab in .tsv files.",
        "delimiter",
        None,
    ),
    Argument(
        "text",
        "Encoding of a CSV file: utf-8, latin-1, iso-8859-15, cp1250, cp1251, cp1252, utf-16, utf-16-le or utf-16-be.",
        "encoding",
        "utf-8",
    ),
    Argument(
        "any text",
        "Mark between groups of three digits, such as ','. Default: none, and 1,234 is not a number.",
        "thousands",
        None,
    ),
    Argument("any text", "Decimal mark: . or ,", "decimal", "."),
    Argument(
        "any text",
        "Format of dates, in the words %Y %y %m %b %d, such as %d.%m.%Y. Default: %Y-%m-%d.",
        "date_format",
        None,
    ),
    Argument("flag", "Where a date is asked for, read the date of a timestamp, as it is written.", "as_date", False),
    Argument(
        "any text",
        "Characters to take away from both ends of numbers and behind their signs, such as '$%'. 5% is then 5.",
        "strip",
        "",
    ),
    Argument("flag", "Compare text and groups without regard to capitals.", "ignore_case", False),
    Argument("flag", "Compare text and groups without the blanks around them.", "trim", False),
    Argument("any text", "Name of the sheet of an Excel file. Default: the only one.", "sheet", None),
    Argument(
        "whole",
        "Row of the sheet of an Excel file that names the columns; rows above it are left out.",
        "header_row",
        1,
    ),
    Argument("whole", "Lines of a CSV file that stand above its header, such as titles.", "skip_lines", 0),
    Argument(
        "flag",
        "Read line breaks inside quotes as part of the cell. One quote that is not closed then swallows the rows of "
        "others: the guarantee holds only if every row is well formed.",
        "quoted_line_breaks",
        False,
    ),
)
"""How the cells of a file are written: the words of `dpselect.Format`."""

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
        "Memory limit for reading, such as 2GiB; what does not fit goes to a temporary folder. DuckDB only.",
        "memory_limit",
        None,
    ),
    *FORMAT,
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


def filled(options: Sequence[Argument], given: Mapping[str, Any]) -> dict[str, Any]:
    """What was given, and the defaults of what was not."""
    return {each.name: each.default for each in options if each.default is not REQUIRED} | dict(given)


def format_of(given: Mapping[str, Any]) -> Format:
    """The declared format."""
    from dpselect.formats import Format

    return Format(**{each.name: given[each.name] for each in FORMAT})
