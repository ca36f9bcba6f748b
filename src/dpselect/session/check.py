"""Exactly which rows a question would count, for the holder of the data, before anything is asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from fractions import Fraction

from dpselect.arguments import finite_bounds, memory_size
from dpselect.backends.columns import Column, check_numeric
from dpselect.backends.contract import Table
from dpselect.backends.opening import open_table
from dpselect.backends.rows import StreamTable
from dpselect.errors import InvalidCandidatesError, InvalidDataError, InvalidParameterError, Shown
from dpselect.formats import Format, declared
from dpselect.session.findings import Check
from dpselect.session.rows import Rows
from dpselect.summaries import PublicCandidates, PublicDomain, PublicGroups
from dpselect.summaries.dates import public_dates

Ends = tuple[float, float]


def check(
    source: object,
    column: str,
    *,
    unit: str,
    candidates: object = None,
    dates: object = None,
    prices: object = None,
    bounds: tuple[object, object] | None = None,
    step: float | None = None,
    continuous: bool = False,
    sum: str | None = None,  # the word that says it, here and in `Dataset.best_by`
    clip: tuple[float | Fraction, float | Fraction] | None = None,
    by: str | None = None,
    groups: object = None,
    format: Format | None = None,
    memory_limit: str | int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Check:
    """Count exactly what a question would read of a table, and what it would leave out, and why.

    For the holder of the data only: what it returns is not private and must not be shown to others. It charges nothing
    and is part of no release. Candidates, bounds or an epsilon chosen by it are outside the guarantee
    (``docs/checking.md``).

    Args:
        source: as for `dpselect.Dataset`; a file, or a frame in memory.
        column: name of the column of the question.
        unit: name of the column that identifies whom a row belongs to.
        candidates, dates, prices: of the question. Without candidates and dates it is about numbers.
        bounds: of the question: two numbers, or the first and the last date.
        step, continuous: of the question.
        sum, clip: of the question: the column that is summed for each candidate, and the most that a unit adds.
        by, groups: of the question.
        format, memory_limit, progress: as for `dpselect.Dataset`.

    Returns:
        What was found: print it.

    Raises:
        InvalidCandidatesError: the candidates, dates or groups are no such list.
        InvalidDataError: there is no such table or column, or it is on a server or in another engine.
        InvalidParameterError: another argument is invalid.

    >>> import dpselect as dps
    >>> checked = dps.check("examples/data/adult.csv", "capital_gain", unit="person_id", bounds=(0, 90_000))
    >>> for problem in checked.problems:
    ...     print(problem)
    159 of 32,561 rows (0.5%) are 99999, often a word for a missing value. If it is one here, leave these rows out.
    32,551 of 32,561 rows (100.0%) share their value with another row. All are multiples of 1. Try --step 1.
    29,849 of 32,561 rows (91.7%) have the same value.
    159 of 32,561 rows (0.5%) are above the upper bound, and are counted as if they were equal to it.
    """
    most = None if memory_limit is None else memory_size(memory_limit, "memory_limit")
    format = declared(format)
    table = open_table(source, memory_limit=most, format=format)
    if not isinstance(table, StreamTable):
        raise _elsewhere(table)
    listed, ends = _values_of(candidates, dates, bounds, step)
    if continuous and step is not None:
        raise InvalidParameterError("continuous", True, "False, because a step is given")
    rows = Rows(table, origin="", unit=unit, format=format)
    parts = PublicGroups.given(by, groups, 1)
    if listed is not None:
        rows.check_compared(listed)
    if parts is not None:
        rows.check_compared(parts.members, argument="groups")
    clipped = _clipped(listed, sum, clip)
    asked = rows.check(column)
    amounts = None if clipped is None else rows.check(clipped[0], argument="sum")
    if amounts is not None:
        check_numeric(amounts, argument="sum")

    def inspect(found: Column, members: PublicCandidates | None, within: Ends | None) -> Check:
        inspected = table.inspect(
            unit=rows.unit_column, column=found, candidates=members, bounds=within, progress=progress
        )
        return Check(
            column=found.name,
            unit=rows.unit,
            found=inspected,
            candidates=members,
            step=None if step is None else float(step),
            chooses_between=found == asked and prices is None and (continuous or not found.is_whole),
            format=format,
        )

    answer = inspect(asked, listed, ends)
    if parts is not None:
        answer = replace(answer, groups=inspect(rows.check(parts.column, argument="by"), parts.members, None))
    if amounts is not None and clipped is not None:
        answer = replace(answer, amounts=inspect(amounts, None, clipped[1]))
    if parts is None and amounts is None:
        return answer
    numbers = {} if amounts is None else {"amount": amounts}
    matched = {} if parts is None else {"part": (rows.check(parts.column, argument="by"), parts.members)}
    both = table.together(
        unit=rows.unit_column,
        matched=matched if listed is None else {"value": (asked, listed), **matched},
        numbers=numbers if listed is not None else {"value": asked, **numbers},
        progress=progress,
    )
    return replace(answer, together=both)


def _values_of(
    candidates: object, dates: object, bounds: tuple[object, object] | None, step: float | None
) -> tuple[PublicCandidates | None, Ends | None]:
    """The candidates, and the bounds of numbers; what the question would refuse is refused here, too."""
    between_dates = bounds is not None and any(isinstance(end, str | date) for end in bounds)
    if dates is not None or between_dates:
        if candidates is not None:
            raise InvalidCandidatesError("candidates", candidates, "nothing, because dates are given")
        return public_dates(dates, bounds=bounds, step=1 if step is None else step), None
    ends = None if bounds is None else finite_bounds(bounds)
    if step is not None:
        PublicDomain.given(bounds, step=step)
    listed = None if candidates is None else PublicCandidates.given(candidates)
    return listed, None if ends is None else (float(ends[0]), float(ends[1]))


def _clipped(listed: PublicCandidates | None, column: str | None, clip: object) -> tuple[str, Ends] | None:
    """The column that is summed, and what one unit may add."""
    if column is None and clip is None:
        return None
    if column is None:
        raise InvalidParameterError("clip", Shown("<two numbers>"), "sum together with it: the column that is summed")
    if listed is None:
        raise InvalidCandidatesError("candidates", None, "the public list of values to choose from")
    lower, upper = finite_bounds(clip, "clip")
    return column, (float(lower), float(upper))


def _elsewhere(table: Table) -> InvalidDataError:
    """A table whose rows are in another engine, and how some of them are had."""
    hint = (
        "Check some of its rows in a frame: frame.limit(1_000_000).toPandas() of Spark, .head(1_000_000).collect() of"
    )
    hint += " Polars, pandas.read_sql with LIMIT 1000000 of a server. Give that frame to dpselect.check."
    return InvalidDataError("source", Shown(table.shown), "a file that DuckDB reads, or a frame in memory", hint)
