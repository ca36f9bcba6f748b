"""The k most common candidates as one set: a single draw, whose members have no order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np

from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import TopKSet
from dpselect.mechanisms.noisy_order import left_for_selection
from dpselect.privacy import Neighbours
from dpselect.questions import fields
from dpselect.questions.fields import AnswerFields, Fields
from dpselect.questions.list_question import ListQuestion, listed, public_values
from dpselect.questions.question import CONFIDENCE, Answered, Planned, RowReader, Terms
from dpselect.questions.scores import count_scores, count_sensitivity
from dpselect.questions.weights import WEIGHTED_PROOFS, WEIGHTS, among, drawn_with, matched_weights
from dpselect.summaries import CandidateCounts, DistantCandidates, PublicCandidates, PublicCondition, PublicGroups

if TYPE_CHECKING:
    from dpselect.accounting import BoundedRangeEvent
    from dpselect.mechanisms.weights import CandidateWeights
    from dpselect.questions.stated import Stated

_PAGE = "proofs/top_k_sets.md"

RULE = "the values are drawn as one set: their order is that of the candidates, and does not say which is more common"
"""What the release says of their order."""


@dataclass(frozen=True, kw_only=True)
class TopSet(ListQuestion[CandidateCounts]):
    """Which set of k candidates do the most units have? Planned from public arguments; sees the counts only in `draw`.

    Attributes:
        candidates: the public set to choose from.
        mechanism: draws the set, at the whole cost.
        weights: the description of the candidates' weights, if they have any: their hash, and the logarithm of the
            weight of all other sets over that of the lightest.
    """

    name: ClassVar[str] = "top_k_set"
    label: ClassVar[str] = "member"

    candidates: PublicCandidates
    mechanism: TopKSet
    weights: Mapping[str, Any] | None = None

    @classmethod
    def planned(
        cls,
        candidates: PublicCandidates | DistantCandidates,
        k: int,
        *,
        epsilon: float,
        with_counts: bool = False,
        weights: object = None,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Self:
        """The question, planned for a cost of `epsilon`; for half of it if counts are wanted and cost the other half.

        Raises:
            InvalidParameterError: `k` is not a whole number from 1 to below the number of candidates, `epsilon` not a
                finite number > 0, or the weights are not valid.

        >>> question = TopSet.planned(PublicCandidates.given(range(1000)), 10, epsilon=1.0)
        >>> round(question.terms.error_bound)
        117
        """
        assert isinstance(candidates, PublicCandidates)
        moved = count_sensitivity(neighbours)
        mechanism = TopKSet(
            k=k,
            epsilon=left_for_selection(epsilon) if with_counts else epsilon,
            sensitivity=moved.value,
            monotonic=moved.monotonic,
            neighbours=moved.neighbours,
            weights=None if weights is None else matched_weights(weights, len(candidates)),
        )
        log_odds, held = mechanism.log_odds(len(candidates)), cast("CandidateWeights | None", mechanism.weights)
        description = None if held is None else {"hash": held.hash(), "log_odds": log_odds}
        return cls(candidates=candidates, mechanism=mechanism, weights=description)

    @property
    def answers(self) -> int:
        """See `ListQuestion`."""
        return self.mechanism.k

    @property
    def event(self) -> BoundedRangeEvent:
        """What one release costs, for accounting; to be charged before `draw` is called."""
        return self.mechanism.event

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain.

        Proof: ``proofs/counting.md`` (the sensitivity) and ``proofs/top_k_sets.md`` (the draw).
        """
        mechanism, weights = self.mechanism, self.weights
        odds = mechanism.log_odds(len(self.candidates)) if weights is None else weights["log_odds"]
        return Terms(
            task=self.name,
            mechanism=type(mechanism).__name__,
            epsilon=mechanism.epsilon,
            sensitivity=count_sensitivity(mechanism.neighbours),
            candidates=self.candidates.description(),
            error_bound=mechanism.bound_at(odds, CONFIDENCE),
            proofs=(_PAGE,) if weights is None else (_PAGE, *WEIGHTED_PROOFS),
            arguments={"k": mechanism.k, **({} if weights is None else {"weights": dict(weights)}), "rule": RULE},
        )

    @property
    def identity(self) -> dict[str, Any]:
        """The public arguments that distinguish this question from others about the same column."""
        weighed = {} if self.weights is None else {"weights": dict(self.weights)}
        return {"k": self.mechanism.k, "method": "set", "candidates": public_values(self.candidates), **weighed}

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[CandidateCounts]:
        """How many units have each candidate."""
        return self.counts(rows, groups)

    def usable_units(
        self, rows: RowReader, groups: PublicGroups | None, summaries: list[CandidateCounts], /
    ) -> list[int]:
        """How many units have one of the candidates."""
        return rows.units(PublicCondition(candidates=self.candidates), groups)

    def draw(self, summary: CandidateCounts, /) -> Answered:
        """The candidates of the set, in the order of the list."""
        scores = count_scores(summary, self.mechanism.neighbours)
        return [self.candidates[position] for position in self.mechanism.select(scores.values)]

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """See `Question.keys`."""
        return [str(number) for number in range(1, count + 1)]

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        return f"each selected count is within {math.floor(bound):,} of the best one left out{among(release)}"

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        return f"{super().origin(release)}{drawn_with(release)}"

    @classmethod
    def check_fields(cls, held: Fields) -> AnswerFields:
        """See `Question.check_fields`."""
        checks = {"k": fields.count, "rule": fields.one_of(RULE), "weights": _weights}
        given = fields.object_with(held.get("arguments", {}), "arguments", checks, optional=["weights"])
        return AnswerFields(listed(held), given["k"])

    @classmethod
    def described_weights(cls, weights: object, stated: Stated) -> Mapping[str, Any]:
        """See `Question.described_weights`."""
        planned = cls.planned(stated.candidates(), stated.arguments["k"], weights=weights, **stated.price)
        return cast("Mapping[str, Any]", planned.weights)

    @classmethod
    def restated(cls, stated: Stated) -> Self:
        """See `Question.restated`."""
        given, candidates = stated.arguments, stated.candidates()
        k, weights = given["k"], given.get("weights")
        question = cls.planned(candidates, k, **stated.price)
        if weights is None:
            return question
        if weights["log_odds"] < math.log(k) - 1e-9:  # the lightest of more than k sets
            raise fields.wrong("arguments.weights", "odds that so many candidates can have")
        return cls(candidates=candidates, mechanism=question.mechanism, weights=weights)

    @classmethod
    def allows(cls, values: list[Any], stated: Stated) -> bool:
        """See `Question.allows`. They are in the order of the candidates."""
        if not super().allows(values, stated):
            return False
        if "range" not in stated.public:
            return True
        return all(np.sign(after - one) == np.sign(stated.public["range"]["step"]) for one, after in pairwise(values))

    @classmethod
    def agrees(cls, values: list[Any], units: int | None, counts: list[int] | None, stated: Stated) -> bool:
        """See `Question.agrees`. No count comes at no cost."""
        del values, units, counts, stated
        return True


def check_set(*, delta: object, with_gap: object, max_values_per_unit: object) -> None:
    """Refuse what a set cannot have.

    Raises:
        InvalidParameterError: names the argument.
    """
    reasons: dict[str, tuple[object, object, str]] = {
        "delta": (delta, 0, "A set is one draw, which a delta would not make more accurate."),
        "with_gap": (with_gap, False, "A set has no order, so nobody in it is ahead of another."),
        "max_values_per_unit": (
            max_values_per_unit,
            None,
            "Noise once on all counts gives an order, too.",
        ),
    }
    for name, (given, expected, why) in reasons.items():
        if given is not expected and given != expected:
            raise InvalidParameterError(name, given, f'{expected} with method="set"', why)


def _weights(value: object, name: str) -> None:
    fields.object_with(value, name, WEIGHTS | {"log_odds": fields.number})
