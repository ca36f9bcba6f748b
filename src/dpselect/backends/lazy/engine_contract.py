"""The contract of a lazy engine, by which all engines share the same queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import narwhals.stable.v2 as nw

from dpselect.backends.columns import Column
from dpselect.backends.row_rules import RowValue
from dpselect.mechanisms import Mechanism
from dpselect.summaries import CandidateKind, DistantCandidates, PublicCandidates

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
class DrawingQuery(EngineQuery, Protocol):
    """A query that can also draw in its engine."""

    @property
    def most_fetched(self) -> int:
        """With more candidates than this, scores stay in the engine."""
        ...

    def listed(self, candidates: object, *, allow_many: bool) -> PublicCandidates | DistantCandidates | None:
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

    def drawn(self, mechanism: Mechanism, rounds: int) -> Iterator[Any]:
        """Select by `mechanism`, `rounds` times, each time without the candidates selected before.

        Args:
            mechanism: a mechanism whose draws can be merged.
            rounds: at most the number of candidates.
        """
        ...

    def close(self) -> None:
        """Release the scores."""
        ...
