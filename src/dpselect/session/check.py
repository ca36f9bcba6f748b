"""Exactly which rows a question would count, for the holder of the data, before anything is target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from typing import Any

from dpselect.backends.columns import Column, Holds, check_numeric
from dpselect.backends.opening import open_table
from dpselect.backends.rows.embedded import Embedded
from dpselect.backends.rows.table import inspect as inspect_rows
from dpselect.backends.rows.table import together as rows_together
from dpselect.backends.table import EngineTable
from dpselect.checks import boolean, finite_bounds, memory_size
from dpselect.errors import InvalidCandidatesError, InvalidParameterError, Shown, typed
from dpselect.formats import Format, declared
from dpselect.questions.counts import condition_given, listed_values
from dpselect.questions.wording import scope
from dpselect.session.asking import Asking, groups_of, rows_of
from dpselect.session.check_by_units import UnitCheck, by_units
from dpselect.session.findings import Check, Limits
from dpselect.session.rows import Rows, checked_progress
from dpselect.summaries import PublicCandidates, PublicDomain, PublicGroups
from dpselect.summaries.dates import public_dates

Ends = tuple[float, float]


def check(
    source: object,
    column: str,
    *,
    unit: str | None = None,
    table: str | None = None,
    candidates: object = None,
    values: object = None,
    between: tuple[float | Fraction, float | Fraction] | None = None,
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
) -> Check | UnitCheck:
    """Count exactly what a question would read of a table, and what it would leave out, and why.

    For the holder of the data only: what it returns is not private and must not be shown to others. It charges nothing
    and is part of no release. Candidates, bounds or an epsilon chosen by it are outside the guarantee
    (``docs/checking.md``).

    Args:
        source: as for `dpselect.Dataset`; or a `dpselect.Dataset`, which says by itself whose a row is and how it is
            written.
        column: name of the column of the question.
        unit: name of the column that identifies whom a row belongs to; not with a `Dataset`.
        table: name of the table on a server.
        candidates, dates, prices: of the question. Without candidates, values and dates it is about numbers.
        values, between: of `dpselect.Dataset.count`: some values, or two numbers.
        bounds: of the question: two numbers, or the first and the last date.
        step, continuous: of the question.
        sum, clip: of the question: the column that is summed for each candidate, and the most that a unit adds. The
            clip alone is that of `dpselect.Dataset.sum`.
        by, groups: of the question.
        format, memory_limit, progress: as for `dpselect.Dataset`.

    Returns:
        What was found: print it. Of a lazy frame, a relation's server or a cluster it is about units alone, because
        their engine is sent the same queries as by the question.

    Raises:
        InvalidCandidatesError: the candidates, dates or groups are no such list.
        InvalidDataError: there is no such table or column.
        InvalidParameterError: another argument is invalid.
        TableUnavailableError: the server cannot be reached.

    >>> import dpselect as dps
    >>> checked = dps.check("examples/data/adult.csv", "capital_gain", unit="person_id", bounds=(0, 90_000))
    >>> for problem in checked.problems:
    ...     print(problem)
    159 of 32,561 rows (0.5%) are 99999, often a word for a missing value. If it is one here, make these cells empty: no
    option leaves them out, and bounds count them as the nearest bound.
    32,551 of 32,561 rows (100.0%) share their value with another row. All are multiples of 1. Try --step 1.
    29,849 of 32,561 rows (91.7%) have the same value.
    159 of 32,561 rows (0.5%) are above the upper bound, and are counted as if they were equal to it.
    """
    rows, progress = _rows(source, unit, table, format, memory_limit), checked_progress(progress)
    target = _looked_for(column, candidates, values, between, dates, bounds, step, sum, clip)
    if boolean(continuous, "continuous") and step is not None:
        raise InvalidParameterError("continuous", True, "False, because a step is given")
    parts = None if by is None and groups is None else PublicGroups.given(by, groups, 1)
    if isinstance(source, Asking) and (seen := groups_of(source)) is not None:
        if parts is not None:
            raise InvalidParameterError("by", typed(by), "nothing, because the Dataset has its own groups")
        parts = seen
    if parts is not None and len(parts.columns) > 1:
        hint = "Check each column of a cross table by itself."
        raise InvalidParameterError("by", Shown("<several columns>"), "one column", hint)
    if target.listed is not None:
        rows.check_compared(target.listed, argument=target.argument)
    if parts is not None:
        rows.check_compared(parts.listed[0], argument="groups")
    if not isinstance(rows.table, EngineTable) or not isinstance(rows.table.engine, Embedded):
        summed = None if target.amounts is None else target.amounts[0]
        return by_units(rows, column, target.listed, parts, summed=summed, limits=target.limits, ends=target.ends)
    chooses = target.limits is Limits.BOUNDS and prices is None
    return _in_rows(rows, rows.table, column, target, parts, step, continuous, chooses, progress)


@dataclass(frozen=True, slots=True)
class _Target:
    """What the question looks for.

    Attributes:
        listed: candidates, values or dates; None: numbers.
        argument: the question's name for them.
        ends: two numbers; None: none are given.
        limits: what the two numbers are.
        amounts: the column that is summed for each candidate, and what one unit may add.
    """

    listed: PublicCandidates | None
    argument: str
    ends: Ends | None
    limits: Limits
    amounts: tuple[str, Ends] | None


def _rows(source: object, unit: str | None, table: str | None, format: Format | None, memory_limit: Any) -> Rows:
    """The rows of the source, or of a `Dataset`."""
    if isinstance(source, Asking):
        rows = rows_of(source)
        if unit not in (None, rows.unit):
            raise InvalidParameterError("unit", unit, "nothing, because the Dataset has its own")
        others = {"table": table, "format": format, "memory_limit": memory_limit}
        if given := [name for name, value in others.items() if value is not None]:
            raise InvalidParameterError(given[0], Shown("<given>"), "nothing, because the Dataset has its own")
        return rows
    if unit is None:
        raise InvalidParameterError("unit", None, "the name of the column that says whose row it is")
    most = None if memory_limit is None else memory_size(memory_limit, "memory_limit")
    format = declared(format)
    opened = open_table(source, table=table, memory_limit=most, format=format)
    return Rows(opened, origin="", unit=unit, format=format)


def _in_rows(
    rows: Rows,
    table: EngineTable,
    column: str,
    target: _Target,
    parts: PublicGroups | None,
    step: float | None,
    continuous: bool,
    chooses: bool,
    progress: Callable[[float], None] | None,
) -> Check:
    """Every row is looked at, and each that does not count has a reason."""
    main = rows.check(column)
    amounts = None if target.amounts is None else rows.check(target.amounts[0], argument="sum")
    if amounts is not None:
        check_numeric(amounts, argument="sum")

    def inspect(
        found: Column, members: PublicCandidates | None, within: Ends | None, limits: Limits = Limits.BOUNDS
    ) -> Check:
        inspected = inspect_rows(
            table, unit=rows.unit_column, column=found, candidates=members, bounds=within, progress=progress
        )
        return Check(
            column=found.name,
            unit=rows.unit,
            found=inspected,
            candidates=members,
            step=None if step is None else float(step),
            limits=limits,
            chooses_between=found == main and chooses and (continuous or not found.is_whole),
            format=rows.format,
            untyped=found.holds is Holds.ANYTHING,
            scope=scope([each.words for each in rows.conditions]),
        )

    listed = target.listed
    answer = inspect(main, listed, target.ends, target.limits)
    if parts is not None:
        answer = replace(answer, groups=inspect(rows.check(parts.column, argument="by"), parts.listed[0], None))
    if amounts is not None and target.amounts is not None:
        answer = replace(answer, amounts=inspect(amounts, None, target.amounts[1], Limits.CLIP))
    between = target.ends if target.limits is Limits.BETWEEN else None
    if parts is None and amounts is None and between is None:
        return answer
    numbers = {} if amounts is None else {"amount": amounts}
    matched = {} if parts is None else {"part": (rows.check(parts.column, argument="by"), parts.listed[0])}
    both = rows_together(
        table,
        unit=rows.unit_column,
        matched=matched if listed is None else {"value": (main, listed), **matched},
        numbers=numbers if listed is not None else {"value": main, **numbers},
        between=between,
        progress=progress,
    )
    return replace(answer, together=both)


def _looked_for(
    column: str,
    candidates: object,
    values: object,
    between: object,
    dates: object,
    bounds: tuple[object, object] | None,
    step: float | None,
    sum: str | None,
    clip: object,
) -> _Target:
    """What the question looks for; what the question would refuse is refused here, too."""
    if values is not None or between is not None:
        given = {"candidates": candidates, "dates": dates, "bounds": bounds, "step": step, "sum": sum, "clip": clip}
        if other := [name for name, value in given.items() if value is not None]:
            name = "values" if values is not None else "between"
            raise InvalidParameterError(other[0], Shown("<given>"), f"nothing, because {name} is given")
        condition = condition_given(column, listed_values(values), between)
        listed = condition.candidates
        assert listed is None or isinstance(listed, PublicCandidates)
        return _Target(listed, "values", condition.between, Limits.BETWEEN, None)
    listed, ends = _values_of(candidates, dates, bounds, step)
    if clip is not None and sum is None and listed is None:
        if bounds is not None:
            raise InvalidParameterError("bounds", Shown("<two numbers>"), "nothing, because a clip is given")
        lower, upper = finite_bounds(clip, "clip")
        return _Target(None, "candidates", (float(lower), float(upper)), Limits.CLIP, None)
    argument = "candidates" if dates is None else "dates"
    return _Target(listed, argument, ends, Limits.BOUNDS, _clipped(listed, sum, clip))


def _values_of(
    candidates: object, dates: object, bounds: tuple[object, object] | None, step: float | None
) -> tuple[PublicCandidates | None, Ends | None]:
    """The candidates, and the bounds of numbers; what the question would refuse is refused here, too."""
    between_dates = isinstance(bounds, (tuple, list)) and any(isinstance(end, str | date) for end in bounds)
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
        hint = "Without such a list, values() and top_k(), with a delta, name what enough units have."
        raise InvalidCandidatesError("candidates", None, "the public list of values to choose from", hint)
    lower, upper = finite_bounds(clip, "clip")
    return column, (float(lower), float(upper))
