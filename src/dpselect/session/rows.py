"""The rows of a table and their units: the access that questions have to them."""

from __future__ import annotations

from collections.abc import Callable

from dpselect.backends.columns import Column, candidate_kinds, check_match, check_numeric
from dpselect.backends.contract import Amount, DrawsInPlace, Grouping, Table
from dpselect.errors import InvalidDataError, Shown
from dpselect.mechanisms import Mechanism, PendingSelection
from dpselect.summaries import (
    CandidateCounts,
    CandidateKind,
    CandidateTotals,
    DistantCandidates,
    PublicCandidates,
    PublicClip,
    PublicDomain,
    PublicGroups,
    UnitValues,
)


class Rows:
    """A table with its unit column. Every column that a question uses is checked here first.

    Args:
        table: a description, not a copy; rows are read anew for each summary.
        origin: the name of the table in a ledger; see `dpselect.backends.opening.origin_of`.
        unit: name of the column that identifies whom a row belongs to.
        progress: called with the share of the work that is done, from 0 to 1.

    Raises:
        InvalidDataError: no such column, or one that can name no units.
    """

    __slots__ = ("_progress", "_table", "_unit", "origin")

    def __init__(
        self, table: Table, *, origin: str, unit: str, progress: Callable[[float], None] | None = None
    ) -> None:
        self._table = table
        self.origin = origin
        self._unit = table.unit(unit)
        self._progress = progress

    @property
    def shown(self) -> str:
        """Text for the table in a ``repr``."""
        return self._table.shown

    @property
    def unit(self) -> str:
        """Name of the column that identifies whom a row belongs to."""
        return self._unit.name

    def candidate_kinds(self, column: str) -> tuple[CandidateKind, ...]:
        """The kinds of candidates that the type of `column` can match; empty if it has no type."""
        return candidate_kinds(self._table.column(column))

    def check(self, column: str, *, argument: str = "column") -> Column:
        """The column a question is about, or `InvalidDataError`."""
        found = self._table.column(column, argument=argument)
        if found == self._unit:
            hint = "Every value of the unit column belongs to one unit only."
            raise InvalidDataError(argument, Shown(repr(found.name)), "another column than the unit", hint)
        return found

    def count(
        self,
        column: str,
        candidates: PublicCandidates,
        groups: PublicGroups | None = None,
        *,
        argument: str = "candidates",
    ) -> list[CandidateCounts]:
        """How many units have each candidate, in each group; `argument` is the question's name for the candidates."""
        asked = self.check(column)
        check_match(asked, candidates.kind, argument=argument)
        return self._table.count(
            unit=self._unit,
            column=asked,
            candidates=candidates,
            grouping=self._grouping(groups, len(candidates)),
            progress=self._progress,
        )

    def candidates(self, given: object, *, allow_many: bool) -> PublicCandidates | DistantCandidates:
        """The public candidates: listed locally, or in a frame of the table's own engine."""
        found = self._table.listed(given, allow_many=allow_many) if isinstance(self._table, DrawsInPlace) else None
        return PublicCandidates.given(given, allow_many=allow_many) if found is None else found

    def select(
        self, column: str, candidates: PublicCandidates | DistantCandidates, mechanism: Mechanism
    ) -> list[CandidateCounts] | list[PendingSelection]:
        """The counts from which the most common candidates are drawn, or a pending draw where the scores are."""
        asked = self.check(column)
        check_match(asked, candidates.kind)
        pending = None
        if isinstance(self._table, DrawsInPlace):
            pending = self._table.select(
                unit=self._unit, column=asked, candidates=candidates, mechanism=mechanism, progress=self._progress
            )
        if pending is not None:
            return [pending]
        assert isinstance(candidates, PublicCandidates), "an engine that lists candidates also draws from them"
        return self.count(column, candidates)

    def total(
        self, column: str, candidates: PublicCandidates, clip: PublicClip, groups: PublicGroups | None = None
    ) -> list[CandidateTotals]:
        """The sum of the units' clipped amounts for each candidate, in each group."""
        asked, summed = self.check(column), self.check(clip.column, argument="sum")
        check_match(asked, candidates.kind)
        check_numeric(summed, argument="sum")
        return self._table.total(
            unit=self._unit,
            column=asked,
            candidates=candidates,
            amount=Amount(summed, clip.scale, clip.lower, clip.upper),
            grouping=self._grouping(groups, len(candidates)),
            progress=self._progress,
        )

    def gather(
        self, column: str, domain: PublicDomain, groups: PublicGroups | None = None, *, max_rows_per_unit: int
    ) -> list[UnitValues]:
        """The numbers of a column, at most `max_rows_per_unit` of each unit in each group."""
        asked = self.check(column)
        check_numeric(asked)
        return self._table.gather(
            unit=self._unit,
            column=asked,
            domain=domain,
            max_rows_per_unit=max_rows_per_unit,
            grouping=self._grouping(groups, 1),
            progress=self._progress,
        )

    def _grouping(self, groups: PublicGroups | None, candidates: int) -> Grouping | None:
        if groups is None:
            return None
        groups.check_size(candidates)
        column = self.check(groups.column, argument="by")
        check_match(column, groups.members.kind, argument="groups")
        return Grouping(column, groups.members, groups.max_per_unit)
