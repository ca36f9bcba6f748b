"""What an engine has to offer so that the queries can be the same for all."""

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
    """One query to an engine: the rows of one table, read by the rules of `dpselect.backends.row_rules`."""

    @property
    def in_filters(self) -> frozenset[CandidateKind]:
        """The kinds of candidates that may be written into a query, where there are only a few."""
        ...

    @property
    def counts_distinct(self) -> bool:
        """Whether counting different units in each group is quicker than first leaving out repeated rows."""
        ...

    def rows(self, values: Mapping[str, RowValue]) -> Frame:
        """The rows, with a column for each name."""
        ...

    def candidates(self, name: str, candidates: PublicCandidates) -> Frame:
        """The candidates as a frame that `rows` can be joined with, in a column of that name."""
        ...

    def different(self, frame: Frame) -> Frame:
        """The rows of `frame`, each that is there several times once."""
        ...

    def with_lots(self, frame: Frame, by: Sequence[str]) -> Frame:
        """`frame` with a random ``lot`` in each row, where no two rows are alike in the columns `by`."""
        ...

    def fetched(self, frame: Frame) -> Any:
        """The rows of `frame` as an Arrow table; errors say what happened and quote nothing."""
        ...


class Engine(Protocol):
    """A table of one kind of engine."""

    @property
    def shown(self) -> str:
        """How errors and ``repr`` speak of it."""
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
    """A query that can also draw where its rows are."""

    @property
    def most_fetched(self) -> int:
        """Scores of more candidates than this are better not fetched."""
        ...

    def listed(self, candidates: object, *, allow_many: bool) -> PublicCandidates | DistantCandidates | None:
        """The public candidates in a frame of the same engine; None if `candidates` is none."""
        ...

    def scores(self, counted: Frame, candidates: PublicCandidates | DistantCandidates) -> DistantScores:
        """The scores of all candidates, made and kept where the rows are.

        Args:
            counted: ``number``, the score, of each ``what`` that occurs; others score 0.
            candidates: all of them.
        """
        ...


class DistantScores(Protocol):
    """Scores that an engine keeps until they are closed, and draws from without reading the rows again."""

    def drawn(self, mechanism: Mechanism, rounds: int) -> Iterator[Any]:
        """Select by `mechanism`; and again, without those selected before, so many times.

        Args:
            mechanism: one whose draws can be merged.
            rounds: at most as many as there are candidates.
        """
        ...

    def close(self) -> None:
        """Keep them no longer."""
        ...
