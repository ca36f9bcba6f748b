"""Which way has the smaller error within one budget: of several selections, and of the best k."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from decimal import Decimal

from dpselect.accounting import calibrate_laplace_profile, calibrate_rounds
from dpselect.checks import boolean, delta_below_one, positive_count, positive_epsilon, probability
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import ExponentialMechanism, ExponentialNoiseTopK, PermuteAndFlip, TopKSet
from dpselect.mechanisms.noisy_order import NoisyOrder, left_for_selection, order_noise
from dpselect.mechanisms.top_k import Weights, plan_top_k
from dpselect.privacy import Neighbours, check_monotonic, neighbouring_relation


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

    Raises:
        InvalidParameterError: an argument is out of range.

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
    flip = calibrate_laplace_profile(epsilon=epsilon, delta=delta, count=selections)
    exponential = calibrate_rounds(epsilon=epsilon, delta=delta, count=selections)
    break_even = _break_even(n, confidence)
    wins = exponential > flip * break_even
    each = "the only selection" if selections == 1 else f"each of {selections:,} selections"
    budget = f"Within epsilon = {epsilon:.10g} and delta = {delta:.10g}, {each}"
    compared_at = f"the one that is not exceeded with {_percent(confidence)} % confidence among {n:,} candidates"
    return Recommendation(
        mechanism=ExponentialMechanism if wins else PermuteAndFlip,
        reason=_reason(flip, exponential, even=break_even, budget=budget, compared_at=compared_at),
        permute_and_flip_epsilon=flip,
        exponential_epsilon=exponential,
        break_even=break_even,
    )


def _break_even(n: int, confidence: float) -> float:
    """How many times the epsilon of permute-and-flip the exponential mechanism needs for the same error bound."""
    bounds = [
        kind(epsilon=1.0, sensitivity=1.0).error_bound(n, confidence) for kind in (ExponentialMechanism, PermuteAndFlip)
    ]
    # At a confidence that a blind guess reaches, both errors are 0, and no epsilon makes one better than the other.
    return bounds[0] / bounds[1] if 0.0 not in bounds else math.inf


def _percent(share: float) -> str:
    """All its digits: 0.9999999 is not 100 %."""
    return f"{(Decimal(repr(share)) * 100).normalize():f}"


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


_BEST_OF_ONE = "for one candidate no other mechanism here errs less at the same epsilon, whatever the scores."

_WEIGHTED = "The exponential mechanism, once a round: no other mechanism has weights and an order."

Selector = PermuteAndFlip | ExponentialMechanism | ExponentialNoiseTopK | NoisyOrder | TopKSet


@dataclass(frozen=True, slots=True, kw_only=True)
class TopKRecommendation:
    """How to select the best k of n, made by `recommend_top_k`.

    Attributes:
        mechanism: what to use, with its arguments: draw with its ``select``, or `PermuteAndFlip` and
            `ExponentialMechanism`, which are drawn once a round, with their ``peel``.
        rounds: how often it is drawn.
        reason: one or two sentences that explain it.
        bounds: the error bound of each way that is open: with the confidence asked for, each selected score is at most
            this far below the best one left in its turn (of a set: below the best one left out).
    """

    mechanism: Selector
    rounds: int
    reason: str
    bounds: dict[str, float]


def recommend_top_k(
    n: int,
    k: int,
    *,
    epsilon: float = 1.0,
    delta: float = 0.0,
    monotonic: bool = False,
    max_values_per_unit: int | None = None,
    with_counts: bool = False,
    ordered: bool = True,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
    confidence: float = 0.99,
    weights: Weights | None = None,
) -> TopKRecommendation:
    """Compare all ways to select the best `k` of `n` within one total (`epsilon`, `delta`); scores of sensitivity 1.

    Noise once on all counts is for counts of units of which each has at most `max_values_per_unit` candidates. Without
    such a bound, or with a large one, exponential noise once on all scores is the best way to an order without delta;
    with a delta, rounds of the exponential mechanism from about six on. One draw of a whole set
    (`dpselect.TopKSet`) is compared if the order does not matter: it is far better where the best `k` lead by more than
    its bound, and worse where candidates near rank `k` are nearly equal, which nobody can know in advance. So it is
    never the recommendation, and the reason says where it wins.

    Args:
        n: number of candidates, >= 1.
        k: number to select, from 1 to `n`.
        epsilon: total, > 0. Nothing is spent.
        delta: total, from 0 to below 1.
        monotonic: as for `dpselect.Mechanism`.
        max_values_per_unit: for how many candidates one unit counts; None if that is not bounded, or if the scores are
            not counts of units.
        with_counts: whether the number of units with each selected candidate is wanted, too.
        ordered: whether the order matters.
        neighbours: which data sets the guarantee compares.
        confidence: of the bounds, strictly between 0 and 1.
        weights: a prior: public weights of the `n` candidates. They leave rounds of the exponential mechanism, and sets
            if the order does not matter, and do not go with `max_values_per_unit`.

    Raises:
        InvalidParameterError: an argument is out of range.

    Proof: ``proofs/exponential_once.md``, ``proofs/noisy_order.md``, ``proofs/top_k.md`` and ``proofs/top_k_sets.md``.
    Each way is private, so the choice cannot be wrong, only more or less accurate.

    >>> type(recommend_top_k(1000, 10, monotonic=True).mechanism).__name__
    'ExponentialNoiseTopK'
    >>> advice = recommend_top_k(1000, 10, monotonic=True, max_values_per_unit=1)
    >>> type(advice.mechanism).__name__, advice.rounds
    ('NoisyOrder', 1)
    >>> type(recommend_top_k(1000, 20, delta=1e-6, monotonic=True).mechanism).__name__
    'ExponentialMechanism'
    >>> print(recommend_top_k(1000, 1).reason)
    Permute-and-flip: for one candidate no other mechanism here errs less at the same epsilon, whatever the scores.
    """
    n = positive_count(n, "n", at_most=sys.maxsize)
    k = positive_count(k, "k", at_most=n, at_most_what="the number of candidates")
    epsilon, delta = positive_epsilon(epsilon), delta_below_one(delta)
    confidence, relation = probability(confidence, "confidence"), neighbouring_relation(neighbours)
    if max_values_per_unit is not None:
        max_values_per_unit = positive_count(max_values_per_unit, "max_values_per_unit")
    is_monotonic, is_counted = check_monotonic(monotonic, relation), boolean(with_counts, "with_counts")
    boolean(ordered, "ordered")
    is_of_units = is_counted or max_values_per_unit is not None
    if is_of_units and not is_monotonic and relation is Neighbours.ADD_REMOVE:
        raise InvalidParameterError("monotonic", False, "True, as counts of units are, with the other arguments given")
    left = left_for_selection(epsilon) if with_counts else epsilon
    if weights is not None and max_values_per_unit is not None:
        hint = "Noise once on all counts has no weights."
        raise InvalidParameterError("max_values_per_unit", max_values_per_unit, "None with weights", hint)
    plan = plan_top_k(
        n,
        k,
        epsilon=left,
        delta=delta,
        sensitivity=1.0,
        monotonic=monotonic,
        neighbours=relation,
        weights=weights,
    )
    bounds = {_name(plan.mechanism): plan.error_bound(confidence)}
    if weights is None and (max_values_per_unit is not None or with_counts):
        most = n if max_values_per_unit is None else max_values_per_unit
        rule = order_noise(
            n, k, epsilon=epsilon, delta=delta, max_values_per_unit=most, with_counts=with_counts, neighbours=relation
        )
        once = NoisyOrder.planned(
            n,
            k,
            epsilon=epsilon,
            delta=delta if rule.is_gaussian else 0.0,
            max_values_per_unit=most,
            neighbours=relation,
        )
        bounds["noise once on all counts"] = float(once.error_bound(confidence))
        if rule.is_once or rule.is_gaussian:
            reason = f"{rule.rule[0].upper()}{rule.rule[1:]}."
            return TopKRecommendation(mechanism=once, rounds=1, reason=reason, bounds=bounds)
    reason = _WEIGHTED if weights is not None else _why(plan.mechanism, k=k, delta=delta)
    if with_counts:
        reason += f" The counts of what was selected cost the other {epsilon - left:.10g} of epsilon."
    if not ordered and 1 < k < n:
        whole = TopKSet(epsilon=left, sensitivity=1.0, k=k, monotonic=monotonic, neighbours=relation, weights=weights)
        bounds["the set at once"] = whole.error_bound(n, confidence)
        best = f"the best {k} that have a weight" if weights is not None else f"the best {k}"
        reason += (
            f" If {best} lead all others by more than {math.ceil(bounds['the set at once']):,}, TopKSet finds"
            f" exactly them with {confidence:.0%} confidence."
        )
    return TopKRecommendation(mechanism=plan.mechanism, rounds=plan.rounds, reason=reason, bounds=bounds)


def _name(mechanism: PermuteAndFlip | ExponentialMechanism | ExponentialNoiseTopK) -> str:
    if isinstance(mechanism, ExponentialNoiseTopK):
        return "exponential noise once"
    return "permute-and-flip" if isinstance(mechanism, PermuteAndFlip) else "rounds of the exponential mechanism"


def _why(mechanism: object, *, k: int, delta: float) -> str:
    if isinstance(mechanism, ExponentialMechanism):
        return (
            f"The exponential mechanism, once a round: with delta = {delta:.10g} each of its rounds may spend so much "
            "more than without that its error is the smallest."
        )
    if isinstance(mechanism, ExponentialNoiseTopK):
        without = (
            "" if delta == 0.0 else f", and with delta = {delta:.10g} rounds of the exponential mechanism err more"
        )
        all_at_once = f"Exponential noise once on all scores: one draw for all {k}"
        return f"{all_at_once}, with a smaller error than one after another{without}."
    return f"Permute-and-flip: {_BEST_OF_ONE}"
