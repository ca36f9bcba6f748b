"""Which mechanism has the smaller error where several selections share one budget."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from decimal import Decimal

from dpselect.accounting import calibrate, calibrate_rounds
from dpselect.checks import delta_below_one, positive_count, positive_epsilon, probability
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import ExponentialMechanism, PermuteAndFlip
from dpselect.mechanisms.explained import explained


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """The mechanism to use for each of several selections, and the figures that decide. Made by `recommendation`.

    Attributes:
        mechanism: the class with the lower error.
        reason: one or two sentences that explain it.
        permute_and_flip_epsilon: epsilon of each selection with permute-and-flip.
        exponential_epsilon: epsilon of each selection with the exponential mechanism.
        break_even: the factor more epsilon that the exponential mechanism needs for the same error.
    """

    mechanism: type[PermuteAndFlip] | type[ExponentialMechanism]
    reason: str
    permute_and_flip_epsilon: float
    exponential_epsilon: float
    break_even: float

    @property
    def advantage(self) -> float:
        """The factor more epsilon that the exponential mechanism may spend."""
        return self.exponential_epsilon / self.permute_and_flip_epsilon


@explained
def recommendation(
    selections: int, delta: float = 0.0, *, epsilon: float = 1.0, n: int = 2, confidence: float = 0.99
) -> Recommendation:
    """Compare permute-and-flip and the exponential mechanism within one total (`epsilon`, `delta`).

    At the same epsilon permute-and-flip never has the larger error. But the exponential mechanism's privacy loss has a
    bounded range, so with `delta` > 0 each of many selections may spend more. This function composes both, each by a
    bound that is proved for it, and compares their errors at a `confidence` level.

    Args:
        selections: how many selections share the budget, >= 1.
        delta: total, from 0 to below 1.
        epsilon: total, > 0. Nothing is spent: it says where the two are compared.
        n: number of candidates, >= 2. The default, 2, is the hardest case for the exponential mechanism: where it is
            the better one with two candidates it is with more.
        confidence: of the error that is compared, strictly between 0 and 1.

    Proof: ``proofs/top_k.md``, claims 1 and 2; ``proofs/noisy_max.md``, claim 6; ``proofs/error_bounds.md``.

    >>> advice = recommendation(10, delta=1e-6)
    >>> advice.mechanism.__name__, round(advice.advantage, 2), round(advice.break_even, 2)
    ('ExponentialMechanism', 1.53, 1.17)
    >>> print(recommendation(10).reason)
    Within epsilon = 1 and delta = 0, each of 10 selections may spend epsilon = 0.1 with permute-and-flip and with the
    exponential mechanism, and then permute-and-flip never errs more, whatever the scores.
    """
    selections = positive_count(selections, "selections", at_most=sys.maxsize)
    n = positive_count(n, "n", at_most=sys.maxsize)
    if n < 2:
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
    wins = exponential > flip * break_even
    each = "the only selection" if selections == 1 else f"each of {selections:,} selections"
    budget = f"Within epsilon = {epsilon:.10g} and delta = {delta:.10g}, {each}"
    percent = (Decimal(repr(confidence)) * 100).normalize()  # with all its digits: 0.9999999 is not 100 %
    compared_at = f"the one that is not exceeded with {percent:f} % confidence among {n:,} candidates"
    return Recommendation(
        mechanism=ExponentialMechanism if wins else PermuteAndFlip,
        reason=_reason(flip, exponential, even=break_even, budget=budget, compared_at=compared_at),
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

    >>> recommend(selections=1, delta=1e-6).__name__, recommend(selections=10, delta=1e-6).__name__
    ('PermuteAndFlip', 'ExponentialMechanism')
    """
    return recommendation(selections, delta, epsilon=epsilon, n=n, confidence=confidence).mechanism


def _reason(flip: float, exponential: float, *, even: float, budget: str, compared_at: str) -> str:
    advantage = exponential / flip
    if advantage < 1.0 + 1e-9:
        return (
            f"{budget} may spend epsilon = {flip:.4g} with permute-and-flip and with the exponential mechanism, and "
            "then permute-and-flip never errs more, whatever the scores."
        )
    if even == math.inf:
        return f"{budget} could as well guess blindly: that reaches the target, and neither mechanism is better."
    return (
        f"{budget} may spend epsilon = {exponential:.4g} with the exponential mechanism, whose privacy loss has a "
        f"bounded range, and {flip:.4g} with permute-and-flip: {advantage:.2f} times as much. It needs {even:.2f} "
        f"times as much for the same error, {compared_at}."
    )
