"""The contract of a question: its terms, which hold before the data is seen, its draw, and its certificate."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar, cast

from dpselect.errors import InvalidParameterError

if TYPE_CHECKING:
    from dpselect.accounting import Event
    from dpselect.mechanisms import (
        DiscreteGaussianMechanism,
        GeometricMechanism,
    )
    from dpselect.privacy import Sensitivity
    from dpselect.summaries import (
        CandidateCounts,
        CandidateKind,
        CandidateTotals,
        NameCounts,
        PublicCandidates,
        PublicClip,
        PublicCondition,
        PublicDomain,
        PublicGroups,
        UnitValues,
    )

CONFIDENCE = 0.99
"""Confidence level of the error bound that releases state."""

Value = int | float | str | bool | date
"""A candidate, or a number."""

Group = Value | tuple[Any, ...]
"""The name of a group; of a cross table a tuple."""

Answered = Value | list[Value] | dict[Group, "Value | list[Value]"]
"""One value, several in order, or either of these for each group."""

Summary = TypeVar("Summary")
"""The summary that a backend makes of one group of rows."""


Numbers = int | list[int] | dict[Group, "int | list[int]"]
"""A number of units for each answer, in the same shape; or one for each list of answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyUnits:
    """Noisy numbers of units that are released together with an answer.

    As ``release.usable``: the number of units that the question could use, from which to see whether the answer is
    about anything. A unit is counted if at least one of its rows can be used: it has, as the question needs, one of the
    candidates, a number, and one of the groups. As ``release.counted``: the number of units with each selected
    candidate.

    Attributes:
        count: the number, at least 0; a list for a list of selected candidates; with groups, a dictionary with such a
            number or list for each group. None before the draw.
        within: with `confidence` all of them (in one group, with groups) are at most this far from the truth.
        epsilon: the part of the release's epsilon that was spent on them; None if they came with the answer, at no
            cost.
        answer_epsilon: the part that was spent on the answer; None likewise.

    Proof: ``proofs/usable_units.md`` and ``proofs/noisy_order.md``.
    """

    count: Numbers | None = None
    within: int
    epsilon: float | None = None
    answer_epsilon: float | None = None

    @property
    def confidence(self) -> float:
        """Confidence level of `within`."""
        return CONFIDENCE

    @property
    def description(self) -> dict[str, Any]:
        """Its accuracy, and its cost if it cost anything, as in a certificate."""
        accuracy = {"within": self.within, "confidence": self.confidence}
        if self.epsilon is None:
            return accuracy
        return {**accuracy, "epsilon": self.epsilon, "answer_epsilon": self.answer_epsilon}


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The contents of a certificate except the answer. They are public, and known before the data is seen.

    Attributes:
        task: name of the question.
        mechanism: name of the mechanism that draws, as exported by `dpselect.mechanisms`.
        rounds: number of draws.
        epsilon: privacy loss of the whole release.
        delta: probability with which epsilon may fail.
        sensitivity: sensitivity of the scores under the guaranteed relation, with its proof.
        candidates: description of the candidates.
        error_bound: see `Release.error_bound`.
        proofs: pages that prove the guarantee, besides the page for the sensitivity.
        arguments: other arguments of the question.
        groups: the groups, for a question about groups.
        usable: the accuracy and the cost of a noisy number of units, if one is released, without the number.
        counted: the same of the noisy numbers of units with each selected candidate.
    """

    task: str
    mechanism: str
    rounds: int = 1
    epsilon: float
    delta: float = 0.0
    sensitivity: Sensitivity
    candidates: Mapping[str, Any]
    error_bound: float | None
    proofs: tuple[str, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    groups: Mapping[str, Any] | None = None
    usable: NoisyUnits | None = None
    counted: NoisyUnits | None = None

    @property
    def pages(self) -> tuple[str, ...]:
        """All pages that prove the guarantee: for the sensitivity, for the mechanism, and for exact sampling."""
        return self.sensitivity.proof, *self.proofs, "proofs/exact_sampling.md"


class Planned(Protocol):
    """The part of a release that is known before it is drawn; see `dpselect.Release`."""

    @property
    def task(self) -> str: ...
    @property
    def column(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def question(self) -> Mapping[str, Any]: ...
    @property
    def candidates(self) -> Mapping[str, Any]: ...
    @property
    def error_bound(self) -> float | None: ...
    @property
    def confidence(self) -> float: ...
    @property
    def arguments(self) -> Mapping[str, Any]: ...
    @property
    def groups(self) -> Mapping[str, Any] | None: ...
    @property
    def usable(self) -> NoisyUnits | None: ...
    @property
    def counted(self) -> NoisyUnits | None: ...


class RowReader(Protocol):
    """The rows of a table, for a question about one column: gives a summary of each group, or one without groups."""

    def count(
        self,
        candidates: PublicCandidates,
        groups: PublicGroups | None = None,
        *,
        max_values_per_unit: int | None = ...,
        argument: str = ...,
    ) -> list[CandidateCounts]: ...
    def total(
        self, candidates: PublicCandidates | None, clip: PublicClip, groups: PublicGroups | None = None
    ) -> list[CandidateTotals]: ...
    def gather(
        self, domain: PublicDomain, groups: PublicGroups | None = None, *, max_rows_per_unit: int
    ) -> list[UnitValues]: ...
    def units(self, condition: PublicCondition, groups: PublicGroups | None = None) -> list[int]: ...
    def names(
        self, kind: CandidateKind, groups: PublicGroups | None = None, *, max_values_per_unit: int
    ) -> list[NameCounts]: ...


class Drawn(NamedTuple):
    """What was drawn.

    Attributes:
        answer: the answer.
        usable: the noisy number of units in each group, one without groups; None if none was released.
        counted: the noisy number of units with each selected candidate, of all groups one after another; None likewise.
    """

    answer: Answered
    usable: list[int] | None = None
    counted: list[int] | None = None


class Priced(ABC, Generic[Summary]):
    """Something to answer at one price: a question, or a question for each of several groups."""

    @property
    @abstractmethod
    def event(self) -> Event:
        """The cost of one release, for accounting. It has to be charged before `draw` is called."""

    @cached_property
    def terms(self) -> Terms:
        """The contents of the certificate, except the answer."""
        raise NotImplementedError

    @property
    @abstractmethod
    def of_one(self) -> Any:
        """The question itself, of one group if there are groups."""

    @property
    def nothing_drawn(self) -> Answered:
        """The placeholder for the answer before it is drawn."""
        return cast(Answered, None)

    @abstractmethod
    def read(self, rows: RowReader, /) -> Summary:
        """The summary of the rows that `draw` needs."""

    @abstractmethod
    def released(self, summary: Summary, /) -> Drawn:
        """The answer, at the cost of `event`, with the noisy numbers of units that `Terms` says are released with it.

        Args:
            summary: summary of the rows, made for this question.

        Raises:
            InvalidParameterError: the summary was made for another question. Nothing is drawn then.
        """

    def draw(self, summary: Summary, /) -> Answered:
        """The answer alone."""
        return self.released(summary).answer

    @abstractmethod
    def count_units(self, rows: RowReader, summary: Summary, /) -> list[int]:
        """How many units the question could use, in each group; one number without groups. Private.

        Args:
            rows: the rows.
            summary: what `read` made of them.
        """


def is_number(value: object) -> bool:
    """Whether it is a finite number as JSON has it."""
    return type(value) in (int, float) and abs(cast("float", value)) <= sys.float_info.max


LARGEST_COUNT = 2**62
"""Noisy counts beyond this are released as this."""


def check_useful(mechanism: GeometricMechanism | DiscreteGaussianMechanism, counts: int) -> None:
    """Refuse an epsilon at which noise would drown any number of units."""
    if mechanism.error_bound(CONFIDENCE, size=counts) * counts >= LARGEST_COUNT:
        raise InvalidParameterError("epsilon", mechanism.epsilon, "a number large enough for a useful count")


def is_noisy_count(value: object) -> bool:
    """Whether it is a whole number that a noisy count can be."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_COUNT


ROW_CONDITIONS = "proofs/row_conditions.md"
"""The page that also proves a release about those rows alone that meet conditions."""

PARTIAL_SELECTION = "proofs/partial_selection.md"
"""The page that also proves a release drawn where the rows are."""


def from_rows(release: Planned, numbers: str, *, ends: tuple[str, str] = ("lower", "upper")) -> str:
    """The origin of an answer drawn out of `numbers`, between `ends`, for a bounded number of rows per unit."""
    low, high = (as_text(release.candidates[end]) for end in ends)
    return f"out of {numbers} from {low} to {high}, from {_rows_of_each(release)}"


def counting_rows(release: Planned) -> str:
    """Rows left out are not covered by the bound: their random choice comes on top of the noise."""
    return f", counting {_rows_of_each(release)}"


def _rows_of_each(release: Planned) -> str:
    return f"at most {counted(release.arguments['max_rows_per_unit'], 'row')} of each {release.unit}"


def clipped(release: Planned) -> str:
    """How much one unit may add to a sum, in the unit of the column."""
    low, high = (as_text(release.arguments[end] / release.arguments["scale"]) for end in ("lower", "upper"))
    return f"from {low} to {high}"


def as_text(value: object) -> str:
    """Every digit of it (a rounded epsilon would promise more than was kept), but 37 for 37.0.

    >>> as_text(0.1 + 0.2), as_text(37.0), as_text("37.0")
    ('0.30000000000000004', '37', '37.0')
    """
    if isinstance(value, tuple):  # a group of a cross table
        return ", ".join(map(as_text, cast("tuple[object, ...]", value)))
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def counted(count: int, noun: str) -> str:
    """A number with a noun, in the singular for one.

    >>> counted(1, "row"), counted(1000, "price"), counted(0, "rank")
    ('1 row', '1,000 prices', '0 ranks')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
