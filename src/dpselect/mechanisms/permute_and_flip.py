"""Permute-and-flip, at once or asking for scores one by one; and its probabilities to full precision."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, NotRequired, TypedDict, Unpack, overload

import numpy as np

from dpselect._native import _core
from dpselect.accounting import LaplaceProfileEvent
from dpselect.checks import exact_number, function
from dpselect.errors import InvalidParameterError, InvalidScoresError, Shown, typed
from dpselect.mechanisms.mechanism import Mechanism, explained
from dpselect.mechanisms.numbers import FloatArray, Law, Rule, exact_value, gauss_legendre, native_fraction
from dpselect.mechanisms.scores import Candidate, ScoresLike, all_candidates
from dpselect.privacy import Neighbours, neighbouring_relation

_TAIL = 36.0
"""The integrand falls at least like exp(-t P), P the sum of the p_j; beyond t = 36/P less than e^-35 of it is left."""

_NODES = ((2.8, 8), (5.7, 10), (9.6, 12), (14.6, 14), (20.5, 16), (27.4, 18), (math.inf, 20))
"""For how large a ``T P``, at most 36, how many nodes are enough on [0, T]."""

_TERMS = 12  # powers of ``t p`` in a series
_SHARES = 128  # items with at most a 128th of the sum of all p_j use series, so fewer than 128 items do not
_ALWAYS_ONE_BY_ONE = 1536  # of so few items, separating those would take longer than computing all in one way
_STRIPES = 16  # number of long rows that the factors are divided into for multiplying
_CHUNK = 4096  # the powers of this many items stay in the processor's cache


def permute_and_flip_probabilities(x: FloatArray) -> FloatArray:
    r"""Probability of each candidate from its scaled gap: :math:`p_i \int_0^1 \prod_{j \ne i} (1 - t p_j)\,dt`.

    With :math:`p_i = e^{-x_i}`, by Gauss-Legendre quadrature. All terms are positive, so nothing cancels, as it does in
    inclusion and exclusion. Relative error below 1e-12; entries below about 1e-300 may underflow.

    Proof: ``proofs/permute_and_flip.md``.
    """
    p = np.exp(-x)
    return p * product_integrals(p)


def product_integrals(p: FloatArray) -> FloatArray:
    r""":math:`\int_0^1 \prod_{j \ne i} (1 - t p_j)\,dt` for every i, each p in [0, 1] and one of them 1/2 or more."""
    total = float(np.add.reduce(p))
    cut = min(1.0, _TAIL / total)
    # From here on the variable is t / cut, from 0 to 1, and each p_j is multiplied by cut instead.
    p = cut * p
    enough = next(count for mass, count in _NODES if cut * total <= mass)
    rule = gauss_legendre(min(enough, (p.size + 1) // 2))  # half as many nodes as candidates integrate exactly
    if total < _SHARES and p.size <= _ALWAYS_ONE_BY_ONE:
        factors = _factors(p, rule)
        return _without_own_factor(factors, cut * rule.weights * _products(factors))
    near = np.flatnonzero(p > cut * total / _SHARES)
    factors = _factors(p[near], rule)
    p[near] = 0.0
    result, weights = _by_series(p, cut * rule.weights * _products(factors))
    result[near] = _without_own_factor(factors, weights)
    return result


def _factors(p: FloatArray, rule: Rule) -> FloatArray:
    """``1 - t p_j``, shape ``(len(p), nodes)``."""
    # A product of matrices, for speed. The 1 is second, so t p is rounded before the difference is, with fused
    # operations or not, and equal scores stay equal wherever they stand.
    columns = np.ones((p.size, 2))
    columns[:, 0] = p
    return columns @ _multiplier(rule.nodes.size)


@cache
def _multiplier(count: int) -> FloatArray:
    """``[[-t], [1]]``, which makes factors of ``[[p, 1]]``."""
    return np.stack([-gauss_legendre(count).nodes, np.ones(count)])


def _products(factors: FloatArray) -> FloatArray:
    """The product of all factors at each node; far above the smallest double, see the proof."""
    count, nodes = factors.shape
    if count <= _STRIPES**2:
        return np.multiply.reduce(factors, axis=0)
    length = count // _STRIPES
    stripes = factors[: length * _STRIPES].reshape(_STRIPES, length * nodes)  # long rows multiply faster
    striped = np.multiply.reduce(np.multiply.reduce(stripes, axis=0).reshape(length, nodes), axis=0)
    return striped * np.multiply.reduce(factors[length * _STRIPES :], axis=0)


def _without_own_factor(factors: FloatArray, weights: FloatArray) -> FloatArray:
    """``sum_k weights_k / factors_ik``: the whole product divided by item i's own factor."""
    # Not as factors**-1 @ weights, whose order of addition may differ from item to item.
    return np.einsum("ik,k->i", np.divide(1.0, factors, out=factors), weights)


def _by_series(p: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same from power series in ``t p``: the sums without each own factor, and the weights times the product."""
    chunks = [slice(start, start + _CHUNK) for start in range(0, p.size, _CHUNK)]
    first, node_powers = _powers(p[:_CHUNK]), _node_powers(weights.size)  # the first chunk is often the only one
    sums = sum(np.add.reduce(_powers(p[chunk]) if chunk.start else first, axis=1) for chunk in chunks)
    weights = weights * np.exp(sums @ (-node_powers / np.arange(1, _TERMS + 1)[:, np.newaxis]))
    moments, result = node_powers @ weights, np.empty_like(p)  # the coefficients of a geometric series
    for chunk in chunks:
        np.einsum("m,mi->i", moments, _powers(p[chunk]) if chunk.start else first, out=result[chunk])
    result += np.add.reduce(weights)
    return result, weights


def _powers(p: FloatArray) -> FloatArray:
    """``p, p^2, ...`` up to `_TERMS`, shape ``(_TERMS, len(p))``."""
    powers = np.empty((_TERMS, p.size))
    powers[0] = p
    rows = list(powers)
    for m in range(1, _TERMS):
        np.multiply(rows[m - 1], p, out=rows[m])
    return powers


@cache
def _node_powers(count: int) -> FloatArray:
    return _powers(gauss_legendre(count).nodes)


def not_tossed(p: float, n: float) -> float:
    """``integral_0^1 (1 - t p)^(n-1) dt = (1 - (1-p)^n) / (n p)``, for p in (0, 1]."""
    return (1.0 if p == 1.0 else -math.expm1(n * math.log1p(-p))) / (n * p) if p > 0.0 else 1.0


def tossed_away(p: float, n: float) -> float:
    """One minus `not_tossed`."""
    if n * p >= 1.0:
        return 1.0 - not_tossed(p, n)
    rule = gauss_legendre(16)
    return float(-rule.weights @ np.expm1((n - 1) * np.log1p(-p * rule.nodes)))


PERMUTE_AND_FLIP = Law(
    "permute_and_flip",
    permute_and_flip_probabilities,
    lambda theta, n: tossed_away(math.exp(-theta), n),
    lambda theta, n: not_tossed(math.exp(-theta), n),
    LaplaceProfileEvent,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PermuteAndFlip(Mechanism):
    r"""Visits the candidates in random order and selects the first whose coin, heads with probability
    :math:`e^{-(s^* - s_i)/b}`, comes up heads.

    `epsilon`-DP. For all scores its expected error is at most that of `ExponentialMechanism`, and at least half of it.

    Proof: ``proofs/permute_and_flip.md``; drawn in ``rust/src/select/permute_and_flip.rs``. Sources: McKenna & Sheldon
    (2020); Ding et al. (2021).

    >>> mechanism = PermuteAndFlip(epsilon=1.0, sensitivity=1.0, monotonic=True)
    >>> mechanism.select([10.0, 2000.0, 30.0], candidates=["red", "green", "blue"])
    'green'
    """

    law = PERMUTE_AND_FLIP


@explained
def select_lazily(
    score: Callable[[Candidate], float | Fraction],
    candidates: Sequence[Candidate],
    *,
    ceiling: float | Fraction,
    epsilon: float,
    sensitivity: float,
    monotonic: bool = False,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
) -> Candidate:
    r"""Draw one candidate by permute-and-flip, calling `score` only as often as the answer needs.

    For scores that cost a training run or a query each, and have a known ceiling, such as an accuracy of 1. Candidates
    are visited in random order, and each one's coin is first compared with :math:`e^{-(ceiling - score)/b}`. The first
    heads ends the draw; if there is none, the same coins are compared with :math:`e^{-(best - score)/b}`. Distribution
    and cost are those of `dpselect.PermuteAndFlip`, for any ceiling; the closer it is to the best score, the fewer
    calls. Whoever can see their number learns more than the answer.

    Args:
        score: called with a candidate, at most once each; returns a finite number, higher is better.
        ceiling: no score is above it. Clamp the scores, ``min(score, ceiling)``, if you are not certain.

    Raises:
        InvalidScoresError: a score is above the ceiling, or no finite number. There is no answer, and what was
            charged stays spent: that a draw failed says something about the scores.

    Proof: ``proofs/early_stop.md``.

    >>> right = {1: 5120, 2: 8710, 3: 9930, 4: 9020}      # of 10,000 answers of a tree of this depth
    >>> select_lazily(right.get, [1, 2, 3, 4], ceiling=10_000, epsilon=0.5, sensitivity=1, monotonic=True)
    3
    """
    relation, limit = neighbouring_relation(neighbours), exact_number(ceiling, "ceiling")
    terms = PermuteAndFlip(epsilon=epsilon, sensitivity=sensitivity, monotonic=monotonic, neighbours=relation).terms
    function(score, "score", expected="a function of a candidate")
    count, candidate_of = all_candidates(candidates)
    flips = _core.LazyFlips(count, *terms[1:])
    order, known = [int(item) for item in flips.order()], list[Fraction]()
    for item in order:
        hint = "There is no answer, and the charge stands. Decide by a public rule what such a candidate scores."
        exact = exact_value(score(candidate_of(item)), InvalidScoresError, name="score", hint=hint)
        if exact > limit:
            hint = "There is no answer, and the charge stands. Clamp the scores: min(score, ceiling)."
            raise InvalidScoresError("score", Shown("<above the ceiling>"), "at most the ceiling", hint)
        known.append(exact)
        if flips.is_head(item, native_fraction(limit - known[-1])):
            return candidate_of(item)
    falls = ((item, native_fraction(max(known) - each)) for item, each in zip(order, known, strict=True))
    return candidate_of(next(item for item, fall in falls if flips.is_head(item, fall)))


class OfSelect(TypedDict):
    """The terms of `select`, for type checkers."""

    epsilon: float
    sensitivity: float
    monotonic: NotRequired[bool]
    neighbours: NotRequired[Neighbours | str]


@overload
def select(scores: ScoresLike, *, candidates: None = None, **terms: Unpack[OfSelect]) -> int: ...
@overload
def select(scores: ScoresLike, *, candidates: Sequence[Candidate], **terms: Unpack[OfSelect]) -> Candidate: ...
@overload
def select(scores: ScoresLike, *, candidates: object, **terms: Unpack[OfSelect]) -> Any: ...
@explained
def select(
    scores: ScoresLike,
    *,
    epsilon: float,
    sensitivity: float,
    monotonic: bool = False,
    candidates: object = None,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
) -> object:
    """Select one of the best candidates, or its index, with `epsilon`-differential privacy, by permute-and-flip.

    Proof: ``proofs/permute_and_flip.md``; that the draw is exact: ``proofs/exact_sampling.md``.

    >>> select([12, 730, 41], epsilon=1.0, sensitivity=1, monotonic=True, candidates=["cat", "dog", "eel"])
    'dog'
    """
    global _latest
    last, width, is_monotonic, relation, mechanism = _latest
    if epsilon is not last or sensitivity is not width or monotonic is not is_monotonic or neighbours is not relation:
        try:
            mechanism = _mechanism(epsilon, sensitivity, monotonic, neighbours)
        except TypeError:  # what cannot be hashed is no number: the checks refuse it
            return _mechanism.__wrapped__(epsilon, sensitivity, monotonic, neighbours).select(scores, candidates)
        _latest = epsilon, sensitivity, monotonic, neighbours, mechanism
    if candidates is None and type(scores) is np.ndarray:
        try:
            return mechanism._sampler.select(scores)  # what the call below comes to, two frames earlier
        except InvalidScoresError:
            pass
    return mechanism.select(scores, candidates)


_latest: tuple[Any, ...] = (object(), *[None] * 4)  # terms and mechanism: a look-up is a tenth of a short call


@lru_cache(maxsize=64, typed=True)
def _mechanism(epsilon: float, sensitivity: float, monotonic: bool, neighbours: Neighbours | str, /) -> PermuteAndFlip:
    """Mechanisms are values without random state, so calls with the same arguments may share one."""
    if getattr(sensitivity, "ndim", isinstance(sensitivity, list | tuple)):
        hint = "For one of each score use dpselect.GeneralizedSelection(sensitivities=...)."
        raise InvalidParameterError("sensitivity", typed(sensitivity), "a number > 0", hint)
    relation = neighbouring_relation(neighbours)
    return PermuteAndFlip(epsilon=epsilon, sensitivity=sensitivity, monotonic=monotonic, neighbours=relation)
