"""Exactly which rows a question would count, for the holder of the data, before anything is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from dpselect.arguments import finite_bounds, memory_size
from dpselect.backends.files import FileSource
from dpselect.backends.opening import open_table
from dpselect.backends.rows import StreamTable
from dpselect.backends.rows.inspect import BLANKS_DIFFER, BOTH_DIFFER, CASE_DIFFERS, NUMBER_DIFFERS, Inspection
from dpselect.errors import InvalidDataError, Shown
from dpselect.formats import Format, declared
from dpselect.questions.wording import counted
from dpselect.session.rows import Rows
from dpselect.summaries import PublicCandidates, PublicDomain, PublicGroups

WARNING = (
    "For the holder of the data only: these numbers are exact, not private. Acting on them is outside the guarantee:"
    " choose candidates, bounds and epsilon without them."
)

_FORMATS = {
    "a comma between thousands, as in 1,234": "--thousands ','",
    "a dot between thousands and a decimal comma, as in 1.234,5": "--thousands . --decimal ','",
    "a decimal comma, as in 1,5": "--decimal ','",
    "a blank or an apostrophe between thousands, as in 1 234": "--thousands ' '",
    "a currency, as in $5": "--strip '$'",
    "a currency and a comma between thousands, as in $1,234": "--strip '$' --thousands ','",
    "a currency and a decimal comma, as in 1.234,5 €": "--strip '€' --thousands . --decimal ','",
    "a percent sign, as in 5%": "--strip '%'",
    "a date with a time, as in 2026-12-24 00:00:00": "--date-format '%Y-%m-%d 00:00:00', if all times are midnight",
    "a date with slashes, as in 12/24/2026": "--date-format %m/%d/%Y, or %d/%m/%Y",
    "a date with dots, as in 24.12.2026": "--date-format %d.%m.%Y",
}
"""What to try, by the reasons of `Inspection.unusable` that an option helps with."""
_NEAR = {
    BLANKS_DIFFER: ("with blanks around it", "--trim"),
    CASE_DIFFERS: ("in other case", "--ignore-case"),
    BOTH_DIFFER: ("in other case, with blanks around it", "--trim --ignore-case"),
    NUMBER_DIFFERS: ("written as another number, such as 18.0 for 18", "give the candidate as it is written"),
}
_SHARED = 0.1
"""From this share of tied values on, an answer between the values is a poor one."""
_SHOWN, _LONGEST = 10, 60
"""Candidates that are listed, and characters of each."""
_LINES = "they have another number of fields than the first line, or quotes that do not pair up."
_FEW = 20
"""Units."""
_WHOSE = "An answer needs many of them. Is this the column that says whose row it is?"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Check:
    """What was found. Print it; it is exact, and for the holder of the data only.

    Attributes:
        column: name of the column.
        unit: name of the column that identifies whom a row belongs to.
        found: the numbers behind the sentences.
        candidates: what was looked for; None: numbers.
        step: of the question, if one was given.
        left_out: lines of the file that are no rows, because they cannot be read.
        groups: the same for the column of groups, if there are any.
    """

    column: str
    unit: str
    found: Inspection
    candidates: PublicCandidates | None
    step: float | None
    left_out: int = 0
    groups: Check | None = None

    @property
    def problems(self) -> tuple[str, ...]:
        """What may make an answer useless, each in a sentence; empty if nothing looks wrong."""
        own = (*self._of_units(), *self._of_values(), *self._of_numbers(), *self._of_candidates())
        if self.groups is None:
            return own
        of_groups = (*self.groups._of_values(), *self.groups._of_candidates())
        return (*own, *(f"{_printable(self.groups.column)}: {each}" for each in of_groups))

    def __str__(self) -> str:
        found = self.found
        kind = "numbers" if self.candidates is None else f"{len(self.candidates):,} candidates"
        lines = [
            f"{_printable(self.column)}, for {kind}: {found.usable_rows:,} of {found.rows:,} rows count.",
            f"{_printable(self.unit)}: {found.usable_units:,} of {found.units:,} units take part"
            + (f", {found.several:,} of them with several rows, up to {found.most:,}." if found.several else "."),
        ]
        problems = [f"- {each}" for each in self.problems] or ["Nothing looks wrong."]
        return "\n".join([WARNING, "", *lines, *([self.groups._head()] if self.groups else []), "", *problems])

    def __repr__(self) -> str:
        return f"Check({self.column!r}, unit={self.unit!r})"

    def _head(self) -> str:
        count = len(self.candidates or ())
        return f"{_printable(self.column)}, for {count:,} groups: {self.found.usable_rows:,} rows are in one."

    def _of_units(self) -> Iterator[str]:
        found = self.found
        if self.left_out:
            lines = found.rows + self.left_out
            yield f"{self.left_out:,} of {lines:,} lines cannot be read: {_LINES}"
        if not found.rows:
            yield "The table has no rows."
        elif found.nobodys:
            yield f"{_share(found.nobodys, found.rows)} have no {self.unit}: they do not count."
        if found.units == 1 and found.rows > 1:
            yield f"All rows have the same {self.unit}. {_WHOSE}"
        elif 1 < found.units <= _FEW and found.rows >= 10 * found.units:
            yield f"There are only {found.units:,} units. {_WHOSE}"
        elif found.usable_units <= _FEW and found.rows >= 10 * max(1, found.usable_units):
            yield f"Only {counted(found.usable_units, 'unit')} will take part: the answer would be mostly noise."

    def _of_values(self) -> Iterator[str]:
        owned = self.found.rows - self.found.nobodys
        for reason, rows in self.found.unusable.items():
            advice = _FORMATS.get(reason)
            yield f"{_share(rows, owned)}: {reason}." + (f" Try {advice}." if advice else "")

    def _of_numbers(self) -> Iterator[str]:
        found = self.found
        if self.candidates is not None or not found.usable_rows:
            return
        if self.step is None and found.ties >= _SHARED * found.usable_rows:
            of = f"All are multiples of {found.step:g}. Try --step {found.step:g}." if found.step else "Give a --step."
            yield f"{_share(found.ties, found.usable_rows)} share their value with another row. {of}"
        if found.commonest > max(1, found.usable_rows / 2):
            yield f"{_share(found.commonest, found.usable_rows)} have the same value."
        if self.step is not None and found.usable_rows > 1 and found.spread < self.step:
            yield "All values lie within one step, which cannot tell them apart. Try a smaller --step."
        for rows, beyond in ((found.below, "below the lower bound"), (found.above, "above the upper bound")):
            if rows:
                yield f"{_share(rows, found.usable_rows)} are {beyond}, and are counted as if they were equal to it."

    def _of_candidates(self) -> Iterator[str]:
        if self.candidates is None:
            return
        values, missing = self.candidates.values, self.found.missing
        for near in self.found.near[:_SHOWN]:
            how, advice = _NEAR[near.differs_in]
            yield f"{_short(values[near.position])} is in {counted(near.rows, 'row')} {how}. Try this: {advice}."
        if len(self.found.near) > _SHOWN:
            yield f"So are {len(self.found.near) - _SHOWN:,} more."
        if missing:
            listed = ", ".join(_short(values[place]) for place in missing[:_SHOWN])
            more = f", and {len(missing) - _SHOWN:,} more" if len(missing) > _SHOWN else ""
            yield f"{len(missing):,} of {len(values):,} occur in no row: {listed}{more}."


def check(
    source: object,
    column: str,
    *,
    unit: str,
    candidates: object = None,
    bounds: tuple[float, float] | None = None,
    step: float | None = None,
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
        candidates: of the question; None: it is about numbers.
        bounds: of the question.
        step: of the question.
        by, groups: of the question.
        format, memory_limit, progress: as for `dpselect.Dataset`.

    Returns:
        What was found: print it.

    Raises:
        InvalidCandidatesError: the candidates or groups are no such list.
        InvalidDataError: there is no such table or column, or it is on a server or in another engine.
        InvalidParameterError: another argument is invalid.

    >>> import dpselect as dps
    >>> checked = dps.check("examples/data/adult.csv", "capital_gain", unit="person_id", bounds=(0, 100_000))
    >>> for problem in checked.problems:
    ...     print(problem)
    32,551 of 32,561 rows (100.0%) share their value with another row. All are multiples of 1. Try --step 1.
    29,849 of 32,561 rows (91.7%) have the same value.
    """
    most = None if memory_limit is None else memory_size(memory_limit, "memory_limit")
    format = declared(format)
    table = open_table(source, memory_limit=most, format=format)
    if not isinstance(table, StreamTable):
        expected = "a file that DuckDB reads, or a frame in memory"
        raise InvalidDataError("source", Shown(table.shown), expected, "Check a part of the rows in a frame.")
    ends = None if bounds is None else finite_bounds(bounds)
    if step is not None:
        PublicDomain.given(bounds, step=step)  # a step that the question would refuse is refused here, too
    rows = Rows(table, origin="", unit=unit, format=format)
    parts = PublicGroups.given(by, groups, 1)

    def inspect(name: str, argument: str, listed: PublicCandidates | None) -> Check:
        found = table.inspect(
            unit=rows.unit_column,
            column=rows.check(name, argument=argument),
            candidates=listed,
            bounds=None if ends is None else (float(ends[0]), float(ends[1])),
            progress=progress,
        )
        return Check(column=name, unit=rows.unit, found=found, candidates=listed, step=step)

    listed = None if candidates is None else PublicCandidates.given(candidates)
    if listed is not None:
        rows.check_compared(listed)
    if parts is not None:
        rows.check_compared(parts.members, argument="groups")
    of_groups = None if parts is None else inspect(parts.column, "by", parts.members)
    answer = inspect(column, "column", listed)
    lines = table.source.lines() if isinstance(table.source, FileSource) else None
    left_out = 0 if lines is None else max(0, lines - answer.found.rows)
    return replace(answer, left_out=left_out, groups=of_groups)


def _short(candidate: object) -> str:
    text = repr(candidate)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _printable(name: str) -> str:
    return name if name.isprintable() else repr(name)


def _share(rows: int, of: int) -> str:
    return f"{rows:,} of {of:,} rows ({rows / of:.1%})" if of else f"{rows:,} rows"
