"""What a question may learn of a table, whatever engine holds its rows.

Each answer is a bounded summary. Every engine follows the rules for rows in ``docs/tables.md``: whether a row counts is
decided from that row alone, and no row's content decides whether reading succeeds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, runtime_checkable

from dpselect.backends.columns import Column, check_match
from dpselect.mechanisms import Mechanism, PendingSelection
from dpselect.summaries import (
    CandidateCounts,
    CandidateTotals,
    DistantCandidates,
    PublicCandidates,
    PublicDomain,
    UnitValues,
)

Progress = Callable[[float], None]
"""Called now and then, on the caller's thread, with the fraction of the input that has been read, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """A public list of groups, and to how many of them one unit may belong.

    A unit with rows in more groups takes part in `max_groups_per_unit` of those, each set of so many equally likely,
    chosen by the operating system's randomness; its rows in other groups are left out. Only a row that would count if
    there were no groups (it has a unit, one of the candidates, a number) puts its unit into a group.

    Attributes:
        column: says which group a row belongs to; rows in which it is none of `groups` are left out.
        groups: the public list.
        max_groups_per_unit: from 1 to the number of groups.
    """

    column: Column
    groups: PublicCandidates
    max_groups_per_unit: int = 1


def check_groups(grouping: Grouping | None) -> None:
    """Refuse groups that no value of their column could ever equal."""
    if grouping is not None:
        check_match(grouping.column, grouping.groups.kind)


@dataclass(frozen=True, slots=True)
class Amount:
    """Which whole number a row adds to its candidate, and how much a unit may add.

    The double nearest to the number in the row's `column` is multiplied by the one nearest to `scale`, rounded to the
    nearest whole number (half to even), and clipped to `lower` ... `upper`; all in double precision, so that every
    engine finds the same. What one unit's rows add to one candidate is clipped to the same bounds.

    Attributes:
        column: of numbers; rows in which there is none are left out.
        scale: public, > 0: 100 counts cents.
        lower: smallest amount, in the scaled whole numbers; at least -2^31.
        upper: largest, > lower; at most 2^31.
    """

    column: Column
    scale: Fraction
    lower: int
    upper: int


class Table(Protocol):
    """One table of one engine: headers, footers and schemas are read when it is made, rows anew for each summary.

    Each summary is a list with one entry for each group, in the order of ``grouping.groups``; one entry without groups.
    All may raise `InvalidDataError` (a column of a type that cannot match; a source that cannot be read to its end) and
    `SelectionError` (no memory, no connection); no message quotes a row, or depends on one.
    """

    @property
    def shown(self) -> str:
        """How errors and ``repr`` speak of it: a path, a kind of frame, a URL without its password."""
        ...

    def column(self, name: object, *, argument: str = "column") -> Column:
        """The column called `name`."""
        ...

    def unit(self, name: object) -> Column:
        """The column called `name`, if it can name units."""
        ...

    def count(
        self,
        *,
        unit: Column,
        column: Column,
        candidates: PublicCandidates,
        grouping: Grouping | None = None,
        progress: Progress | None = None,
    ) -> list[CandidateCounts]:
        """How many different units have at least one row with each candidate. Proof: ``proofs/counting.md``."""
        ...

    def total(
        self,
        *,
        unit: Column,
        column: Column,
        candidates: PublicCandidates,
        amount: Amount,
        grouping: Grouping | None = None,
        progress: Progress | None = None,
    ) -> list[CandidateTotals]:
        """What the units' clipped amounts add up to for each candidate. Proof: ``proofs/clipped_sums.md``."""
        ...

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
        """Numbers clipped into `domain`, of each unit at most so many in each group.

        Proof: ``proofs/unit_values.md``.
        """
        ...


@runtime_checkable
class DrawsInPlace(Protocol):
    """A table whose engine can draw where the scores are, so that those of very many candidates stay there."""

    def listed(self, candidates: object, *, allow_many: bool) -> PublicCandidates | DistantCandidates | None:
        """The public candidates in a frame of the table's own engine; None if `candidates` is none.

        Raises:
            InvalidCandidatesError: they are no such candidates.
            InvalidDataError: the engine could not answer.
        """
        ...

    def select(
        self,
        *,
        unit: Column,
        column: Column,
        candidates: PublicCandidates | DistantCandidates,
        mechanism: Mechanism,
        progress: Progress | None = None,
    ) -> PendingSelection | None:
        """The most common candidates by `mechanism`, to be drawn when they are looked at: after they were charged.

        None if the scores had better be fetched, which depends on the engine and the number of candidates only.
        Proof: ``proofs/partial_selection.md``.
        """
        ...
