"""For the holder of a table alone: what a question would read of it, exactly, and what its columns are called."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Annotated, Any

from dpselect.arguments import OF_VIEWS, TYPES, Argument
from dpselect.cli.asking import GROUPS, OF_EVERY, format_of, shared, values_of
from dpselect.cli.commands import Part, Parts, Table
from dpselect.cli.process import say, scan_progress
from dpselect.errors import printable
from dpselect.formats import WORDS, declared
from dpselect.questions.question import BY_NAME

_BOUNDS = "Bounds of the question: two numbers, or the first and the last date."
_KNOWN = {each.name: replace(each, default=None) for about in BY_NAME.values() for each in about.options()}
_KNOWN["candidates"] = replace(_KNOWN["candidates"], may_be_one=True)
_KNOWN["bounds"] = Argument("numbers or dates", _BOUNDS, "bounds", None)
_TAKEN = tuple(_KNOWN.pop(name) for name in ("candidates", "between", "dates", "step", "clip", "bounds"))
"""Options of questions that say which values are meant."""
_READING = (*shared("memory_limit"), *WORDS)
_OTHERS = [*_KNOWN.values(), *(each for each in OF_EVERY if each not in _READING and each.kind != "json")]
_IGNORED = tuple(replace(each, kind="flag" if each.kind == "flag" else "any text", default=None) for each in _OTHERS)
"""Options that change no row it reads: understood, so that only the word for the question is replaced."""
_PARTS: Parts = {
    Part.OF_QUESTION: (*_TAKEN, TYPES["candidates"]),
    Part.OF_GROUPS: GROUPS,
    Part.OF_ALL: _READING,
    Part.UNSHOWN: _IGNORED,
}


def check(
    source: Table,
    column: Annotated[str, Argument("text", "Column of the question.")],
    sum: Annotated[str | None, Argument("text", "For best-by: the column that it adds up.")] = None,
    *,
    unit: Annotated[str, Argument("text", "Column that identifies whom a row belongs to.")],
    **given: Annotated[Any, _PARTS],
) -> None:
    """Count what a question would read of a table and what it would leave out, and why. For the holder only.

    dpselect check adult.csv age --unit person_id --bounds 0 120 --step 1

    The numbers are exact, not private: nothing is charged, and nothing is part of
    a certificate. Without candidates and dates it is about numbers. Cells of the
    table are shown: what is written to a file or a pipe, keep to yourself. Rows
    on a server are not looked at.
    """
    import dpselect as dps
    from dpselect.session.dataset import seen

    reading = {name: given[name] for name in ("table", "memory_limit")}
    data = dps.Dataset(source, unit=unit, format=format_of(given), **reading)
    values = values_of((*_TAKEN, *OF_VIEWS), given | {"column": column}, data, source=source)
    view = seen(data, **{each.name: values.pop(each.name) for each in OF_VIEWS})
    with scan_progress() as progress:
        found = dps.check(view, column, sum=sum, progress=progress, **values)
    _warn_in_a_pipe("It holds exact numbers and cells of the table")
    print(found.as_options())
    if ignored := [f"--{each.name.replace('_', '-')}" for each in _IGNORED if given[each.name]]:
        say(f"check draws and charges nothing: {', '.join(ignored)} made no difference.")


def columns(source: Table, **given: Annotated[Any, {Part.OF_ALL: (*shared("table"), *WORDS)}]) -> None:
    """Show what the columns are called, and their types where the format has types.

    dpselect columns adult.csv

    For the holder only: a CSV file without a header line has somebody's row in the
    first line.
    """
    from dpselect.rows.opening import open_table

    found = open_table(source, table=given["table"], format=declared(format_of(given))).columns
    _warn_in_a_pipe("Its first line may be somebody's row")
    width = max(len(printable(each.name)) for each in found)
    for each in found:
        held = "" if each.holds is each.holds.ANYTHING else each.holds
        print(f"{printable(each.name):<{width}}  {held}".rstrip())


def _warn_in_a_pipe(what: str) -> None:
    if not sys.stdout.isatty():
        say(f"the output is no terminal. {what}: keep it to yourself.")
