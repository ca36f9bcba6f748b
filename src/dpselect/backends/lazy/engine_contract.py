"""The contract of a lazy engine, by which all engines share the same queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, cast, runtime_checkable

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from dpselect.backends.columns import Column
from dpselect.backends.row_rules import RowValue
from dpselect.mechanisms import ExponentialNoiseTopK, Mechanism
from dpselect.summaries import CandidateKind, DistantCandidates, PublicCandidates

MOST_IN_A_FILTER = 1000
"""Longer lists are joined as a table."""


def matched(frame: Frame, name: str, candidates: PublicCandidates | DistantCandidates, query: EngineQuery) -> Frame:
    """The rows of `frame` with a candidate in column `name`, which is a `row_rules.Value` of the candidates' kind."""
    if isinstance(candidates, DistantCandidates):
        listed: Frame = nw.from_native(candidates.frame).rename({"what": name})
        return frame.join(listed, on=name, how="inner")
    values = candidates.values
    if isinstance(values, range) and (values.step == 1 or len(values) > MOST_IN_A_FILTER):
        low, high = min(values[0], values[-1]), max(values[0], values[-1])
        frame = frame.filter(nw.col(name) >= low, nw.col(name) <= high)
        step = abs(values.step)
        if step == 1:
            return frame
        # Differences might overflow, and the sign of a remainder depends on the engine.
        return frame.filter(((nw.col(name) % step) + step) % step == low % step)
    if len(values) <= MOST_IN_A_FILTER and candidates.kind in query.in_filters:
        return frame.filter(nw.col(name).is_in(plain(candidates)))
    return frame.join(query.candidates(name, candidates), on=name, how="inner")


def plain(candidates: PublicCandidates) -> list[Any]:
    """The candidates as plain Python values, with 0.0 for -0.0."""
    if candidates.kind is CandidateKind.NUMBER:
        return [cast("float", value) + 0.0 for value in candidates.values]
    return list(
        np.asarray(candidates.values).tolist() if candidates.kind is CandidateKind.INTEGER else candidates.values
    )


def positions(found: Any, candidates: PublicCandidates) -> NDArray[np.int64]:
    """The positions of the returned values in the list of candidates, which has all of them.

    Args:
        found: Arrow array of candidates, without nulls.
        candidates: the candidates of the query.
    """
    values = candidates.values
    if isinstance(values, tuple):
        places = {value: place for place, value in enumerate(values)}
        return np.array([places[value] for value in found.to_pylist()], np.int64)
    numbers = np.asarray(found.to_numpy(zero_copy_only=False), np.int64)
    if isinstance(values, range):
        # Differences modulo 2^64, because they need not fit into 63 bits.
        first = np.uint64(values[0] % 2**64)
        away = numbers.astype(np.uint64) - first if values.step > 0 else first - numbers.astype(np.uint64)
        return (away // np.uint64(abs(values.step))).astype(np.int64)
    order = np.argsort(values)
    return order[np.searchsorted(values, numbers, sorter=order)].astype(np.int64, copy=False)


Frame = nw.LazyFrame[Any]

EVERY_KIND = frozenset(CandidateKind)


class EngineQuery(Protocol):
    """One query to an engine, over the rows of one table, read by the rules of `dpselect.backends.row_rules`."""

    @property
    def in_filters(self) -> frozenset[CandidateKind]:
        """The kinds of candidates that may be written into a query if there are only a few."""
        ...

    @property
    def counts_distinct(self) -> bool:
        """Whether counting distinct units in each group is faster than removing duplicate rows first."""
        ...

    def rows(self, values: Mapping[str, RowValue]) -> Frame:
        """The rows, with a column for each name."""
        ...

    def candidates(self, name: str, candidates: PublicCandidates) -> Frame:
        """The candidates as a frame that can be joined with `rows`, in a column called `name`."""
        ...

    def different(self, frame: Frame) -> Frame:
        """The rows of `frame` without duplicates."""
        ...

    def with_lots(self, frame: Frame, by: Sequence[str]) -> Frame:
        """`frame` with a random ``lot`` in each row; no two rows have the same values in the columns `by`."""
        ...

    def fetched(self, frame: Frame) -> Any:
        """The rows of `frame` as an Arrow table. Errors quote no value."""
        ...


class Engine(Protocol):
    """A table of one kind of engine."""

    @property
    def shown(self) -> str:
        """Its name in errors and ``repr``."""
        ...

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns, with different names."""
        ...

    def query(self) -> EngineQuery:
        """Begin a query."""
        ...


@runtime_checkable
class ChoosingQuery(EngineQuery, Protocol):
    """A query that chooses one value of each unit faster than by sorting all lots."""

    def one_of_each(self, rows: Frame, whose: Sequence[str], column: str, kind: CandidateKind) -> Frame:
        """The columns `whose` and, for each of their values, one of the different values of `column`, by random lots.

        Equal values have equal lots, so that the choice depends on the unit's own different values and on chance alone.

        Args:
            rows: rows with these columns, without nulls; they may be repeated.
            whose: columns that say whose values they are.
            column: column of the values.
            kind: their kind.
        """
        ...


@runtime_checkable
class DrawingQuery(EngineQuery, Protocol):
    """A query that can also draw in its engine."""

    @property
    def most_fetched(self) -> int:
        """With more candidates than this, scores stay in the engine."""
        ...

    def listed(self, candidates: object) -> PublicCandidates | DistantCandidates | None:
        """The public candidates in a frame of the same engine; None if `candidates` is not such a frame."""
        ...

    def scores(self, counted: Frame, candidates: PublicCandidates | DistantCandidates) -> DistantScores:
        """The scores of all candidates, computed and kept in the engine.

        Args:
            counted: the score ``number`` of each ``what`` that occurs; all others score 0.
            candidates: all candidates.
        """
        ...


class DistantScores(Protocol):
    """Scores that an engine keeps until they are closed. Draws do not read the rows again."""

    def drawn(self, mechanism: Mechanism | ExponentialNoiseTopK, rounds: int) -> Iterator[Any]:
        """Select by `mechanism`, `rounds` times, each time without the candidates selected before.

        Args:
            mechanism: a mechanism whose draws can be merged.
            rounds: at most the number of candidates.
        """
        ...

    def close(self) -> None:
        """Release the scores."""
        ...
