"""How many units are there, or how many have a row that meets a public condition?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np

from dpselect.arguments import whole_or_double_bounds
from dpselect.errors import InvalidParameterError, Shown
from dpselect.mechanisms import GeometricMechanism
from dpselect.privacy import Neighbours
from dpselect.questions.question import (
    CONFIDENCE,
    LARGEST_COUNT,
    Planned,
    Question,
    RowReader,
    Terms,
    check_useful,
    is_noisy_count,
)
from dpselect.questions.scores import count_sensitivity
from dpselect.questions.wording import as_text
from dpselect.summaries import CandidateCounts, PublicCandidates, PublicCondition, PublicGroups

if TYPE_CHECKING:
    from dpselect.accounting import PureEvent

MOST_VALUES = 10_000
"""Values of a condition. They are all written into the certificate."""


@dataclass(frozen=True, kw_only=True)
class Count(Question[CandidateCounts]):
    """How many units have a row that meets the condition? Planned from public arguments; sees the number only later.

    Attributes:
        condition: what a row needs: one of some values, a number between two bounds, or nothing.
        mechanism: draws once, at the whole cost.
    """

    name: ClassVar[str] = "count"
    measure: ClassVar[str] = "units ({unit})"
    is_amount: ClassVar[bool] = True
    is_count: ClassVar[bool] = True
    bounds_value: ClassVar[bool] = True

    condition: PublicCondition
    mechanism: GeometricMechanism

    @classmethod
    def planned(
        cls,
        condition: PublicCondition,
        *,
        epsilon: float,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Self:
        """The question, planned for a cost of `epsilon`.

        Raises:
            InvalidParameterError: `epsilon` is not a finite number > 0, or there are too many values.

        >>> Count.planned(PublicCondition(), epsilon=0.5).mechanism.scale  # 1/epsilon
        2.0
        """
        listed = condition.candidates
        if listed is not None and len(listed) > MOST_VALUES:
            got = Shown(f"<{len(listed):,} {listed.kind}>")
            raise InvalidParameterError(
                "values", got, f"at most {MOST_VALUES:,}", "The certificate names each of them."
            )
        mechanism = GeometricMechanism(epsilon=epsilon, sensitivity=1, bounds=(0, LARGEST_COUNT), neighbours=neighbours)
        check_useful(mechanism, 1)
        return cls(condition=condition, mechanism=mechanism)

    @property
    def event(self) -> PureEvent:
        """What one release costs, for accounting; to be charged before `draw` is called."""
        return self.mechanism.event

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain.

        Proof: ``proofs/counting.md``, claim 5, and ``proofs/geometric_mechanism.md``.
        """
        return Terms(
            task=self.name,
            mechanism=type(self.mechanism).__name__,
            epsilon=self.mechanism.epsilon,
            sensitivity=count_sensitivity(self.mechanism.neighbours),
            candidates={},
            error_bound=float(self.mechanism.error_bound(CONFIDENCE)),
            proofs=("proofs/geometric_mechanism.md",),
            arguments=self._stated_condition,
        )

    @property
    def _stated_condition(self) -> dict[str, Any]:
        if self.condition.between is not None:
            return {"between": list(self.condition.between)}
        if self.condition.candidates is None:
            return {}
        listed = cast(PublicCandidates, self.condition.candidates)
        return {"kind": str(listed.kind), "values": listed.stated()}

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[CandidateCounts]:
        """How many units have a row that meets the condition."""
        return [CandidateCounts(np.array([units], np.int64)) for units in rows.units(self.condition, groups)]

    def usable_units(
        self, rows: RowReader, groups: PublicGroups | None, summaries: list[CandidateCounts], /
    ) -> list[int]:
        """How many units have a number, between the bounds or not."""
        return rows.units(PublicCondition(is_number=True), groups)

    def draw(self, summary: CandidateCounts, /) -> int:
        """The number of units, with noise."""
        return self.mechanism.draw(int(summary.counts[0]))

    label: ClassVar[str] = "answer"

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """See `Question.keys`."""
        return ["count"]

    @classmethod
    def accepts_usable_epsilon(cls, release: Planned) -> bool:
        """See `Question.accepts_usable_epsilon`. Of numbers between two others, none may be there or none be read."""
        return "between" in release.arguments

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        return (
            f"the released number is within {bound:,.0f} of the number of units ({release.unit}){_condition(release)}"
        )

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        return f"counting units ({release.unit}){_condition(release)}"

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """See `Question.possible`."""
        return len(values) == 1 and all(map(is_noisy_count, values))


def listed_values(values: object) -> PublicCandidates | None:
    """The values of a condition; a single one may be given by itself.

    >>> listed_values("Oslo")
    PublicCandidates(<1 text>)
    """
    single = isinstance(values, (str, int, float, bool)) or hasattr(values, "isoformat")
    return None if values is None else PublicCandidates.given([values] if single else values, argument="values")


def condition_given(column: object, values: PublicCandidates | None, between: object) -> PublicCondition:
    """The condition that the caller gave.

    Raises:
        InvalidParameterError: a condition without a column, a column without a condition, or two conditions.

    >>> condition_given("age", None, (65, 120)).between
    (65.0, 120.0)
    """
    if values is not None and between is not None:
        raise InvalidParameterError("between", Shown("<two numbers>"), "None, because values are given")
    if column is None:
        if values is not None or between is not None:
            raise InvalidParameterError("column", None, "the name of the column that the condition is about")
        return PublicCondition()
    if values is None and between is None:
        hint = "Without a column, every unit is counted. A histogram counts the units with each value."
        raise InvalidParameterError("values", None, "values of the column, or two numbers (between)", hint)
    if between is None:
        return PublicCondition(candidates=values, argument="values")
    return PublicCondition(is_number=True, between=whole_or_double_bounds(between, "between"))


def _condition(release: Planned) -> str:
    given = release.arguments
    if "between" in given:
        low, high = map(as_text, given["between"])
        return f" with {release.column} from {low} to {high}"
    values = given.get("values")
    if values is None:
        return ""
    if len(values) == 1:
        return f" with {release.column} {as_text(values[0])}"
    return f" with one of {len(values):,} values of {release.column}"
