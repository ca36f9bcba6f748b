"""What a question reads: a scan, which is public, and its summary of each group, which is private.

No summary leaves the process by accident.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dpselect.summaries.candidates import PublicCandidates
from dpselect.summaries.domain import PublicClip, PublicDomain
from dpselect.summaries.kinds import CandidateKind


@dataclass(frozen=True, slots=True)
class CountsOf:
    """How many units have each candidate; read as `CandidateCounts`."""

    candidates: PublicCandidates
    max_values_per_unit: int | None = None  # for how many of them one unit counts; None: for any number
    argument: str = "candidates"  # the question's name for them, for errors


@dataclass(frozen=True, slots=True)
class TotalsOf:
    """What the units' clipped amounts add up to, for each candidate, or of all rows: `CandidateTotals`."""

    clip: PublicClip
    candidates: PublicCandidates | None = None


@dataclass(frozen=True, slots=True)
class ValuesIn:
    """The numbers of a column clipped into a domain, or its dates: at most so many of each unit, as `UnitValues`."""

    domain: PublicDomain
    max_rows_per_unit: int


@dataclass(frozen=True, slots=True)
class NamesOf:
    """How many units have each value that can be read as this kind, counting at most so many of each: `NameCounts`."""

    kind: CandidateKind
    max_values_per_unit: int


@dataclass(frozen=True, slots=True)
class PublicCondition:
    """How many units have a row that meets a condition, as a number. Without any part, every row of a unit meets it."""

    candidates: PublicCandidates | None = None  # the column has one of them
    is_number: bool = False  # the column has a number
    is_date: bool = False  # the column has a date
    between: tuple[int | float, int | float] | None = None  # the number is not below the first or above the second
    summed: str | None = None  # name of another column that has a number


Scan = CountsOf | TotalsOf | ValuesIn | NamesOf | PublicCondition


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
    """How many different units have a row with each candidate, in the candidates' order.

    Adding all rows of one more unit raises each entry by 0 or 1 (proof: ``proofs/counting.md``).

    >>> CandidateCounts(np.array([3, 0, 41]))
    CandidateCounts(<3 private numbers>)
    """

    counts: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CandidateTotals(PrivateNumbers):
    """A sum for each candidate, in the candidates' order: of the units' clipped amounts, or of the weights of rows.

    Adding all rows of one more unit moves each entry by a whole number between the lower and the upper bound of one
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
        counts: one for each name, all at least 1. Adding all rows of one more unit raises at most as many counts as a
            unit has values by 1, from 0 for a name that was not there (proof: ``proofs/unknown_candidates.md``).
        kind: the kind of the names.

    >>> NameCounts(["oslo", "rome"], np.array([3, 1]), kind=CandidateKind.TEXT)
    NameCounts(<private>)
    """

    names: Any
    counts: NDArray[np.int64]
    kind: CandidateKind = field(kw_only=True)

    @property
    def units(self) -> int:
        """How many units have a value, if each counts for one of its own."""
        return int(self.counts.sum())

    def __repr__(self) -> str:
        return "NameCounts(<private>)"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UnitValues(PrivateNumbers):
    """Numbers, at most a few of each unit.

    Attributes:
        values: within the bounds of `domain`, in an order without meaning; their number is as private as they are.
            Adding all rows of one more unit adds at most `max_rows_per_unit` values and changes no other (proof:
            ``proofs/unit_values.md``).
        domain: the public set they were clipped into.
        max_rows_per_unit: the most values one unit has among them.

    >>> UnitValues(np.array([39.0, 50.0]), domain=PublicDomain.given((0, 120)), max_rows_per_unit=1)
    UnitValues(<private numbers>, at most 1 per unit)
    """

    values: NDArray[np.float64]
    domain: PublicDomain = field(kw_only=True)
    max_rows_per_unit: int = field(kw_only=True)

    @property
    def units(self) -> int:
        """How many units have a number, or a date, if each has one at most."""
        return self.values.size

    def __repr__(self) -> str:
        return f"UnitValues(<private numbers>, at most {self.max_rows_per_unit} per unit)"


def ordered(summary: Any) -> Any:
    """The same in an order that does not depend on how the rows were read: engines do so with several threads."""
    match summary:
        case UnitValues(values):
            return replace(summary, values=np.sort(values))
        case NameCounts(names, counts):
            listed = names.to_pylist()
            order = np.array(sorted(range(len(listed)), key=listed.__getitem__), np.int64)
            return replace(summary, names=names.take(order), counts=counts[order])
        case _:
            return summary
