"""A check of a table in another engine: a server, a cluster or a lazy frame.

Its rows stay where they are. The engine is sent the queries that questions send: how many units there are, how many
would take part, and how many have each candidate. So a check takes the time of a few questions, and it does not say
why a row does not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpselect.backends.columns import Column, check_match, check_numeric
from dpselect.backends.contract import Needed
from dpselect.questions.question import counted
from dpselect.questions.wording import html_table, scope
from dpselect.session.findings import FEW_UNITS, WARNING, WHOSE, Limits, missing_candidates, printable
from dpselect.session.rows import Rows
from dpselect.summaries import PublicCandidates, PublicGroups

_SAMPLE = (
    "To see why, check some of its rows in a frame: frame.limit(1_000_000).toPandas() of Spark,"
    " .head(1_000_000).collect() of Polars, pandas.read_sql with LIMIT 1000000 of a server."
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class UnitCheck:
    """What was found. Print it; it is exact, and for the holder of the data only.

    Attributes:
        column: name of the column.
        unit: name of the column that identifies whom a row belongs to.
        units: different ones, in all rows.
        usable_units: units with a row that counts; if there are candidates and groups, with a candidate in any group.
        without: units without any row that could count: no candidate, no number or no group.
        candidates: what was looked for; None: numbers.
        missing: positions of the candidates that no unit has.
        missing_groups: the same of the groups.
        groups: the groups that were looked for, if there are any.
        beyond: units with a number, none of which is within the question's two numbers.
        limits: what these two numbers are.
        scope: of which rows it is, in one sentence; empty: of all.
    """

    column: str
    unit: str
    units: int
    usable_units: int
    without: int
    candidates: PublicCandidates | None = None
    missing: tuple[int, ...] = ()
    groups: PublicGroups | None = None
    missing_groups: tuple[int, ...] = ()
    beyond: int = 0
    limits: Limits = Limits.BOUNDS
    scope: str = ""

    @property
    def suggested(self) -> None:
        """No format: the columns of an engine have types."""
        return

    @property
    def problems(self) -> tuple[str, ...]:
        """What may make an answer useless, each in a sentence; empty if nothing looks wrong."""
        return tuple(self._problems())

    def __str__(self) -> str:
        kind = "numbers" if self.candidates is None else counted(len(self.candidates), "candidate")
        parts = "" if self.groups is None else f" in {len(self.groups.members):,} groups"
        take_part = "take part" if self.candidates is None or self.groups is None else "have a candidate, in any group"
        head = f"{printable(self.column)}, for {kind}{parts}: {self.usable_units:,} of {self.units:,} units"
        problems = [f"- {each}" for each in self.problems] or ["Nothing looks wrong."]
        lines = [f"{head} ({printable(self.unit)}) {take_part}.", *filter(None, [self.scope])]
        return "\n".join([WARNING, "", *lines, "", *problems])

    def _repr_html_(self) -> str:
        """For the notebook of the holder of the data."""
        rows = [(f"{printable(self.unit)} (units)", f"{self.usable_units:,}", f"{self.units:,}")]
        notes = self.problems or ("Nothing looks wrong.",)
        return html_table((printable(self.column), "take part", "of"), rows, *notes, WARNING)

    def __repr__(self) -> str:
        return f"UnitCheck({self.column!r}, unit={self.unit!r})"

    def _problems(self) -> Iterator[str]:
        if not self.units:
            yield "The table has no rows with a unit."
            return
        if self.units <= FEW_UNITS:
            yield f"There {'is only one unit' if self.units == 1 else f'are only {self.units:,} units'}. {WHOSE}"
        elif self.usable_units <= FEW_UNITS:
            few = f"Only {counted(self.usable_units, 'unit')}" if self.usable_units else "No unit"
            yield f"{few} will take part: the answer would be mostly noise."
        if self.without:
            has = "1 unit has" if self.without == 1 else f"{self.without:,} units have"
            yield f"{has} no row that counts. {_SAMPLE}"
        if self.beyond:
            lower, upper, _ = self.limits.value
            has = "1 unit has" if self.beyond == 1 else f"{self.beyond:,} units have"
            yield f"{has} only numbers below {lower} or above {upper}."
        if self.candidates is not None and self.missing:
            yield missing_candidates(self.candidates, self.missing)
        if self.groups is not None and self.missing_groups:
            yield f"{printable(self.groups.column)}: {missing_candidates(self.groups.listed[0], self.missing_groups)}"


def by_units(
    rows: Rows,
    column: str,
    listed: PublicCandidates | None,
    parts: PublicGroups | None,
    *,
    summed: str | None,
    limits: Limits,
    ends: tuple[float, float] | None,
) -> UnitCheck:
    """Ask the engine, at most five times, each for numbers of units alone.

    Args:
        rows: of the table.
        column: of the question.
        listed: candidates, values or dates; None: numbers.
        parts: the groups of the question.
        summed: the column that is summed for each candidate.
        limits: what the two numbers are.
        ends: two numbers; None: none are given.
    """
    found, unit, table = rows.check(column), rows.unit_column, rows.table
    number = None if summed is None else rows.check(summed, argument="sum")
    wanted: list[tuple[Column, PublicCandidates]] = []
    if listed is None:
        check_numeric(found)
        number = found
    else:
        check_match(found, listed.kind)
        wanted.append((found, listed))
    if parts is not None:
        by = rows.check(parts.column, argument="by")
        check_match(by, parts.listed[0].kind, argument="groups")
        wanted.append((by, parts.listed[0]))

    def units(needed: Needed) -> int:
        (counted_units,) = table.units(unit=unit, needed=needed, progress=rows.progress)
        return counted_units

    def absent(where: Column, candidates: PublicCandidates) -> tuple[int, ...]:
        (counts,) = table.count(unit=unit, column=where, candidates=candidates, progress=rows.progress)
        return tuple((counts.counts == 0).nonzero()[0].tolist())

    every = units(Needed())
    usable = units(Needed(wanted[0] if wanted else None, number))
    inside = usable if ends is None else units(Needed(wanted[0] if wanted else None, number, ends))
    missing = [absent(where, candidates) for where, candidates in wanted]
    return UnitCheck(
        column=found.name,
        unit=rows.unit,
        units=every,
        usable_units=inside if limits is Limits.BETWEEN else usable,
        without=every - usable,
        candidates=listed,
        missing=() if listed is None else missing[0],
        groups=parts,
        missing_groups=() if parts is None else missing[-1],
        beyond=usable - inside,
        limits=limits,
        scope=scope([each.words for each in rows.conditions]),
    )
