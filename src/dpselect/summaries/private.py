"""Private numbers of a table, one class for each kind of question; none leaves the process by accident."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dpselect.summaries.candidates import CandidateKind
from dpselect.summaries.domain import PublicDomain


class PrivateNumbers:
    """Shows no number and cannot be pickled or copied; its array cannot be written to."""

    __slots__ = ()

    def _numbers(self) -> NDArray[np.int64] | NDArray[np.float64]:
        raise NotImplementedError

    def __post_init__(self) -> None:
        self._numbers().setflags(write=False)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(<{self._numbers().size} private numbers>)"

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} are private and cannot be pickled or copied")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CandidateCounts(PrivateNumbers):
    """How many different units have a row with each candidate.

    Attributes:
        counts: shape ``(n,)``, int64, read-only; one entry for each candidate, in the candidates' order. Adding all
            rows of one more unit raises each entry by 0 or 1 (proof: ``proofs/counting.md``).

    >>> CandidateCounts(np.array([3, 0, 41]))
    CandidateCounts(<3 private numbers>)
    """

    counts: NDArray[np.int64]

    def _numbers(self) -> NDArray[np.int64]:
        return self.counts


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CandidateTotals(PrivateNumbers):
    """The sum of the units' clipped amounts for each candidate.

    Attributes:
        totals: shape ``(n,)``, int64, read-only; one entry for each candidate, in the candidates' order. Adding all
            rows of one more unit moves each entry by a whole number between the lower and the upper bound of one
            unit's amount, or by 0 (proof: ``proofs/clipped_sums.md``).

    >>> CandidateTotals(np.array([300, -5, 0]))
    CandidateTotals(<3 private numbers>)
    """

    totals: NDArray[np.int64]

    def _numbers(self) -> NDArray[np.int64]:
        return self.totals


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NameCounts(PrivateNumbers):
    """The values that occur in a column, and how many different units count for each. Both are private.

    Attributes:
        names: an Arrow array of different values without nulls, in an order without meaning.
        counts: shape ``(n,)``, int64, read-only, all at least 1; one entry for each name. Adding all rows of one more
            unit raises at most as many counts as a unit has values by 1, from 0 for a name that was not there (proof:
            ``proofs/unknown_candidates.md``).
        kind: the kind of the names.

    >>> NameCounts(["oslo", "rome"], np.array([3, 1]), kind=CandidateKind.TEXT)
    NameCounts(<private>)
    """

    names: Any
    counts: NDArray[np.int64]
    kind: CandidateKind = field(kw_only=True)

    def _numbers(self) -> NDArray[np.int64]:
        return self.counts

    @classmethod
    def by_group(
        cls, names: Any, counts: NDArray[np.int64], places: NDArray[np.int64], *, kind: CandidateKind, groups: int
    ) -> list[NameCounts]:
        """The summary of each group, from those of all groups together.

        Args:
            names, counts, kind: see the attributes; a name is there once for each group in which it occurs.
            places: for each name the place of its group in the list of groups.
            groups: the number of groups.
        """
        order = np.argsort(places, kind="stable")
        ends = np.cumsum(np.bincount(places, minlength=groups))[:-1]
        return [cls(names.take(some), counts[some], kind=kind) for some in np.split(order, ends)]

    def in_order(self) -> NameCounts:
        """The same with sorted names."""
        values = self.names.to_pylist()
        order = np.array(sorted(range(len(values)), key=values.__getitem__), np.int64)
        return NameCounts(self.names.take(order), self.counts[order], kind=self.kind)

    def __repr__(self) -> str:
        return "NameCounts(<private>)"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RuleCounts(PrivateNumbers):
    """How many rows, weighted, each feature's best rule gets right.

    Attributes:
        right: shape ``(n,)``, int64, read-only; one entry for each feature. One more row raises each entry by a whole
            number from 0 to the weight of the row's class (proof: ``proofs/feature_scores.md``).

    >>> RuleCounts(np.array([31, 47]))
    RuleCounts(<2 private numbers>)
    """

    right: NDArray[np.int64]

    def _numbers(self) -> NDArray[np.int64]:
        return self.right


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UnitValues(PrivateNumbers):
    """Numbers, at most a few of each unit.

    Attributes:
        values: shape ``(n,)``, float64, read-only, within the bounds of `domain`, in an order without meaning.
            Their number is as private as they are. Adding all rows of one more unit adds at most
            `max_rows_per_unit` values and changes no other (proof: ``proofs/unit_values.md``).
        domain: the public set they were clipped into.
        max_rows_per_unit: the most values one unit has among them.

    >>> UnitValues(np.array([39.0, 50.0]), domain=PublicDomain.given((0, 120)), max_rows_per_unit=1)
    UnitValues(<private numbers>, at most 1 per unit)
    """

    values: NDArray[np.float64]
    domain: PublicDomain = field(kw_only=True)
    max_rows_per_unit: int = field(kw_only=True)

    def _numbers(self) -> NDArray[np.float64]:
        return self.values

    def __repr__(self) -> str:
        return f"UnitValues(<private numbers>, at most {self.max_rows_per_unit} per unit)"
