"""Exactly which rows a question would count, and what the others hold: for the holder of the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from dpselect.checks import finite_bounds, whole_or_double_bounds
from dpselect.errors import InvalidCandidatesError, InvalidDataError, InvalidParameterError, Shown, printable
from dpselect.formats import Format, declared
from dpselect.privacy import EachRow
from dpselect.questions.counts import listed_values
from dpselect.questions.wording import scope
from dpselect.questions.words import counted
from dpselect.rows.duckdb.engine import Embedded
from dpselect.rows.inspect import End, Look, inspected
from dpselect.rows.opening import open_table
from dpselect.rows.statements import filtered
from dpselect.rows.table import Rows, checked_progress
from dpselect.session.advice import advised, as_options
from dpselect.session.asking import Asking, groups_of, rows_of
from dpselect.summaries import PublicCondition, PublicDomain
from dpselect.summaries.candidates import UNLISTED
from dpselect.summaries.dates import are_dates, public_dates

WARNING = (
    "For the holder of the data only: these numbers are exact, and cells are shown as they stand in the table. Acting"
    " on them is outside the guarantee: choose candidates, bounds and epsilon without them."
)
_BOUNDS = "bound", "and are counted as if they were equal to it"
_CLIP = "end of the clip", "which is added in their place"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Check:
    """What was found. Print it; it is exact, and for the holder of the data only.

    Attributes:
        column, unit: the names of both columns.
        units, usable_units: different ones in all rows; those with a row that counts.
        rows, usable_rows: all there are; those with a unit and all that the question asks for.
        problems: what may make an answer useless, each in a sentence; empty if nothing looks wrong.
        about: which values are meant, and of which rows it is, in sentences.
    """

    column: str
    unit: str
    units: int
    usable_units: int
    rows: int
    usable_rows: int
    problems: tuple[str, ...] = ()
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

    For the holder of the data only: what it returns is exact and must not be shown to others. It charges nothing.
    Candidates, bounds or an epsilon chosen by it are outside the guarantee (``docs/checking.md``).

    Args:
        source: as for `dpselect.Dataset`; or such a data set, or a view of one, with the conditions and groups of it.
        column: name of the column of the question.
        unit, format, progress: as for `dpselect.Dataset`, which has its own `unit` and `format`.
        candidates, dates: of the question. Without any, and without `between`, it is about numbers.
        between: of `dpselect.Dataset.count`: two numbers.
        bounds, step: of the question: two numbers, or the first and the last date.
        sum, clip: of the question: the column that is summed for each candidate, and the most that a unit adds. The
            clip alone is that of `dpselect.Dataset.sum`.

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
    given = {"candidates": candidates, "dates": dates, "bounds": bounds, "step": step, "sum": sum, "clip": clip}
    listed, ends, said = None, None, _BOUNDS
    within = None if between is None else whole_or_double_bounds(between, "between")
    if between is not None:
        _refuse(given, "between is given")
    elif dates is not None or are_dates(bounds):
        _refuse({"candidates": candidates}, "dates are given")
        listed = public_dates(dates, bounds=bounds, step=1 if step is None else step)
    elif candidates is not None:
        listed = listed_values(candidates)
    elif bounds is not None:
        _refuse({"clip": None if sum else clip}, "bounds are given")
        ends = finite_bounds(bounds, "bounds")
        PublicDomain.given(bounds, step=step)
    if listed is None and sum is not None:
        hint = f"Without such a list, {UNLISTED}"
        raise InvalidCandidatesError("candidates", None, "the public list of values to choose from", hint)
    if listed is not None and sum is None and clip is not None:
        raise InvalidParameterError("clip", Shown("<two numbers>"), "sum together with it: the column that is summed")
    if clip is not None or sum is not None:
        ends, said = finite_bounds(clip, "clip"), _CLIP
    groups = groups_of(source) if isinstance(source, Asking) else None
    if groups is not None and len(groups.columns) > 1:
        hint = "Check each column of a cross table by itself."
        raise InvalidParameterError("by", Shown("<several columns>"), "one column", hint)
    engine = rows.table.engine
    if not isinstance(engine, Embedded):
        hint = "Check some rows in a frame, such as frame.limit(1_000_000).toPandas()."
        raise InvalidDataError("source", Shown(rows.shown), "rows that are in files or in this process", hint)
    needed = PublicCondition(candidates=listed, is_number=listed is None, between=within, summed=sum)
    statement = filtered(rows.of(column).statement(needed, groups)(), rows.conditions)
    sides = zip("<>", ("below the lower", "above the upper"), ends or (), strict=False)
    beyond = [(sign, float(end), f"are {side} {said[0]}, {said[1]}.") for sign, side, end in sides]
    say = partial(_said, rows=rows, beyond=beyond, is_range=are_dates(bounds), counts_rows=within is None)
    return inspected(engine, statement, progress, say)


def _refuse(given: Mapping[str, object], because: str) -> None:
    for name, value in given.items():
        if value is not None:
            raise InvalidParameterError(name, Shown("<given>"), f"nothing, because {because}")


def _said(look: Look, *, rows: Rows, beyond: Sequence[End], is_range: bool, counts_rows: bool) -> Check:
    """What was seen, in sentences; `counts_rows` says whether it matters how many of them a unit has."""
    found = [look.of_column(name, beyond, all_occur=not (is_range and name == "what")) for name in look.sought]
    every = [cells for _, cells in found]
    names, problems = [printable(each.column.name) for each in every], [*look.of_rows()]
    for at, (said, cells) in enumerate(found):
        sentences = filter(None, [*said, advised(cells, every, look.words)])
        problems += [f"{names[at]}: {each}" if at else each for each in sentences]
    listed = every[0].listed
    many = f"several rows, up to {look.most:,}" if listed is None else "several of the values"
    several = f", {look.several:,} of them with {many}" if counts_rows and look.several else ""
    what = "numbers" if listed is None else counted(len(listed), "value")
    about = (
        f"{' and '.join([f'{names[0]}, for {what}', *names[1:]])}: {look.usable_rows:,} of {look.rows:,} rows count.",
        f"{printable(rows.unit)}: {look.usable_units:,} of {look.units:,} units take part{several}.",
        *filter(None, [scope([each.words for each in rows.conditions])]),
    )
    numbers = {name: getattr(look, name) for name in ("units", "usable_units", "rows", "usable_rows")}
    return Check(column=every[0].column.name, unit=rows.unit, problems=tuple(problems), about=about, **numbers)


def _rows(source: object, unit: str | EachRow | None, format: Format | None) -> Rows:
    """The rows of the source, or of a `Dataset`."""
    if isinstance(source, Asking):
        rows = rows_of(source)
        if unit not in (None, rows.unit):
            raise InvalidParameterError("unit", unit, "nothing, because the Dataset has its own")
        _refuse({"format": format}, "the Dataset has its own")
        return rows
    if unit is None:
        raise InvalidParameterError("unit", None, "the name of the column that says whose row it is")
    format = declared(format)
    return Rows(open_table(source, format=format), origin="", unit=unit, format=format)
