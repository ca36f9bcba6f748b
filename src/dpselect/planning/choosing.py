"""Which mechanism to use, among all there are, and why: decided by public facts alone."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, ParamSpec, TypeVar, cast, get_args

from dpselect.accounting import calibrate_laplace_profile, calibrate_rounds
from dpselect.checks import boolean, delta_below_one, one_of, positive_count, positive_epsilon
from dpselect.errors import InvalidParameterError, Shown
from dpselect.mechanisms import (
    AboveThreshold,
    BestOfRuns,
    ExponentialMechanism,
    ExponentialNoiseTopK,
    GeneralizedSelection,
    LazySelection,
)
from dpselect.mechanisms.top_k import plan_top_k
from dpselect.planning.recommended import recommend_top_k, recommendation

Situation = Literal["stream", "private runs", "expensive scores", "weights"]

_SITUATIONS: dict[str, tuple[type[Any], str]] = {
    "stream": (
        AboveThreshold,
        "Queries come one after another, against a public threshold: one price covers all that stay below it.",
    ),
    "private runs": (
        BestOfRuns,
        "Each run is private by itself: the best of a secret number of them costs less than three (geometric law).",
    ),
    "expensive scores": (
        LazySelection,
        "With a public ceiling of scores permute-and-flip may stop early: the same distribution, fewer evaluations.",
    ),
    "weights": (
        ExponentialMechanism,
        "The exponential mechanism has weights; permute-and-flip has none, as it tosses its coins against the best "
        "score alone.",
    ),
}

_PAID_BY_ITSELF = "Ask for one alone: each is charged by itself, and `dpselect.accounting.compose` adds them up."
_OF_COUNTS = "Leave it out: it is for counts of units, without a situation and with one sensitivity."
_REFUSED: dict[tuple[str, str], str] = {
    ("stream", "k"): "A stream says yes as often as its `positives` allow: give it those in place of k.",
    ("stream", "max_values_per_unit"): _OF_COUNTS,
    ("stream", "selections"): _PAID_BY_ITSELF,
    ("stream", "sensitivities"): "Divide each query, and what it is compared with, by its own sensitivity.",
    ("private runs", "k"): "Search once for each of the best, among the configurations that are left.",
    ("private runs", "max_values_per_unit"): _OF_COUNTS,
    ("private runs", "selections"): _PAID_BY_ITSELF,
    (
        "private runs",
        "sensitivities",
    ): "Scores of runs are private by themselves: their sensitivities do not matter.",
    ("expensive scores", "k"): "Select the best, take it out, and select again: k selections share the budget.",
    ("expensive scores", "max_values_per_unit"): _OF_COUNTS,
    ("expensive scores", "sensitivities"): "Give the largest of them as the sensitivity of all scores.",
    ("weights", "max_values_per_unit"): "Leave it out: noise once on all counts has no weights.",
    ("weights", "sensitivities"): "Give the largest of them as the sensitivity of all scores.",
    ("sensitivities", "max_values_per_unit"): _OF_COUNTS,
    ("sensitivities", "k"): "Select the best, take it and its sensitivity out, and select again: k selections share "
    "the budget. Or give the largest as the sensitivity of all scores.",
}
"""What to do where no mechanism takes both facts."""

Facts = ParamSpec("Facts")
Answer = TypeVar("Answer")


class _Choice(NamedTuple):
    mechanism: type[Any]
    reason: str


def _chosen(
    selections: int = 1,
    delta: float = 0.0,
    *,
    epsilon: float = 1.0,
    n: int | None = None,
    k: int = 1,
    monotonic: bool = False,
    max_values_per_unit: int | None = None,
    sensitivities: Sequence[float] | None = None,
    situation: Situation | None = None,
    confidence: float = 0.99,
) -> _Choice:
    """What `recommend` and `why` answer; their arguments are these."""
    k = positive_count(k, "k")
    selections = positive_count(selections, "selections", at_most=sys.maxsize)
    epsilon, delta = positive_epsilon(epsilon), delta_below_one(delta)
    boolean(monotonic, "monotonic")
    if situation is not None:
        one_of(situation, "situation", get_args(Situation))
    if max_values_per_unit is not None:
        max_values_per_unit = positive_count(max_values_per_unit, "max_values_per_unit")
    facts = {
        "sensitivities": sensitivities is not None,
        "k": k > 1,
        "max_values_per_unit": max_values_per_unit is not None,
        "selections": selections > 1,
    }
    _refuse_both(situation, [name for name, given in facts.items() if given])
    if sensitivities is not None:
        unlike = GeneralizedSelection(
            epsilon=calibrate_laplace_profile(epsilon=epsilon, delta=delta, count=selections),
            sensitivities=sensitivities,
            monotonic=monotonic,
            confidence=confidence,
        )
        if n is not None and positive_count(n, "n") != len(unlike.sensitivities):
            hint = "Leave n out, or give a sensitivity for each candidate."
            raise InvalidParameterError("n", n, f"{len(unlike.sensitivities)}, as many as `sensitivities`", hint)
        if len(set(unlike.sensitivities)) > 1:
            return _Choice(GeneralizedSelection, _each(selections, unlike.epsilon) + unlike.reason)
        many = max(2, len(unlike.sensitivities))
        alike = recommendation(selections, delta, epsilon=epsilon, n=many, confidence=confidence)
        return _Choice(alike.mechanism, f"All sensitivities are the same. {alike.reason}")
    n = 2 if n is None else n
    one_by_one = recommendation(selections, delta, epsilon=epsilon, n=n, confidence=confidence)
    if situation is not None:
        mechanism, reason = _SITUATIONS[situation]
        rounds = selections * k
        if mechanism is ExponentialMechanism and k > 1:
            reason += " Without an order `TopKSet` has them, too."
        if mechanism is ExponentialMechanism and rounds > 1:
            positive_count(k, "k", at_most=n, at_most_what="the number of candidates")
            share = calibrate_rounds(epsilon=epsilon, delta=delta, count=rounds)
            reason += f" {_rounds(selections, k)} may spend epsilon = {share:.4g}."
        elif rounds > 1:
            share = calibrate_laplace_profile(epsilon=epsilon, delta=delta, count=selections)
            reason = _each(selections, share) + reason
        return _Choice(mechanism, reason)
    if k > 1 or max_values_per_unit is not None:
        common = {"monotonic": monotonic, "max_values_per_unit": max_values_per_unit, "confidence": confidence}
        if selections == 1:
            best = recommend_top_k(n, k, epsilon=epsilon, delta=delta, **cast("dict[str, Any]", common))
            return _Choice(type(best.mechanism), best.reason)
        if delta > 0.0 and max_values_per_unit is None:
            return _several_orders(selections, delta, epsilon, n, k, monotonic, confidence)
        part = calibrate_laplace_profile(epsilon=epsilon, delta=0.0, count=selections)
        best = recommend_top_k(n, k, epsilon=part, delta=delta / selections, **cast("dict[str, Any]", common))
        return _Choice(type(best.mechanism), _each(selections, part, delta / selections) + best.reason)
    return _Choice(one_by_one.mechanism, one_by_one.reason)


def _refuse_both(situation: Situation | None, facts: list[str]) -> None:
    """Where no mechanism takes two of the facts: which ones, and what to do instead."""
    given = [situation, *facts] if situation is not None else facts
    for place, one in enumerate(given):
        for other in given[place + 1 :]:
            if (one, other) in _REFUSED:
                name = "situation" if one == situation else one
                shown = Shown(repr(one) if one == situation else "<several>")
                expected = f"{name} without `{other}`, as no mechanism here takes both"
                raise InvalidParameterError(name, shown, expected, _REFUSED[one, other])


def _each(selections: int, epsilon: float, delta: float = 0.0) -> str:
    """What each of several selections may spend."""
    if selections == 1:
        return ""
    also = f" and delta = {delta:.4g}" if delta else ""
    return f"Each of {selections:,} selections may spend epsilon = {epsilon:.4g}{also}. "


def _rounds(selections: int, k: int) -> str:
    if k == 1:
        return f"Each of {selections:,} selections"
    return f"Each of {k:,} rounds" if selections == 1 else f"Each of {k:,} rounds of {selections:,} selections"


def _several_orders(
    selections: int, delta: float, epsilon: float, n: int, k: int, monotonic: bool, confidence: float
) -> _Choice:
    """Several selections of the best k within one delta: noise once for each, or rounds for all."""
    part = calibrate_laplace_profile(epsilon=epsilon, delta=delta, count=selections)
    plan = plan_top_k(n, k, epsilon=part, sensitivity=1.0, monotonic=monotonic)
    share = calibrate_rounds(epsilon=epsilon, delta=delta, count=selections * min(k, max(1, n - 1)))
    by_rounds = replace(
        plan,
        mechanism=ExponentialMechanism(epsilon=share, sensitivity=1.0, monotonic=monotonic),
        rounds=min(k, max(1, n - 1)),
    )
    bounds = {"once": plan.error_bound(confidence), "rounds": by_rounds.error_bound(confidence)}
    compared = f"With {confidence:.6g} confidence what it selects is at most"
    if bounds["rounds"] < bounds["once"]:
        return _Choice(
            ExponentialMechanism,
            f"{_rounds(selections, k)} may spend epsilon = {share:.4g} with the exponential mechanism. {compared} "
            f"{bounds['rounds']:.4g} below the best in its turn; with exponential noise once, {bounds['once']:.4g}.",
        )
    return _Choice(
        ExponentialNoiseTopK if plan.is_at_once else type(plan.mechanism),
        f"{_each(selections, part)}{compared} {bounds['once']:.4g} below the best in its turn; with rounds of the "
        f"exponential mechanism, {bounds['rounds']:.4g}.",
    )


def _with_arguments_of(
    stated: Callable[Facts, object],
) -> Callable[[Callable[..., Answer]], Callable[Facts, Answer]]:
    """Give a function the arguments of another one, which are stated once."""

    def give(function: Callable[..., Answer]) -> Callable[Facts, Answer]:
        given = inspect.signature(stated).replace(return_annotation=function.__annotations__["return"])
        cast(Any, function).__signature__ = given
        return cast("Callable[Facts, Answer]", function)

    return give


@_with_arguments_of(_chosen)
def recommend(*facts: Any, **named: Any) -> type[Any]:
    """The mechanism class with the lower error, from public facts alone; `why` says the reason in a sentence or two.

    Args:
        selections: how many selections share the budget; see `recommendation`.
        delta: total, from 0 to below 1.
        epsilon: total, > 0. Nothing is spent.
        n: number of candidates; as many as `sensitivities`, or 2, if it is not given.
        k: how many of them one selection has to find; see `recommend_top_k`.
        monotonic: as for `dpselect.Mechanism`.
        max_values_per_unit: of counts of units, for how many candidates one unit counts; see `recommend_top_k`.
        sensitivities: one for each candidate, if they are not all the same; see `dpselect.GeneralizedSelection`.
        situation: ``"stream"`` if queries come one after another, ``"private runs"`` if each candidate is a run that is
            private by itself, ``"expensive scores"`` if each score costs much and has a ceiling, ``"weights"`` if
            candidates have public weights.
        confidence: of the errors that are compared.

    Raises:
        InvalidParameterError: an argument is out of range, or no mechanism takes two of the facts together. The error
            says what to do then.

    >>> recommend(selections=1, delta=1e-6).__name__, recommend(selections=10, delta=1e-6).__name__
    ('PermuteAndFlip', 'ExponentialMechanism')
    >>> recommend(n=1000, k=10, monotonic=True).__name__
    'ExponentialNoiseTopK'
    >>> recommend(n=1000, k=10, monotonic=True, max_values_per_unit=1).__name__
    'NoisyOrder'
    >>> recommend(sensitivities=[1, 1, 1, 100]).__name__, recommend(situation="stream").__name__
    ('GeneralizedSelection', 'AboveThreshold')
    """
    return _chosen(*facts, **named).mechanism


@_with_arguments_of(_chosen)
def why(*facts: Any, **named: Any) -> str:
    """Why `recommend` recommends what it does, for the same arguments.

    Raises:
        InvalidParameterError: as for `recommend`.

    >>> print(why(n=1000, k=10, monotonic=True))
    Exponential noise once on all scores: one draw for all 10, with a smaller error than one after another.
    >>> print(why(3, n=1000, k=10, situation="weights"))
    The exponential mechanism has weights; permute-and-flip has none, as it tosses its coins against the best score
    alone. Without an order `TopKSet` has them, too. Each of 10 rounds of 3 selections may spend epsilon = 0.03333.
    """
    return _chosen(*facts, **named).reason
