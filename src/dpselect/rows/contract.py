"""The contract of a table, whatever engine holds its rows: what a question can ask of it.

Each answer is a bounded summary. Every engine follows the rules for rows in ``docs/files.md``: whether a row counts
depends on that row alone, and whether reading succeeds depends on no row's content.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from dpselect.rows.columns import Column
from dpselect.summaries import (
    CandidateCounts,
    CandidateKind,
    CandidateTotals,
    NameCounts,
    PublicCandidates,
    PublicDomain,
    UnitValues,
)

Progress = Callable[[float], None]
"""Called from time to time on the caller's thread with the fraction of the input that was read, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """A public list of groups, and the number of groups in which one unit counts.

    A unit with rows in more groups counts in `max_groups_per_unit` of them; its rows in other groups are left out. They
    are chosen at random, so that every set of this size is equally likely, by the unit's own rows alone and by random
    bits that are independent of the data. Only rows that would count without groups (with a unit, a candidate and a
    number, if needed) put a unit into a group.

    Attributes:
        column: column with the group of each row; rows with a value not in `groups` are left out.
        groups: the public list.
        max_groups_per_unit: from 1 to the number of groups.
        listed: for a cross table, the different values in each of its columns.
    """

    column: Column
    groups: PublicCandidates
    max_groups_per_unit: int = 1
    listed: tuple[PublicCandidates, ...] = ()


@dataclass(frozen=True, slots=True)
class Amount:
    """The whole number that a row adds to its candidate, and the most that a unit may add.

    The double nearest to the number in `column` is multiplied by the double nearest to `scale`, rounded to the nearest
    whole number (half to even), and clipped to `lower` ... `upper`. All of it is in double precision, so that every
    engine computes the same. The sum of one unit's rows for one candidate is clipped to the same bounds.

    Attributes:
        column: column of numbers; rows without one are left out.
        scale: public, > 0; for example 100 to count cents.
        lower: smallest amount, in scaled whole numbers; at least -2^31.
        upper: largest amount, > lower; at most 2^31.
    """

    column: Column
    scale: Fraction
    lower: int
    upper: int


@dataclass(frozen=True, slots=True)
class Needed:
    """What a row needs, besides a unit and a group, so that a question can use it: a candidate, a number, or both.

    Attributes:
        matched: the column of the candidates, and the candidates; None: it needs none.
        number: the column of the number; None: it needs none.
        between: the smallest and the largest number that it may be; None: any.
    """

    matched: tuple[Column, PublicCandidates] | None = None
    number: Column | None = None
    between: tuple[int | float, int | float] | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """A public condition on a row: a row without such a value in the column is looked at by no question.

    It is decided by the row alone, before contributions are bounded, so it changes nobody's share in an answer.
    Proof: ``proofs/row_conditions.md``.

    Attributes:
        column: the column.
        listed: the values that it may have; None: any number `between` two ends.
        between: the smallest and the largest number; None: no such end.
    """

    column: Column
    listed: PublicCandidates | None = None
    between: tuple[int | float | None, int | float | None] = (None, None)

    @property
    def words(self) -> dict[str, Any]:
        """What a certificate says of it."""
        if self.listed is None:
            return {"column": self.column.name, "between": [*self.between]}
        return {"column": self.column.name, "values": self.listed.words(whole=True)}


class Table(Protocol):
    """One table of one engine. Headers, footers and schemas are read when it is made, rows again for each summary.

    Each summary is a list with one entry for each group, in the order of ``grouping.groups``; one entry without groups.
    All methods may raise `InvalidDataError` (the type of a column cannot match; the source cannot be read to its end)
    and `SelectionError` (no memory, no connection). No message quotes a row or depends on one.
    """

    @property
    def shown(self) -> str:
        """Its name in errors and ``repr``: a path, a kind of frame, or a URL without its password."""
        ...

    def column(self, name: object, *, argument: str = "column") -> Column:
        """The column called `name`."""
        ...

    def unit(self, name: object) -> Column:
        """The column called `name`, if its type can identify units."""
        ...

    def filtered(self, conditions: tuple[Condition, ...]) -> Table:
        """The same table with those rows alone that meet all conditions."""
        ...

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
        """How many different units have at least one row with each candidate. Proof: ``proofs/counting.md``.

        With `max_values_per_unit`, a unit with more candidates (in a group) counts for this many of them. They are
        chosen as groups are.
        """
        ...

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
        """The sum of the units' clipped amounts for each candidate; without candidates, of all rows.

        Proof: ``proofs/clipped_sums.md``.
        """
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
        """Numbers clipped into `domain`, at most `max_rows_per_unit` of each unit in each group.

        Proof: ``proofs/unit_values.md``.
        """
        ...

    def units(
        self,
        *,
        unit: Column,
        needed: Needed,
        grouping: Grouping | None = None,
        progress: Progress | None = None,
    ) -> list[int]:
        """How many different units have at least one row that a question can use. Proof: ``proofs/usable_units.md``."""
        ...

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
        """How many different units have at least one row with each value that occurs, read as candidates of `kind` are.

        A unit with more values (in a group) counts for `max_values_per_unit` of them. They are chosen as groups are.
        Proof: ``proofs/unknown_candidates.md``.
        """
        ...


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """A summary that is asked of a table.

    Attributes:
        method: the method of `Table`.
        arguments: its arguments, by name, except `progress`.
    """

    method: str
    arguments: Mapping[str, Any]


@runtime_checkable
class SharesPasses(Protocol):
    """A table that can make several summaries in one pass over its rows."""

    def in_one_pass(self, asked: Sequence[SummaryRequest], *, progress: Progress | None = None) -> list[list[Any]]:
        """The summaries that are asked for, in their order: those that each method alone would return.

        They have the same unit. What is left to chance is independent from one to the other.
        Proof: ``proofs/one_pass.md``.
        """
        ...
