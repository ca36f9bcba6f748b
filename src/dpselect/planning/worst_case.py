"""From public numbers alone: the worst error, bounds on it, what a released lead says, and which mechanism to use."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from dpselect.accounting import calibrate, calibrate_rounds
from dpselect.checks import delta_below_one, positive_count, positive_epsilon, probability, target_error
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import ExponentialMechanism, Mechanism, PermuteAndFlip
from dpselect.mechanisms.mechanism import explained
from dpselect.mechanisms.numbers import crossing
from dpselect.planning.curves import MechanismKind, expected_error_of, planned


@explained
def worst_case_error(
    mechanism: MechanismKind, n: int, *, epsilon: float, sensitivity: float, monotonic: bool = False
) -> float:
    """The largest expected error over all vectors of `n` scores: public, so safe to publish.

    For the exponential mechanism and permute-and-flip this is a theorem. For Laplace noise it is the largest over
    vectors with one best score and the others equal. No worse scores are known, but it is not proved that there are
    none; `worst_case_bounds` are proved.

    Args:
        mechanism: a mechanism class, or ``functools.partial`` of one with options.
        n: number of candidates, >= 1; 10^9 takes no longer than 10.
        epsilon: of one selection, > 0.

    Returns:
        The expected distance of the selected score below the best, in the unit of the scores.

    Proof: ``proofs/error_bounds.md``, claim 4. Source: McKenna & Sheldon (2020).

    >>> import dpselect as dps
    >>> round(worst_case_error(dps.PermuteAndFlip, 10**9, epsilon=1.0, sensitivity=1.0), 2)
    33.69
    """
    made = planned(mechanism, sensitivity=sensitivity, monotonic=monotonic)(epsilon)
    return expected_error_of(made, made.worst_size(n, "n"))


@dataclass(frozen=True, slots=True)
class Bounds:
    """Two numbers between which a third lies.

    >>> Bounds(lower=1.0, upper=1.25).gap
    0.25
    """

    lower: float
    upper: float

    @property
    def gap(self) -> float:
        """The distance between them, relative to the lower one."""
        return self.upper / self.lower - 1.0


def worst_case_bounds(
    mechanism: MechanismKind, n: int, *, epsilon: float, sensitivity: float, monotonic: bool = False
) -> Bounds:
    r"""Proved bounds on the largest expected error over all vectors of `n` scores, b the `Mechanism.scale`.

    At least :math:`\frac14 b \ln n`; at most :math:`b \ln n`, for Laplace noise
    :math:`b \sum_{k=1}^n (1 - 2^{-k})/k`, which is larger only for n below 5. With weights, n is their sum over the
    smallest positive one.

    Args and Raises: as for `worst_case_error`.

    Proof: ``proofs/error_bounds.md``, claims 4 and 8. Source: McKenna & Sheldon (2020), except for Laplace noise.

    >>> import dpselect as dps
    >>> worst_case_bounds(dps.PermuteAndFlip, 1, epsilon=1.0, sensitivity=1.0)
    Bounds(lower=0.0, upper=0.0)
    """
    made = planned(mechanism, sensitivity=sensitivity, monotonic=monotonic)(epsilon)
    size = made.worst_size(n, "n")
    upper = log_size = math.log(size)
    if made.law.name == "laplace" and n > 1:
        from scipy.special import digamma  # a harmonic number, up to a constant; half a second to load

        # The harmonic number minus ln 2, up to the tail of the sum.
        terms = min(n, 64)
        upper = math.fsum((1.0 - 0.5**k) / k for k in range(1, terms + 1)) + float(digamma(n + 1) - digamma(terms + 1))
    return Bounds(made.scale * log_size / 4.0, made.scale * upper)


_TAILS: dict[str, Callable[[float], float]] = {
    "permute_and_flip": lambda x: 0.5 * math.exp(-x),
    "exponential": lambda x: math.exp(-x) / (1.0 + math.exp(-x)),
    "laplace": lambda x: (2.0 + x) * math.exp(-x) / 4.0,
}
"""The probability that the difference of two noises of scale 1, of those that have a law, is above a number >= 0."""


@explained
def lead_shown(mechanism: Mechanism, gap: float, confidence: float = 0.99) -> float:
    """What a gap that was released says: the winner's true score is ahead of all others by at least this much.

    That holds with probability `confidence` over the noise, whichever candidate wins; unless it is 0, which says
    nothing: the winner may then be behind.

    Args:
        mechanism: which released the gap.
        gap: from `Mechanism.select_with_gap`.

    Returns:
        A distance in the unit of the scores, at most the gap.

    Proof: ``proofs/free_gap.md``, claim 4.

    >>> import dpselect as dps
    >>> mechanism = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0)
    >>> round(lead_shown(mechanism, 30.0), 2), lead_shown(mechanism, 3.0)
    (22.18, 0.0)
    """
    if not isinstance(cast(object, mechanism), Mechanism):
        raise InvalidParameterError("mechanism", mechanism, "a mechanism that released a gap")
    gap, failure = target_error(gap, "gap", zero_allowed=True), 1.0 - probability(confidence, "confidence")
    tail, scale = _TAILS[mechanism.law.name], max(mechanism.scale, math.ulp(0.0))
    if gap / scale > 1e15:  # which no noise makes up for, at any confidence that a double holds
        return gap * (1.0 - 1e-12)
    shown = gap / scale
    if not gap or not tail(shown) <= failure * tail(0.0):
        return 0.0
    # The chance of so large a gap grows with the true lead; where it reaches the failure, so far below, lies the bound.
    below = crossing(lambda x: tail(x) - failure * (1.0 - tail(max(shown - x, 0.0))))
    return max(shown - below, 0.0) * mechanism.scale * (1.0 - 1e-12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """The mechanism to use for each of several selections, and the figures that decide. Made by `recommendation`.

    Attributes:
        mechanism: the class with the lower error.
        permute_and_flip_epsilon: of each selection.
        exponential_epsilon: of each selection, with the exponential mechanism.
        break_even: the factor more epsilon that the exponential mechanism needs for the same error.
    """

    mechanism: type[PermuteAndFlip] | type[ExponentialMechanism]
    permute_and_flip_epsilon: float
    exponential_epsilon: float
    break_even: float


@explained
def recommendation(
    selections: int, delta: float = 0.0, *, epsilon: float = 1.0, n: int = 2, confidence: float = 0.99
) -> Recommendation:
    """Compare permute-and-flip and the exponential mechanism within one total (`epsilon`, `delta`).

    At the same epsilon permute-and-flip never has the larger error. But the exponential mechanism's privacy loss has a
    bounded range, so with `delta` > 0 each of many selections may spend more.

    Args:
        selections: how many selections share the budget, >= 1.
        delta: total, from 0 to below 1.
        epsilon: total, > 0. Nothing is spent: it says where the two are compared.
        n: number of candidates, >= 2. The default is the hardest case for the exponential mechanism.
        confidence: of the error that is compared, strictly between 0 and 1.

    Proof: ``proofs/top_k.md``, claims 1 and 2; ``proofs/noisy_max.md``, claim 6; ``proofs/error_bounds.md``.

    >>> advice = recommendation(10, delta=1e-6)
    >>> advice.mechanism.__name__, round(advice.exponential_epsilon, 4), round(advice.permute_and_flip_epsilon, 4)
    ('ExponentialMechanism', 0.1533, 0.1001)
    """
    selections = positive_count(selections, "selections", at_most=sys.maxsize)
    if positive_count(n, "n", at_most=sys.maxsize) < 2:
        raise InvalidParameterError("n", n, "at least 2 candidates to choose from")
    epsilon, delta = positive_epsilon(epsilon), delta_below_one(delta)
    confidence = probability(confidence, "confidence")
    flip = calibrate(PermuteAndFlip, count=selections, epsilon=epsilon, delta=delta, sensitivity=1.0).epsilon
    exponential = calibrate_rounds(epsilon=epsilon, delta=delta, count=selections)
    bounds = [
        kind(epsilon=1.0, sensitivity=1.0).error_bound(n, confidence) for kind in (ExponentialMechanism, PermuteAndFlip)
    ]
    # At a confidence that a blind guess reaches, both errors are 0, and no epsilon makes one better than the other.
    break_even = bounds[0] / bounds[1] if 0.0 not in bounds else math.inf
    return Recommendation(
        mechanism=ExponentialMechanism if exponential > flip * break_even else PermuteAndFlip,
        permute_and_flip_epsilon=flip,
        exponential_epsilon=exponential,
        break_even=break_even,
    )


def recommend(
    selections: int = 1, delta: float = 0.0, *, epsilon: float = 1.0, n: int = 2, confidence: float = 0.99
) -> type[PermuteAndFlip] | type[ExponentialMechanism]:
    """The class with the lower error, of the two that `recommendation` compares by the same arguments.

    Raises:
        InvalidParameterError: as for `recommendation`.

    >>> recommend(selections=10, delta=1e-6).__name__
    'ExponentialMechanism'
    """
    return recommendation(selections, delta, epsilon=epsilon, n=n, confidence=confidence).mechanism
