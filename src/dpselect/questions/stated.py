"""The part of a certificate about one question, from which the question can be planned again.

A certificate describes the candidates without listing them, and rounds bounds and prices to doubles. Where a plan needs
more than that, something stands in for it that makes no difference to the cost and to what is certified.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dpselect.accounting import ComposedEvent, Event, LaplaceProfileEvent
from dpselect.arguments import decimal_fraction
from dpselect.grids import Grid
from dpselect.mechanisms import (
    DiscreteGaussianMechanism,
    ExponentialMechanism,
    ExponentialNoiseTopK,
    GeometricMechanism,
    PermuteAndFlip,
)
from dpselect.mechanisms.top_k import TopKPlan
from dpselect.questions.fields import wrong
from dpselect.summaries import MOST_CANDIDATES, CandidateKind, PublicCandidates, PublicClip, PublicDomain

if TYPE_CHECKING:
    from dpselect.privacy import Neighbours, Sensitivity

_SELECTIONS: dict[str, type[PermuteAndFlip | ExponentialMechanism]] = {
    "PermuteAndFlip": PermuteAndFlip,
    "ExponentialMechanism": ExponentialMechanism,
}
_ROUNDINGS = 2.0
"""Units in the last place of the larger bound: each bound and the answer are rounded by at most a half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """The part of a certificate about one question; with groups, about one group.

    Attributes:
        public: the description of the candidates.
        arguments: other arguments of the question.
        epsilon: epsilon of the question.
        delta: delta of the question.
        event: its event for accounting; None if none is stated, or if several groups cannot have this event.
        neighbours: which data sets the guarantee compares.
        mechanism: name of the mechanism.
        rounds: number of draws.
        sensitivity: the most that one unit can change a score.
        monotonic: whether one unit changes all scores in one direction.
        selected: number of values in the answer.
    """

    public: Mapping[str, Any]
    arguments: Mapping[str, Any]
    epsilon: float
    delta: float
    event: Event | None
    neighbours: Neighbours
    mechanism: str
    rounds: int
    sensitivity: float
    monotonic: bool
    selected: int

    @property
    def price(self) -> dict[str, Any]:
        """The arguments that most questions are planned with."""
        return {"epsilon": self.epsilon, "neighbours": self.neighbours}

    @property
    def is_noise_once(self) -> bool:
        """Whether noise was added once to all counts, for a question that selects candidates."""
        return self.mechanism in (GeometricMechanism.__name__, DiscreteGaussianMechanism.__name__)

    @property
    def ends(self) -> tuple[float, float]:
        """The public bounds."""
        return self.public["lower"], self.public["upper"]

    def candidates(self) -> PublicCandidates:
        """As many candidates of the same kind; before a draw, their values do not matter."""
        count = self.public["count"]
        if count > MOST_CANDIDATES:
            raise wrong("candidates.count", f"at most {MOST_CANDIDATES:,}")
        return PublicCandidates(CandidateKind(self.public["kind"]), np.broadcast_to(np.int64(0), count))

    def domain(self) -> PublicDomain:
        """Described by the same doubles; no mechanism is to be made of it, as its step need not lead to the end."""
        lower, upper = self.ends
        if self.public["source"] == "bounds":
            return PublicDomain(lower, upper)
        return PublicDomain(lower, upper, Grid(Fraction(lower), Fraction(self.public["step"]), self.public["count"]))

    def clip(self) -> PublicClip:
        """How much one unit may add to a sum."""
        given = self.arguments
        return PublicClip(given["sum"], self.scale(), given["lower"], given["upper"])

    def scale(self) -> Fraction:
        """By what amounts are multiplied before they are rounded to whole numbers."""
        return decimal_fraction(self.arguments["scale"], "scale", expected="a number")

    def plan(self, moved: Sensitivity) -> TopKPlan:
        """At the epsilon of a round that the event states, and with as many: another version may have planned others.

        Where all candidates are selected, the last of them once took a round of its own.
        """
        event = self.event
        if self.mechanism == ExponentialNoiseTopK.__name__:
            return self._plan_at_once(moved)
        if not isinstance(event, ComposedEvent):
            raise wrong("event", "that of several rounds")
        kind = _SELECTIONS.get(self.mechanism, PermuteAndFlip)
        delta = self.delta if kind is ExponentialMechanism else 0.0  # the other one never plans with any
        if not delta and not math.isclose(event.epsilon, self.epsilon, rel_tol=1e-9, abs_tol=1e-300):
            raise wrong("guarantee.epsilon", "what its event costs")
        mechanism = kind(
            epsilon=event.event.epsilon,
            sensitivity=moved.value,
            monotonic=moved.monotonic,
            neighbours=moved.neighbours,
        )
        return TopKPlan(
            mechanism=mechanism,
            n_candidates=len(self.candidates()),
            k=self.selected,
            rounds=self.rounds,
            epsilon=self.epsilon,
            delta=delta,
        )

    def _plan_at_once(self, moved: Sensitivity) -> TopKPlan:
        """One draw that selects all of them."""
        if not isinstance(self.event, LaplaceProfileEvent):
            raise wrong("event", "that of noise once on all scores")
        count = len(self.candidates())
        mechanism = ExponentialNoiseTopK(
            epsilon=self.epsilon,
            sensitivity=moved.value,
            monotonic=moved.monotonic,
            neighbours=moved.neighbours,
            k=max(1, min(self.selected, count - 1)),
        )
        return TopKPlan(
            mechanism=mechanism, n_candidates=count, k=self.selected, rounds=1, epsilon=self.epsilon, delta=0.0
        )

    def lists(self, values: list[Any]) -> bool:
        """Whether `values` are different ones of the stated list of candidates.

        Raises:
            InvalidCertificateError: there can be no such list.
        """
        public = self.public
        if not len(values) <= public["count"] <= (2 if public["kind"] == "booleans" else math.inf):
            raise wrong("candidates.count", "at least the number selected, of such a kind")
        if "range" in public:
            first, last, step = (public["range"][name] for name in ("first", "last", "step"))
            listed = range(first, last + (1 if step > 0 else -1), step) if step else range(0)
            is_range = public["kind"] == "whole numbers" and bool(listed) and listed[-1] == last
            if not is_range or _size(listed) != public["count"]:
                raise wrong("candidates.range", "a range with the stated number of whole numbers")
            if not all(value in listed for value in values):
                return False
        return len(set(values)) == len(values)

    def spans(self, values: list[Any]) -> bool:
        """Whether all `values` lie between the stated ends."""
        lower, upper = self.ends
        return all(lower <= value <= upper for value in values)

    def has_on_grid(self, values: list[Any]) -> bool:
        """Whether each value is a point of the stated grid, as far as doubles can decide; true if there is no grid.

        Bounds may have been fractions that no double equals, so a difference up to their rounding is accepted.

        Raises:
            InvalidCertificateError: there can be no such grid.
        """
        public = self.public
        if public["source"] == "bounds":
            return True
        lower, upper, steps = Fraction(public["lower"]), Fraction(public["upper"]), public["count"] - 1
        room = Fraction(_ROUNDINGS * math.ulp(max(abs(public["lower"]), abs(public["upper"]))))
        if not steps or abs(Fraction(public["step"]) * steps - (upper - lower)) > room + (upper - lower) / 2**52:
            raise wrong("candidates.step", "a step that leads from one bound to the other")
        step = (upper - lower) / steps
        return all(
            abs(lower + round((Fraction(value) - lower) / step) * step - Fraction(value)) <= room for value in values
        )


def _size(listed: range) -> int:
    return (listed[-1] - listed[0]) // listed.step + 1  # len() refuses more than 2^63
