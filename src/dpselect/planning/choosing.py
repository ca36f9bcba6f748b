"""Which mechanism to use, among all there are, and why: decided by public facts alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from dpselect.arguments import positive_count
from dpselect.errors import InvalidParameterError, Shown, typed
from dpselect.mechanisms import (
    AboveThreshold,
    BestOfRuns,
    ExponentialMechanism,
    GeneralizedSelection,
    LazySelection,
)
from dpselect.planning.recommendation import recommendation
from dpselect.planning.top_k_ways import recommend_top_k

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
        "Only the exponential mechanism has weights: permute-and-flip tosses its coins against the best score alone.",
    ),
}


def recommend(
    selections: int = 1,
    delta: float = 0.0,
    *,
    epsilon: float = 1.0,
    n: int = 2,
    k: int = 1,
    monotonic: bool = False,
    max_values_per_unit: int | None = None,
    sensitivities: Sequence[float] | None = None,
    situation: Situation | None = None,
    confidence: float = 0.99,
) -> type[Any]:
    """The mechanism class with the lower error, from public facts alone; `why` says the reason in a sentence or two.

    Args:
        selections: how many selections share the budget; see `recommendation`.
        delta: total, from 0 to below 1.
        epsilon: total, > 0. Nothing is spent.
        n: number of candidates.
        k: how many of them one selection has to find; see `recommend_top_k`.
        monotonic: as for `dpselect.Mechanism`.
        max_values_per_unit: of counts of units, for how many candidates one unit counts; see `recommend_top_k`.
        sensitivities: one for each candidate, if they are not all the same; see `dpselect.GeneralizedSelection`.
        situation: ``"stream"`` if queries come one after another, ``"private runs"`` if each candidate is a run that is
            private by itself, ``"expensive scores"`` if each score costs much and has a ceiling, ``"weights"`` if
            candidates have public weights.
        confidence: of the errors that are compared.

    Raises:
        InvalidParameterError: an argument is out of range, or the facts do not go together.

    >>> recommend(selections=1, delta=1e-6).__name__, recommend(selections=10, delta=1e-6).__name__
    ('PermuteAndFlip', 'ExponentialMechanism')
    >>> recommend(n=1000, k=10, monotonic=True).__name__
    'ExponentialNoiseTopK'
    >>> recommend(n=1000, k=10, monotonic=True, max_values_per_unit=1).__name__
    'NoisyOrder'
    >>> recommend(sensitivities=[1, 1, 1, 100]).__name__, recommend(situation="stream").__name__
    ('GeneralizedSelection', 'AboveThreshold')
    """
    facts = (monotonic, max_values_per_unit, sensitivities, situation)
    return _chosen(selections, delta, epsilon, n, k, confidence, *facts)[0]


def why(
    selections: int = 1,
    delta: float = 0.0,
    *,
    epsilon: float = 1.0,
    n: int = 2,
    k: int = 1,
    monotonic: bool = False,
    max_values_per_unit: int | None = None,
    sensitivities: Sequence[float] | None = None,
    situation: Situation | None = None,
    confidence: float = 0.99,
) -> str:
    """Why `recommend` recommends what it does, for the same arguments.

    Raises:
        InvalidParameterError: as for `recommend`.

    >>> print(why(n=1000, k=10, monotonic=True))
    Exponential noise once on all scores: one draw for all 10, with a smaller error than one after another.
    """
    facts = (monotonic, max_values_per_unit, sensitivities, situation)
    return _chosen(selections, delta, epsilon, n, k, confidence, *facts)[1]


def _chosen(
    selections: int,
    delta: float,
    epsilon: float,
    n: int,
    k: int,
    confidence: float,
    monotonic: bool,
    max_values_per_unit: int | None,
    sensitivities: Sequence[float] | None,
    situation: str | None,
) -> tuple[type[Any], str]:
    k = positive_count(k, "k")
    one_by_one = recommendation(selections, delta, epsilon=epsilon, n=n, confidence=confidence)
    is_top_k = k > 1 or max_values_per_unit is not None
    given = {
        "situation": situation is not None,
        "sensitivities": sensitivities is not None,
        "k": is_top_k,
        "selections": selections > 1,
    }
    if sum(given.values()) > 1:
        name = next(name for name, is_given in given.items() if is_given)
        hint = "Ask for each by itself: the mechanism of one question does not depend on the others."
        shown = {"situation": Shown("<a situation>"), "sensitivities": Shown("<several>"), "k": k}[name]
        raise InvalidParameterError(name, shown, "no other of these facts together with it", hint)
    if situation is not None:
        if situation not in _SITUATIONS:
            expected = " or ".join(repr(word) for word in get_args(Situation))
            raise InvalidParameterError("situation", typed(situation), expected)
        return _SITUATIONS[situation]
    if sensitivities is not None:
        unlike = GeneralizedSelection(
            epsilon=epsilon, sensitivities=sensitivities, monotonic=monotonic, confidence=confidence
        )
        return GeneralizedSelection, unlike.reason
    if is_top_k:
        best = recommend_top_k(
            n,
            k,
            epsilon=epsilon,
            delta=delta,
            monotonic=monotonic,
            max_values_per_unit=max_values_per_unit,
            confidence=confidence,
        )
        return type(best.mechanism), best.reason
    return one_by_one.mechanism, one_by_one.reason
