"""``dpselect check``: what a question would read of a table, exactly, for the holder of the data."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Any

from cyclopts import Parameter

from dpselect.arguments import Argument, read
from dpselect.cli.asking import groups_among
from dpselect.cli.options import OF_GROUPS, OF_QUESTION, SHARED, Table, with_options
from dpselect.cli.shared_options import CANDIDATES_AS, FORMAT, GROUPS, format_of, shared
from dpselect.cli.shared_options import SHARED as OF_QUESTIONS
from dpselect.cli.streams import say, scan_progress
from dpselect.errors import InvalidParameterError, Shown
from dpselect.questions import BY_NAME

_KNOWN = {each.name: each for about in BY_NAME.values() for each in about.options()}
_TAKEN = (
    *(replace(_KNOWN[name], default=None) for name in ("candidates", "values", "between", "dates", "step", "clip")),
    Argument("ends", "Bounds of the question: two numbers, or the first and the last date.", "bounds", None),
    CANDIDATES_AS,
)
"""Options of questions that say which rows and values are meant."""

_READING = shared("table memory_limit")
_IGNORED = tuple(
    replace(each, kind="flag" if each.kind == "flag" else "any text", default=None)
    for each in {**_KNOWN, **{each.name: each for each in OF_QUESTIONS}}.values()
    if each.kind != "json" and each.name not in {one.name for one in (*_TAKEN, *_READING, *FORMAT)}
)
"""Options that change no row it reads: understood, so that only the word for the question is replaced."""

_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SUM = Annotated[str | None, Parameter(help="For best-by: the column that it adds up.")]


@with_options(
    (OF_QUESTION, _TAKEN),
    (OF_GROUPS, GROUPS),
    (SHARED, (*_READING, *FORMAT)),
    (None, _IGNORED),
)
def check(
    source: Table,
    column: Annotated[str, Parameter(help="Column of the question.")],
    sum: _SUM = None,
    /,
    *,
    unit: Annotated[str, Parameter(help="Column that identifies whom a row belongs to.")],
    **given: Any,
) -> None:
    """Count what a question would read of a table and what it would leave out, and why. For the holder only.

    dpselect check adult.csv age --unit person_id --bounds 0 120 --step 1

    The numbers are exact, not private: nothing is charged, and nothing is part of
    a certificate. Without candidates, values and dates it is about numbers. Cells
    of the table are shown: what is written to a file or a pipe, keep to yourself.
    Of a table on a server only units are counted.
    """
    import dpselect as dps
    from dpselect import public

    reading = {each.name: given[each.name] for each in _READING if given[each.name] is not None}
    data = dps.Dataset(source, unit=unit, format=format_of(given), **reading)

    def listed(argument: str) -> Any:
        if given[argument] is None:
            return None
        kind, kinds = given["candidates_as"], data.candidate_kinds(column)
        return public.listed(given[argument], argument, kind=kind, fitting=kinds, private=source, may_be_one=True)

    parts = groups_among(data, source, given)
    ends = None if given["bounds"] is None else _ends(given["bounds"])
    lists = {name: listed(name) for name in ("candidates", "values", "dates")}
    numbers = {name: given[name] for name in ("between", "step", "clip")}
    groups = {name: parts[name] for name in ("by", "groups")}
    asked = data if parts["where"] is None else data.where(parts["where"])
    with scan_progress() as progress:
        found = dps.check(asked, column, bounds=ends, sum=sum, progress=progress, **lists, **numbers, **groups)
    if not sys.stdout.isatty():
        say("the output is no terminal. It holds exact numbers and cells of the table: keep it to yourself.")
    print(found)
    useless = [each.name.replace("_", "-") for each in _IGNORED if given[each.name]]
    if useless:
        say(f"check draws and charges nothing: --{', --'.join(useless)} made no difference.")


def _ends(bounds: tuple[str, str]) -> tuple[str, str] | tuple[float | Fraction, float | Fraction]:
    """Two dates, or two numbers."""
    if all(_DATE.fullmatch(end) for end in bounds):
        return bounds
    try:
        return read("bounds", "bounds", *bounds)
    except InvalidParameterError:
        expected = "two numbers such as 0 120, or two dates such as 2026-12-01 2026-12-31"
        raise InvalidParameterError("bounds", Shown("<two texts>"), expected) from None
