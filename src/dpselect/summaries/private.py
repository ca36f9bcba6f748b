"""Private numbers of a table, one class for each kind of question; none leaves the process by accident.

And the public features of which `RuleCounts` are made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dpselect.summaries.candidates import PublicCandidates
from dpselect.summaries.domain import GrowingBins, PublicBins, PublicDomain
from dpselect.summaries.kinds import CandidateKind


class PrivateNumbers:
    """Shows no number and cannot be pickled or copied; its arrays cannot be written to."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for array in self._arrays():
            array.setflags(write=False)

    def _arrays(self) -> list[NDArray[Any]]:
        held: Any = self
        return [each for field in fields(held) if isinstance(each := getattr(self, field.name), np.ndarray)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(<{self._arrays()[0].size} private numbers>)"

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

    def __repr__(self) -> str:
        return f"UnitValues(<private numbers>, at most {self.max_rows_per_unit} per unit)"


HIGHEST_WEIGHT = 1 << 20
"""Of a class: weighted counts of any table that fits into memory stay far below 2^63."""

MOST_CELLS = 1 << 24
"""Of the table of bins and classes that is counted for one feature."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicFeatures:
    """The features to choose from, the bins of each, and the weights of the classes.

    A rule assigns one class to each bin of one feature, and one to a missing value; the best rule of a feature assigns
    the class with the largest weight there. The rule itself is never released; only its number of correct rows is used.

    Attributes:
        names: of the features.
        bins: of each feature, in the order of `names`.
        weights: whole numbers >= 1, one for each class: what a row of it counts for.

    >>> cut = PublicBins.given((0, 10), 2)
    >>> features = PublicFeatures(names=PublicCandidates.given(["age"]), bins=(cut,), weights=(1, 1))
    >>> features.tally([np.array([1.0, 2.0, 3.0, 7.0, np.nan])], np.array([0, 0, 1, 1, -1])).right.tolist()
    [3]
    """

    names: PublicCandidates
    bins: tuple[PublicBins | GrowingBins, ...]
    weights: tuple[int, ...]

    def tally(self, columns: Iterable[NDArray[np.float64]], classes: NDArray[np.int64]) -> RuleCounts:
        """What the best rule of each feature gets right; decided for each row alone, summed in whole numbers.

        Args:
            columns: the values of each feature, shape ``(rows,)`` each; NaN is a missing value.
            classes: position of each row's class, shape ``(rows,)``; -1: none of them, and the row is left out.
        """
        known = classes >= 0
        known_classes = classes[known]
        right = [self._right(cut, column[known], known_classes) for cut, column in zip(self.bins, columns, strict=True)]
        return RuleCounts(np.array(right, dtype=np.int64))

    def _right(self, cut: PublicBins | GrowingBins, values: NDArray[np.float64], classes: NDArray[np.int64]) -> int:
        many = len(self.weights)
        places = np.where(np.isnan(values), cut.count, cut.places(values))
        cells = np.bincount(places * many + classes, minlength=(cut.count + 1) * many).astype(np.int64, copy=False)
        weighted = cells.reshape(cut.count + 1, many) * np.array(self.weights, dtype=np.int64)
        return int(weighted.max(axis=1).sum())
