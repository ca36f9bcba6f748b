"""What ``dpselect plan`` compares, and the checks of its arguments."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from dpselect.accounting import (
    calibrate_laplace_profile,
    calibrate_rounds,
    laplace_profile_epsilon,
    rounds_epsilon,
)
from dpselect.arguments import delta_below_one, positive_count, positive_epsilon, positive_sensitivity, probability
from dpselect.cli.plan.public_scores import public_scores
from dpselect.errors import InvalidParameterError, Shown
from dpselect.mechanisms import ExponentialMechanism, Mechanism, PermuteAndFlip, ReportNoisyMax
from dpselect.mechanisms.score_vectors import NumericArray


class _Share(Protocol):
    def __call__(self, *, epsilon: float, delta: float, count: int) -> float: ...


class _Total(Protocol):
    def __call__(self, epsilon: float, *, count: int, delta: float) -> float: ...


@dataclass(frozen=True, slots=True)
class Choice:
    """A mechanism that can be chosen, and how its selections share a budget."""

    name: str
    kind: Callable[..., Mechanism]
    share: _Share
    """Takes a total and returns the epsilon of each selection."""
    total: _Total
    """The way back, rounded up."""

    @property
    def phrase(self) -> str:
        """Its name within a sentence."""
        return f"the {self.name}" if self.kind is ExponentialMechanism else self.name


CHOICES: dict[str, Choice] = {
    "PermuteAndFlip": Choice("permute-and-flip", PermuteAndFlip, calibrate_laplace_profile, laplace_profile_epsilon),
    "ExponentialMechanism": Choice("exponential mechanism", ExponentialMechanism, calibrate_rounds, rounds_epsilon),
    "ReportNoisyMax": Choice("Laplace noisy max", ReportNoisyMax, calibrate_laplace_profile, laplace_profile_epsilon),
}
"""Keys are the names under which `dpselect` exports them."""

DEFAULT_EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Setup:
    """What is planned, every argument checked. Made by `Setup.checked`."""

    n: int
    scores: NumericArray | None
    source: str | None
    sensitivity: float
    monotonic: bool
    epsilons: tuple[float, ...]
    confidence: float
    selections: int
    delta: float

    @classmethod
    def checked(
        cls,
        *,
        candidates_count: int | None,
        scores: str | None,
        sensitivity: float,
        monotonic: bool,
        epsilons: Sequence[float],
        confidence: float,
        selections: int,
        delta: float,
    ) -> Setup:
        """Read the scores, if there are any; last, because that takes longest.

        Raises:
            InvalidParameterError: an argument is out of range, or not exactly one of `candidates_count` and `scores`.
            InvalidScoresError: as for `public_scores`.
        """
        if candidates_count is None and scores is None:
            expected = "the number of candidates, or --scores with a file of public scores instead"
            raise InvalidParameterError("candidates-count", None, expected)
        if candidates_count is not None and scores is not None:
            raise InvalidParameterError("scores", Shown(repr(scores)), "--candidates-count or --scores, not both")
        n = 0 if candidates_count is None else positive_count(candidates_count, "candidates-count", at_most=sys.maxsize)
        sensitivity = positive_sensitivity(sensitivity)
        checked = tuple(sorted({positive_epsilon(epsilon) for epsilon in epsilons}))
        confidence = probability(confidence, "confidence")
        selections = positive_count(selections, "selections", at_most=sys.maxsize)
        delta = delta_below_one(delta)
        vector = None if scores is None else public_scores(scores)
        return cls(
            n=n if vector is None else vector.size,
            scores=vector,
            source=scores,
            sensitivity=sensitivity,
            monotonic=monotonic,
            epsilons=checked,
            confidence=confidence,
            selections=selections,
            delta=delta,
        )

    @property
    def is_shared(self) -> bool:
        """Whether epsilon is a total that differs from the epsilon of one selection."""
        return self.selections > 1 or self.delta > 0

    @property
    def count(self) -> int | None:
        """The number of candidates as the library takes it: only if there are no scores."""
        return self.n if self.scores is None else None
