"""``dpselect check``: what a question would read of a table, exactly, for the holder of the data."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

from cyclopts import Group

from dpselect.arguments import Argument
from dpselect.cli.asking import groups_among
from dpselect.cli.options import (
    OF_GROUPS,
    SHARED,
    Bounds,
    File,
    NumbersOrDates,
    Step,
    Text,
    in_one_piece,
    with_options,
)
from dpselect.cli.progress import scan_progress
from dpselect.cli.shared_options import FORMAT, GROUPS, filled, format_of
from dpselect.summaries.kinds import CandidateKind


def _say(text: str) -> None:
    with suppress(OSError):  # what was found is the same
        print(f"dpselect: {text}", file=sys.stderr)


_HIDDEN = Group("Options that change no row", show=False)
_NAMES = (
    "epsilon usable_epsilon delta levels scale max_values_per_unit max_rows_per_unit neighbours ledger account anchor"
    " request times source_name prices"
)
_NO_DIFFERENCE = (
    *(Argument("any text", "", name, None) for name in _NAMES.split()),
    *(Argument("flag", "", name, False) for name in ("continuous", "dry_run", "quiet")),
)
"""Options of a question that change no row it reads: understood, so that only the word for it is replaced."""


@with_options((OF_GROUPS, GROUPS), (SHARED, FORMAT), (_HIDDEN, _NO_DIFFERENCE))
@in_one_piece
def check(
    source: File,
    column: str,
    sum: str | None = None,  # the word of the question
    /,
    *,
    unit: str,
    table: str | None = None,
    candidates: Text | None = None,
    candidates_as: CandidateKind | None = None,
    between: Bounds | None = None,
    dates: Text | None = None,
    bounds: NumbersOrDates | None = None,
    step: Step | None = None,
    clip: Bounds | None = None,
    memory_limit: str | None = None,
    **more: Any,
) -> None:
    """Count what a question would read of a table and what it would leave out, and why. For the holder only.

    dpselect check adult.csv age --unit person_id --bounds 0 120 --step 1

    The numbers are exact, not private: nothing is charged, and nothing is part of a
    certificate. Without candidates and dates it is about numbers. It shows cells
    of the table: what is written to a file or a pipe, keep to yourself.

    Args:
        source: CSV, TSV, Parquet, Arrow, ORC, JSON lines or Excel file, text also as .gz or .zst; a quoted glob such as
            'clicks/*.parquet'; the folder of a Delta table; or a PostgreSQL URL, of which only units are counted.
        column: Column of the question.
        sum: For best-by: the column that it adds up.
        unit: Column that identifies whom a row belongs to.
        table: For PostgreSQL: name of the table, or schema.table.
        candidates: Candidates of the question: 1..100, red,green,blue, @file or @codes.csv:column.
        candidates_as: Type of the candidates. Default: the column's type; for CSV, integers if all look like it.
        between: For a count: two numbers.
        dates: Dates of the question: 2026-12-05,2026-12-12 or @file with one per line.
        bounds: Bounds of the question: two numbers, or the first and the last date.
        step: Step of the question.
        clip: Clip of the question: of best-by together with SUM, of sum by itself.
        memory_limit: Memory limit for reading, such as 2GiB; what does not fit goes to a temporary folder.
    """
    import dpselect as dps
    from dpselect import public

    options = filled((*GROUPS, *FORMAT), more)
    format = format_of(options)
    reading: dict[str, Any] = {} if memory_limit is None else {"memory_limit": memory_limit}
    data = dps.Dataset(source, unit=unit, table=table, format=format, **reading)

    parts = groups_among(data, source, options)
    listed: dict[str, Any] = {} if dates is None else {"dates": public.listed(dates, "dates", private=source)}
    if candidates is not None:
        kinds = data.candidate_kinds(column)
        about: dict[str, Any] = {"kind": candidates_as, "fitting": kinds, "private": source, "may_be_one": True}
        listed["candidates"] = public.listed(candidates, "candidates", **about)
    with scan_progress(wanted=True) as progress:
        found = dps.check(
            data,
            column,
            **listed,
            between=between,
            bounds=bounds,
            step=step,
            sum=sum,
            clip=clip,
            where=parts["where"],
            by=parts["by"],
            groups=parts["groups"],
            progress=progress,
        )
    if not sys.stdout.isatty():
        _say("the output is no terminal. It holds exact numbers and cells of the table: keep it to yourself.")
    print(found.as_options())
    names = [each.name.replace("_", "-") for each in _NO_DIFFERENCE if more.get(each.name)]
    if names:
        _say(f"check draws and charges nothing: --{', --'.join(names)} made no difference.")
