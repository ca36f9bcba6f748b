"""Exactly which rows a question would count, and what the others hold: for the holder of the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpselect.checks import finite_bounds, whole_or_double_bounds
from dpselect.errors import InvalidCandidatesError, InvalidDataError, InvalidParameterError, Shown
from dpselect.formats import Format, declared
from dpselect.privacy import EachRow
from dpselect.questions.counts import listed_values
from dpselect.questions.wording import scope
from dpselect.questions.words import counted
from dpselect.rows.columns import check_match, check_numeric
from dpselect.rows.duckdb.engine import Embedded
from dpselect.rows.inspect import Look, Sought, inspected, printable
from dpselect.rows.opening import open_table
from dpselect.rows.table import Rows, checked_progress
from dpselect.session.advice import advised, as_options
from dpselect.session.asking import Asking, groups_of, rows_of
from dpselect.summaries import PublicDomain
from dpselect.summaries.candidates import UNLISTED
from dpselect.summaries.dates import are_dates, public_dates

WARNING = (
    "For the holder of the data only: these numbers are exact, and cells are shown as they stand in the table. Acting"
    " on them is outside the guarantee: choose candidates, bounds and epsilon without them."
)
_BOUNDS = ("the lower bound", "the upper bound", "and are counted as if they were equal to it")
_CLIP = ("the lower end of the clip", "the upper end of the clip", "which is added in their place")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Check:
    """What was found. Print it; it is exact, and for the holder of the data only.

    Attributes:
        column: name of the column.
        unit: name of the column that identifies whom a row belongs to.
        units: different ones, in all rows.
        usable_units: units with a row that counts.
        rows: all there are.
        usable_rows: those with a unit and all that the question asks for.
        problems: what may make an answer useless, each in a sentence; empty if nothing looks wrong.
        suggested: the declared format with the words that read what is not read; None: there is none.
        about: which values are meant, and of which rows it is, in sentences.
    """

    column: str
    unit: str
    units: int
    usable_units: int
    rows: int
    usable_rows: int
    problems: tuple[str, ...] = ()
    suggested: Format | None = None
    about: tuple[str, ...] = ()

    def as_options(self) -> Check:
        """With what the command line takes in the sentences."""
        return replace(self, problems=tuple(map(as_options, self.problems)))

    def __str__(self) -> str:
        problems = [f"- {each}" for each in self.problems] or ["Nothing looks wrong."]
        return "\n".join([WARNING, "", *self.about, "", *problems])

    def __repr__(self) -> str:
        return f"Check({self.column!r}, unit={self.unit!r})"


def check(
    source: object,
    column: str,
    *,
    unit: str | EachRow | None = None,
    candidates: object = None,
    between: tuple[float | Fraction, float | Fraction] | None = None,
    dates: object = None,
    bounds: tuple[object, object] | None = None,
    step: float | None = None,
    sum: str | None = None,  # the word that says it, here and in `Dataset.best_by`
    clip: tuple[float | Fraction, float | Fraction] | None = None,
    format: Format | None = None,
    progress: Callable[[float], None] | None = None,
) -> Check:
    """Count exactly what a question would read of a table, and show what it would leave out.

    For the holder of the data only: what it returns is not private and must not be shown to others. It charges nothing
    and is part of no release. Candidates, bounds or an epsilon chosen by it are outside the guarantee
    (``docs/checking.md``).

    Args:
        source: as for `dpselect.Dataset`; or a `dpselect.Dataset`, which says by itself whose a row is and how it is
            written, or a view of one. Of `where` only rows that meet all conditions are looked at, of `by` the groups,
            too.
        column: name of the column of the question.
        unit: name of the column that identifies whom a row belongs to; not with a `Dataset`.
        candidates, dates: of the question. Without any, and without `between`, it is about numbers.
        between: of `dpselect.Dataset.count`: two numbers.
        bounds, step: of the question: two numbers, or the first and the last date.
        sum, clip: of the question: the column that is summed for each candidate, and the most that a unit adds. The
            clip alone is that of `dpselect.Dataset.sum`.
        format, progress: as for `dpselect.Dataset`.

    Returns:
        What was found: print it.

    Raises:
        InvalidCandidatesError: the candidates or dates are no such list.
        InvalidDataError: there is no such table or column, or its rows are on a server or in Spark.
        InvalidParameterError: another argument is invalid.

    >>> import dpselect as dps
    >>> checked = dps.check("examples/data/adult.csv", "capital_gain", unit="person_id", bounds=(0, 90_000), step=1)
    >>> for problem in checked.problems:
    ...     print(problem)
    159 of 32,561 rows (0.5%) are above the upper bound, and are counted as if they were equal to it.
    """
    rows, progress = _rows(source, unit, format), checked_progress(progress)
    argument = "candidates" if dates is None else "dates"
    listed, within, ends, amount = None, None, None, None
    if between is not None:
        given = {"candidates": candidates, "dates": dates, "bounds": bounds, "step": step, "sum": sum, "clip": clip}
        _refuse_others(given, "between is given")
        within = whole_or_double_bounds(between, "between")
    elif dates is not None or are_dates(bounds):
        _refuse_others({"candidates": candidates}, "dates are given")
        listed = public_dates(dates, bounds=bounds, step=1 if step is None else step)
    elif candidates is not None:
        listed = listed_values(candidates)
    elif clip is not None and sum is None:
        _refuse_others({"bounds": bounds}, "a clip is given")
        ends = _doubles(clip, "clip")
    elif bounds is not None:
        ends = _doubles(bounds, "bounds")
        PublicDomain.given(bounds, step=step)
    if sum is not None:
        amount = _doubles(clip, "clip")
        if listed is None:
            hint = f"Without such a list, {UNLISTED}"
            raise InvalidCandidatesError("candidates", None, "the public list of values to choose from", hint)
    elif clip is not None and listed is not None:
        raise InvalidParameterError("clip", Shown("<two numbers>"), "sum together with it: the column that is summed")
    parts = groups_of(source) if isinstance(source, Asking) else None
    if parts is not None and len(parts.columns) > 1:
        hint = "Check each column of a cross table by itself."
        raise InvalidParameterError("by", Shown("<several columns>"), "one column", hint)
    said = _BOUNDS if clip is None else _CLIP
    sought = [Sought(rows.check(column), listed, within, ends, are_dates(bounds), said)]
    named = [argument]
    if parts is not None:
        sought.append(Sought(rows.check(parts.column, argument="by"), parts.listed[0]))
        named.append("groups")
    if sum is not None:
        sought.append(Sought(rows.check(sum, argument="sum"), ends=amount, said=said))
        named.append("sum")
    for name, each in zip(named, sought, strict=True):
        if each.listed is None:
            check_numeric(each.column, argument=name if name == "sum" else "column")
        else:
            rows.check_compared(each.listed, argument=name)
            check_match(each.column, each.listed.kind, argument=name)
    many = "" if between is not None else "rows" if listed is None else "of the values"
    return _of_rows(rows, sought, many, progress)


def _refuse_others(given: Mapping[str, object], because: str) -> None:
    for name, value in given.items():
        if value is not None:
            raise InvalidParameterError(name, Shown("<given>"), f"nothing, because {because}")


def _doubles(given: object, name: str) -> tuple[float, float]:
    lower, upper = finite_bounds(given, name)
    return float(lower), float(upper)


def _of_rows(rows: Rows, sought: list[Sought], many: str, progress: Any) -> Check:
    """Every row is looked at. What a unit may have `many` of matters to the question; nothing if one row is as good."""
    engine = rows.table.engine
    if not isinstance(engine, Embedded):
        hint = "Check some rows in a frame, such as frame.limit(1_000_000).toPandas()."
        raise InvalidDataError("source", Shown(rows.shown), "rows that are in files or in this process", hint)

    def say(look: Look) -> Check:
        problems = [*look.of_lines(), *look.of_units()]
        columns = [look.of_column(at) for at in range(len(sought))]
        written = [written for _, written in columns]
        advice, suggested = advised([*zip(sought, written, strict=True)], look.words)
        for at, (each, (said, _), more) in enumerate(zip(sought, columns, advice, strict=True)):
            name = f"{printable(each.column.name)}: " if at else ""
            problems += [f"{name}{sentence}" for sentence in (*said, *filter(None, [more]))]
        has_several = bool(many) and look.several > 0
        several = f", {look.several:,} of them with several {many}, up to {look.most:,}" if has_several else ""
        about = [
            f"{_heading(sought)}: {look.usable_rows:,} of {look.rows:,} rows count.",
            f"{printable(rows.unit)}: {look.usable_units:,} of {look.units:,} units take part{several}.",
            *filter(None, [scope([each.words for each in rows.conditions])]),
        ]
        return Check(
            column=sought[0].column.name,
            unit=rows.unit,
            units=look.units,
            usable_units=look.usable_units,
            rows=look.rows,
            usable_rows=look.usable_rows,
            problems=tuple(problems),
            suggested=suggested,
            about=tuple(about),
        )

    return inspected(engine, rows.unit_column, sought, rows.conditions, progress, say)


def _heading(sought: list[Sought]) -> str:
    listed = sought[0].listed
    what = "numbers" if listed is None else counted(len(listed), "value")
    names = [printable(each.column.name) for each in sought]
    return " and ".join([f"{names[0]}, for {what}", *names[1:]])


def _rows(source: object, unit: str | EachRow | None, format: Format | None) -> Rows:
    """The rows of the source, or of a `Dataset`."""
    if isinstance(source, Asking):
        rows = rows_of(source)
        if unit not in (None, rows.unit):
            raise InvalidParameterError("unit", unit, "nothing, because the Dataset has its own")
        _refuse_others({"format": format}, "the Dataset has its own")
        return rows
    if unit is None:
        raise InvalidParameterError("unit", None, "the name of the column that says whose row it is")
    format = declared(format)
    return Rows(open_table(source, format=format), origin="", unit=unit, format=format)
