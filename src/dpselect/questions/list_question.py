"""The common part of questions that choose from a public list by the number of units with each candidate."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, cast

from dpselect import mechanisms, summaries
from dpselect.privacy import Neighbours
from dpselect.questions.declared import Columns, Question
from dpselect.questions.question import CONFIDENCE, LARGEST_COUNT, Drawn, NoisyUnits, Terms, check_useful, counted
from dpselect.questions.scores import count_sensitivity, noise_sensitivity

if TYPE_CHECKING:
    from dpselect.mechanisms import NoisyOrder
    from dpselect.mechanisms.top_k import TopKPlan
    from dpselect.privacy import Sensitivity
    from dpselect.questions.question import Planned, RowReader, Value
    from dpselect.summaries import CandidateCounts, PublicCandidates, PublicGroups


class ListQuestion(Question):
    """A question that chooses from a list. Its subclasses are questions."""

    label: ClassVar[str] = "rank"

    def known(self, columns: Columns, neighbours: Neighbours, /) -> Question:
        """See `Question.known`. All candidates are listed."""
        listed: dict[str, Any] = {"candidates": columns.listed(cast(Any, self).candidates)}
        return replace(self, **listed, neighbours=neighbours)

    @property
    def answers(self) -> int:
        """Number of candidates that it selects."""
        return 1

    @property
    def most_per_unit(self) -> int | None:
        """For how many candidates one unit counts; None: for any number."""
        return None

    @property
    def choices(self) -> PublicCandidates:
        """The candidates, where this process lists them."""
        return cast(Any, self).candidates

    def counts(self, rows: RowReader, groups: PublicGroups | None) -> list[CandidateCounts]:
        """How many units have each candidate, in each group."""
        return rows.count(self.choices, groups, max_values_per_unit=self.most_per_unit)

    def usable_units(self, rows: RowReader, groups: PublicGroups | None, found: list[Any], /) -> list[int]:
        """How many units have one of the candidates."""
        return rows.units(summaries.PublicCondition(candidates=self.choices), groups)

    @classmethod
    def counting(cls, release: Planned) -> str:
        """See `Question.counting`."""
        most = release.arguments.get("max_values_per_unit")
        return "" if most is None else f", counting at most {counted(most, 'value')} of each {release.unit}"

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        return f"out of {counted(release.candidates['count'], 'candidate')} given by the caller"

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """See `Question.possible`. The most common comes first."""
        falling = counts is None or all(one >= next_one for one, next_one in pairwise(counts))
        return falling and len(values) == self.answers and self.choices.may_hold(values)


class Counted(ListQuestion):
    """A question that may have noise once on all counts, where `order_noise` prefers it to a draw for each value."""

    if TYPE_CHECKING:  # declared by each, in its place among the others
        epsilon: float
        with_counts: bool

    rarest: ClassVar[bool] = False

    @property
    def most_per_unit(self) -> int | None:
        """See `ListQuestion`."""
        return getattr(self, "max_values_per_unit", None)

    @property
    def of_selection(self) -> float:
        """The epsilon of the selection: half of it if counts are wanted, because the other half pays for them."""
        return mechanisms.left_for_selection(self.epsilon) if self.with_counts else self.epsilon

    @cached_property
    def moved(self) -> Sensitivity:
        """How much one unit can change the counts."""
        return count_sensitivity(self.neighbours)

    @cached_property
    def once(self) -> NoisyOrder | None:
        """The plan with noise once on all counts, where the rule prefers it; None: a draw for each value.

        Raises:
            InvalidParameterError: an argument is out of range, or `epsilon` too small for counts to be of use.
        """
        most: int | None = getattr(self, "max_values_per_unit", None)
        if most is None and not self.with_counts:
            return None
        n, k, delta = len(self.choices), self.answers, cast("float", getattr(self, "delta", 0.0))
        asked: dict[str, Any] = {"epsilon": self.epsilon, "neighbours": self.neighbours}
        ruled: dict[str, Any] = {"delta": delta, "max_values_per_unit": most, "with_counts": self.with_counts}
        found = mechanisms.order_noise(n, k, **asked, **ruled)
        if not found.is_once:
            return None
        spent = delta if found.is_gaussian else 0.0
        most = n if most is None else most
        order = mechanisms.NoisyOrder.planned(n, k, **asked, delta=spent, max_values_per_unit=most)
        check_useful(order.noise, n)
        return order

    def arguments(self, plan: TopKPlan | None = None) -> dict[str, Any]:
        """What a certificate says of how the order was decided; nothing if the caller left nothing to decide."""
        from dpselect.mechanisms.noisy_order import EACH, GAUSSIAN_ONCE, ONCE, ORDER

        order, most = self.once, cast("int | None", getattr(self, "max_values_per_unit", None))
        if order is plan is None and most is None and not self.with_counts:
            return {}
        is_at_once = plan is not None and plan.is_at_once
        rule = (GAUSSIAN_ONCE if order.delta else ONCE) if order is not None else ORDER if is_at_once else EACH
        return {
            **({"k": self.answers} if rule != EACH and self.gives_list else {}),
            **({} if most is None else {"max_values_per_unit": most}),
            **({"rule": rule} if self.with_counts or most is not None else {}),
        }

    def terms_once(self, order: NoisyOrder) -> Terms:
        """The certificate of noise once on all counts.

        Proof: ``proofs/counting.md``, claim 6, and ``proofs/noisy_order.md``.
        """
        page = "proofs/discrete_gaussian.md" if order.delta else "proofs/geometric_mechanism.md"
        return Terms(
            task=self.name,
            mechanism=type(order.noise).__name__,
            epsilon=order.epsilon,
            delta=order.delta,
            sensitivity=noise_sensitivity(order.noise),
            candidates=self.choices.description(),
            error_bound=float(order.error_bound(CONFIDENCE)),
            proofs=(page, "proofs/noisy_order.md"),
            arguments=self.arguments(),
            counted=NoisyUnits(within=order.count_bound(CONFIDENCE)),
        )

    def drawn_once(self, order: NoisyOrder, summary: CandidateCounts) -> Drawn:
        """The selected candidates, best first, and their noisy counts; negative ones are released as 0."""
        ranked = order.select(summary.counts, rarest=self.rarest)
        counts = [min(max(0, count), LARGEST_COUNT) for count in ranked.counts]
        answer: list[Value] = [self.choices[position] for position in ranked.positions]
        return Drawn(answer, counted=counts)


_ROUND_PROOFS = {
    "PermuteAndFlip": "proofs/permute_and_flip.md",
    "ExponentialMechanism": "proofs/exponential_mechanism.md",
    "ExponentialNoiseTopK": "proofs/exponential_once.md",
}
"""The proof page of one draw, for questions with several winners."""


def top_k_plan(question: Any, epsilon: float, moved: Sensitivity) -> TopKPlan:
    """How its `k` winners are drawn: the mechanism of a round, the number of rounds, and the total cost."""
    return mechanisms.plan_top_k(
        len(question.choices),
        question.answers,
        epsilon=epsilon,
        delta=question.delta,
        sensitivity=moved.value,
        monotonic=moved.monotonic,
        neighbours=moved.neighbours,
    )


def terms_of_plan(question: Any, moved: Sensitivity, arguments: dict[str, Any]) -> Terms:
    """What a certificate of several winners will contain.

    Proof: ``proofs/top_k.md`` (the rounds), and the page of the plan's mechanism (each draw).
    """
    plan: TopKPlan = question.plan
    page = _ROUND_PROOFS[type(plan.mechanism).__name__]
    return Terms(
        task=question.name,
        mechanism=type(plan.mechanism).__name__,
        rounds=plan.rounds,
        epsilon=plan.epsilon,
        delta=plan.delta,
        sensitivity=moved,
        candidates=question.choices.description(),
        error_bound=plan.error_bound(confidence=CONFIDENCE),
        proofs=(page,) if plan.is_at_once else ("proofs/top_k.md", page),
        arguments=arguments,
    )
