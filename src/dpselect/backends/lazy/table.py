"""A table whose engine answers the questions: it receives queries and returns summaries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpselect.backends.columns import Column, check_match, check_numeric, find_column, unit_of
from dpselect.backends.contract import Amount, Condition, Grouping, Needed, Progress, check_groups
from dpselect.backends.lazy import queries
from dpselect.backends.lazy.engine_contract import DrawingQuery, Engine, Frame, positions
from dpselect.backends.lazy.reading import reading
from dpselect.backends.rows.arrow import pa
from dpselect.mechanisms import ExponentialNoiseTopK, Mechanism, PendingSelection
from dpselect.summaries import (
    CandidateCounts,
    CandidateKind,
    CandidateTotals,
    DistantCandidates,
    NameCounts,
    PublicCandidates,
    PublicDomain,
    UnitValues,
)

Answer = TypeVar("Answer")

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


@dataclass(frozen=True, slots=True, repr=False)
class LazyTable:
    """A table over a lazy engine; see `dpselect.backends.contract.Table`.

    Attributes:
        engine: the engine that holds the rows.
        conditions: what all rows that are looked at have to meet.
    """

    engine: Engine
    conditions: tuple[Condition, ...] = ()

    @property
    def shown(self) -> str:
        """Its name in errors and ``repr``."""
        return self.engine.shown

    def column(self, name: object, *, argument: str = "column") -> Column:
        """The column called `name`."""
        return find_column(self.engine.columns, name, argument=argument, listed=True)

    def unit(self, name: object) -> Column:
        """The column called `name`, if its type can identify units."""
        return unit_of(self.engine.columns, name, listed=True)

    def filtered(self, conditions: tuple[Condition, ...]) -> LazyTable:
        """The same table with those rows alone that meet all conditions."""
        return replace(self, conditions=(*self.conditions, *conditions))

    def count(
        self,
        *,
        unit: Column,
        column: Column,
        candidates: PublicCandidates,
        grouping: Grouping | None = None,
        max_values_per_unit: int | None = None,
        progress: Progress | None = None,
    ) -> list[CandidateCounts]:
        """How many different units have at least one row with each candidate."""
        check_match(column, candidates.kind)
        check_groups(grouping)
        most = None if max_values_per_unit is None or max_values_per_unit >= len(candidates) else max_values_per_unit
        query = partial(queries.counts, unit=unit, column=column, candidates=candidates, most=most, grouping=grouping)
        table = self._answer(query, partial(_tabulated, candidates=candidates, grouping=grouping), progress)
        return [CandidateCounts(each) for each in table]

    def listed(self, candidates: object) -> PublicCandidates | DistantCandidates | None:
        """The public candidates in a frame of the table's own engine; None if `candidates` is not such a frame."""
        query = self.engine.query()
        return query.listed(candidates) if isinstance(query, DrawingQuery) else None

    def select(
        self,
        *,
        unit: Column,
        column: Column,
        candidates: PublicCandidates | DistantCandidates,
        mechanism: Mechanism | ExponentialNoiseTopK,
        progress: Progress | None = None,
    ) -> PendingSelection | None:
        """The most common candidates, drawn in the engine if there are very many candidates; else None."""
        query = self.engine.query()
        if not isinstance(query, DrawingQuery):
            return None
        if isinstance(candidates, PublicCandidates) and len(candidates) <= query.most_fetched:
            return None
        check_match(column, candidates.kind)

        with reading(self.shown):
            counted = queries.counts(
                query,
                unit=unit,
                column=column,
                candidates=candidates,
                most=None,
                grouping=None,
                conditions=self.conditions,
            )
            scores = query.scores(counted, candidates)

        def draw(rounds: int) -> list[Any]:
            winners: list[Any] = []
            for winner in scores.drawn(mechanism, rounds):
                winners.append(winner)
                if progress is not None:
                    progress(len(winners) / rounds)
            return winners

        return PendingSelection(draw, scores.close)

    def total(
        self,
        *,
        unit: Column,
        column: Column | None = None,
        candidates: PublicCandidates | None = None,
        amount: Amount,
        grouping: Grouping | None = None,
        progress: Progress | None = None,
    ) -> list[CandidateTotals]:
        """The sum of the units' clipped amounts for each candidate; without candidates, of all rows."""
        listed = None
        if column is not None and candidates is not None:
            check_match(column, candidates.kind)
            listed = column, candidates
        check_numeric(amount.column)
        check_groups(grouping)
        query = partial(queries.totals, unit=unit, amount=amount, listed=listed, grouping=grouping)
        table = self._answer(query, partial(_tabulated, candidates=candidates, grouping=grouping), progress)
        return [CandidateTotals(each) for each in table]

    def gather(
        self,
        *,
        unit: Column,
        column: Column,
        domain: PublicDomain,
        max_rows_per_unit: int,
        grouping: Grouping | None = None,
        progress: Progress | None = None,
    ) -> list[UnitValues]:
        """Numbers clipped into `domain`, at most `max_rows_per_unit` of each unit."""
        check_numeric(column)
        check_groups(grouping)
        most = max_rows_per_unit
        query = partial(
            queries.values, unit=unit, column=column, domain=domain, max_rows_per_unit=most, grouping=grouping
        )
        found = self._answer(query, partial(_values_by_group, grouping=grouping), progress)
        return [UnitValues(some, domain=domain, max_rows_per_unit=most) for some in found]

    def units(
        self,
        *,
        unit: Column,
        needed: Needed,
        grouping: Grouping | None = None,
        progress: Progress | None = None,
    ) -> list[int]:
        """How many different units have at least one row that a question can use."""
        if needed.matched is not None:
            check_match(needed.matched[0], needed.matched[1].kind)
        if needed.number is not None:
            check_numeric(needed.number)
        check_groups(grouping)
        query = partial(queries.units, unit=unit, needed=needed, grouping=grouping)
        table = self._answer(query, partial(_tabulated, candidates=None, grouping=grouping), progress)
        return table[:, 0].tolist()

    def names(
        self,
        *,
        unit: Column,
        column: Column,
        kind: CandidateKind,
        max_values_per_unit: int,
        grouping: Grouping | None = None,
        progress: Progress | None = None,
    ) -> list[NameCounts]:
        """How many different units have at least one row with each value that occurs."""
        check_match(column, kind, argument="kind")
        check_groups(grouping)
        most = max_values_per_unit
        query = partial(queries.names, unit=unit, column=column, kind=kind, most=most, grouping=grouping)
        return self._answer(query, partial(_names, kind=kind, grouping=grouping), progress)

    def _answer(self, ask: Callable[..., Frame], read: Callable[[Any], Answer], progress: Progress | None) -> Answer:
        """The result of the query that `ask` writes, converted by `read`."""
        with reading(self.shown):
            query = self.engine.query()
            answer = read(query.fetched(ask(query, conditions=self.conditions)))
        if progress is not None:
            progress(1.0)
        return answer


def _names(found: Any, *, kind: CandidateKind, grouping: Grouping | None) -> list[NameCounts]:
    """Each value that occurs, and its number of units, for each group."""
    names, counts = found.column("what"), _numbers(found.column("number"))
    if grouping is None:
        return [NameCounts(names, counts.copy(), kind=kind)]
    places = positions(found.column("part"), grouping.groups)
    return NameCounts.by_group(names, counts, places, kind=kind, groups=len(grouping.groups))


def _values_by_group(found: Any, *, grouping: Grouping | None) -> list[NDArray[np.float64]]:
    """The numbers of each group."""
    numbers = np.asarray(found.column("value").to_numpy(), np.float64)
    if grouping is None:
        return [numbers]
    return _split(numbers, positions(found.column("part"), grouping.groups), len(grouping.groups))


def _tabulated(found: Any, *, candidates: PublicCandidates | None, grouping: Grouping | None) -> NDArray[np.int64]:
    """The numbers found for candidates that occur, and zeros for the others: shape ``(groups, candidates)``.

    Without candidates there is one number for each group.
    """
    places = 1 if candidates is None else len(candidates)
    table = np.zeros((1 if grouping is None else len(grouping.groups), places), np.int64)
    parts = 0 if grouping is None else positions(found.column("part"), grouping.groups)
    numbers = _numbers(found.column("number"))
    at = np.zeros(numbers.size, np.int64) if candidates is None else positions(found.column("what"), candidates)
    table[parts, at] = numbers
    return table


def _numbers(found: Any) -> NDArray[np.int64]:
    """Whole numbers of 64 bits; a sum beyond 64 bits becomes the nearest number that fits, and one of no rows 0."""
    if pa.types.is_integer(found.type) and not pa.types.is_uint64(found.type):
        return np.asarray(found.fill_null(0).to_numpy(), np.int64)
    return np.array([max(_SMALLEST, min(_LARGEST, int(number or 0))) for number in found.to_pylist()], np.int64)


def _split(values: NDArray[np.float64], parts: NDArray[np.int64], groups: int) -> list[NDArray[np.float64]]:
    ends = np.cumsum(np.bincount(parts, minlength=groups))
    return np.split(values[np.argsort(parts, kind="stable")], ends[:-1])
