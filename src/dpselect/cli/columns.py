"""``dpselect columns``, and ``--show-columns`` of every question: what the columns are called, for the holder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from cyclopts import App

from dpselect.cli.options import SHARED, File, Flag, in_one_piece, with_options
from dpselect.cli.shared_options import FORMAT, filled, format_of
from dpselect.cli.streams import printable, refuse_readers

if TYPE_CHECKING:
    from dpselect.formats import Format

_OPTION = "--show-columns"


@with_options((SHARED, FORMAT))
@in_one_piece
def columns(
    source: File,
    /,
    *,
    table: str | None = None,
    to_file_i_keep_private: Flag = False,
    **written: Any,
) -> None:
    """Show what the columns are called, and their types where the format has types.

    dpselect columns adult.csv

    Only to a terminal, because a CSV file without a header line has somebody's
    row in the first line. The same: any question with --show-columns.

    Args:
        source: CSV, TSV, Parquet, Arrow, ORC, JSON lines or Excel file, text also as .gz or .zst; a quoted glob such as
            'clicks/*.parquet'; or a PostgreSQL URL.
        table: For PostgreSQL: name of the table, or schema.table.
        to_file_i_keep_private: Allow standard output to be a file or a pipe, which nobody else reads.
    """
    format = format_of(filled(FORMAT, written))
    show_columns(source, table=table, format=format, allowed=to_file_i_keep_private)


def show_columns(source: str, *, table: str | None, format: Format, allowed: bool = False) -> None:
    """Print them, if standard output is a terminal or it is `allowed`."""
    refuse_readers("a first line may be somebody's row", allowed=allowed)
    from dpselect.formats import declared
    from dpselect.rows.columns import Holds
    from dpselect.rows.opening import open_table

    found = open_table(source, table=table, format=declared(format)).engine.columns
    named = [(printable(each.name), each.holds) for each in found]
    lines = [(name, "" if holds is Holds.ANYTHING else str(holds)) for name, holds in named]
    width = max(len(name) for name, _ in lines)
    for name, holds in lines:
        print(f"{name:<{width}}  {holds}".rstrip())


def rewritten(arguments: Sequence[str], app: App, questions: Iterable[str]) -> list[str]:
    """The arguments of `columns` in place of those of a question with ``--show-columns``; others as they are.

    A question takes more than the source, which nobody can give who does not know the columns. So what only the
    question takes is left out.

    >>> from dpselect.cli.app import app
    >>> given = ["median", "--unit", "who", "people.csv", "--show-columns", "--table", "t"]
    >>> rewritten(given, app, ["median"])
    ['columns', 'people.csv', '--table', 't']
    """
    if not arguments or arguments[0] not in questions or _OPTION not in arguments or "--help" in arguments:
        return list(arguments)
    lengths = _lengths(app[arguments[0]])
    shared = _lengths(app["columns"])
    kept, sources, rest = list[str](), list[str](), [each for each in arguments[1:] if each != _OPTION]
    while rest:
        name, inline, _ = rest[0].partition("=")
        taken = 1 if inline else 1 + lengths.get(name, 0)
        if not name.startswith("--"):
            sources.append(rest[0])
        elif name in shared or name not in lengths:  # an unknown option is refused as ever
            kept += rest[:taken]
        rest = rest[taken:]
    return ["columns", *sources[:1], *kept]


def _lengths(command: App) -> dict[str, int]:
    """How many values each option of a command takes."""
    found = command.assemble_argument_collection()
    return {name: each.token_count()[0] for each in found for name in each.names if name.startswith("--")}
