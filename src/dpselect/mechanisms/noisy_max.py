"""Report-noisy-max, and its probabilities with Laplace noise, by quadrature between the scores.

In units of the scale, from the best score downwards. All terms are positive, so nothing cancels. With y below the best
score, w(y) is e^y times the product of all distribution functions of the noise. Proof: ``proofs/noisy_max.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting import LaplaceProfileEvent
from dpselect.checks import one_of
from dpselect.mechanisms.exponential import EXPONENTIAL
from dpselect.mechanisms.mechanism import Mechanism
from dpselect.mechanisms.numbers import FloatArray, Law, WorstCase, gauss_legendre
from dpselect.mechanisms.permute_and_flip import PERMUTE_AND_FLIP, not_tossed, product_integrals, tossed_away

_DEEPEST = 750.0  # e^-750 is below the smallest double: candidates further down than this have probability 0 in doubles
_RULE = gauss_legendre(16)
_WIDEST = 1.0  # width of a panel: the product varies on the scale of 1, whatever the number of candidates
_NEGLIGIBLE = 1e-21  # panels are left out once w is this small, relative to the integral above the best score
_NEAR = math.log(25.0)  # beyond this distance ``q = e^-distance / 2`` is at most 0.02, and power series are used
_TERMS = 10


def laplace_probabilities(x: FloatArray) -> FloatArray:
    """Probability of each candidate from its scaled gap, with a relative error below 1e-10.

    Proof: ``proofs/noisy_max.md``.

    >>> laplace_probabilities(np.array([0.0, 2.0])).round(4)  # of two, the worse wins with e^-x (2 + x) / 4
    array([0.8647, 0.1353])
    """
    p = np.exp(-x)
    total = float(p.sum())
    result = p / 2.0 * product_integrals(p / 2.0)
    negligible = _NEGLIGIBLE / (1.0 + total)
    enough = -math.log(negligible)
    if total - 1.0 >= 2.0 * enough:  # w(0) is at most exp(-(total - 1) / 2)
        return result
    near = x <= _DEEPEST
    near_x, position, counts = np.unique(x[near], return_inverse=True, return_counts=True)
    upper, lower = _below_best(_Levels(near_x, counts, negligible))
    result[near] += p[near] / 2.0 * upper[position] + lower[position]
    return result


@dataclass(frozen=True, slots=True)
class _Levels:
    """The distinct scaled gaps in increasing order, how many candidates have each, and the w that is negligible."""

    x: FloatArray
    counts: NDArray[np.intp]
    negligible: float

    def edges(self) -> FloatArray:
        """Ends of the panels: the levels themselves, as far down as w matters, and points between them."""
        # w is at most 2^-N once N candidates have been passed.
        last = int(np.searchsorted(np.cumsum(self.counts), -math.log2(self.negligible)))
        stops = self.x[: last + 1]
        pieces = np.ceil(np.diff(stops) / _WIDEST).astype(int)
        parts: list[FloatArray] = [
            stops[i] + (stops[i + 1] - stops[i]) * (np.arange(pieces[i]) / pieces[i]) for i in range(pieces.size)
        ]
        return np.concatenate([*parts, stops[-1:]])

    def far_power_sums(self, stops: FloatArray) -> list[FloatArray]:
        """``sum_j exp(-m (x_j - stop))`` over the candidates far below each stop, for m = 1, 2, ..."""
        powers = np.arange(1, _TERMS)
        first_far = np.searchsorted(self.x, stops + _NEAR, side="right")
        sums: list[FloatArray] = []
        total, reference, end = np.zeros(_TERMS - 1), float(self.x[-1]), self.x.size
        for stop, begin in zip(stops[::-1], first_far[::-1], strict=True):  # backwards, so that sums only grow
            total = total * np.exp(-powers * (reference - stop))
            weight, step = self.counts[begin:end].astype(np.float64), np.exp(stop - self.x[begin:end])
            for m in range(powers.size):
                weight *= step
                total[m] += weight.sum()
            sums.append(total)
            reference, end = stop, int(begin)
        return sums[::-1]

    def log_w(self, y: FloatArray, *, passed: int, near: int, far: FloatArray, stop: float) -> FloatArray:
        """``ln w`` at each y: levels before `passed` are above y; those before `near` are computed one by one."""
        others = self.counts[:passed].astype(np.float64)
        others[0] -= 1.0  # e^y cancels the fall of one candidate at the top, in the formula
        above = (others * (y[:, np.newaxis] - self.x[:passed] + math.log(2.0))).sum(axis=1)
        q = 0.5 * np.exp(y[:, np.newaxis] - self.x[passed:near])
        below = (self.counts[passed:near] * np.log1p(-q)).sum(axis=1)
        powers = np.arange(1, _TERMS)
        return below - above - math.log(2.0) - (_half_powers(y - stop)[:, 1:] * (far / powers)).sum(axis=1)


def _half_powers(distance: FloatArray) -> FloatArray:
    """``(e^distance / 2)^m``, shape ``(len(distance), _TERMS)``."""
    return np.power.outer(0.5 * np.exp(distance), np.arange(_TERMS))


def _below_best(levels: _Levels) -> tuple[FloatArray, FloatArray]:
    """The two integrals below the best score, for each level: before and after the value passes it, panel by panel."""
    edges = levels.edges()
    upper, lower = np.zeros((2, levels.x.size))
    moments = _Moments()
    still_far = int(np.searchsorted(levels.x, _NEAR, side="right"))  # levels from here on are in the moments
    all_passed = edges[-1] == levels.x[-1]
    for start, stop, far in zip(edges[:-1], edges[1:], levels.far_power_sums(edges[1:]), strict=True):
        passed, near = (int(i) for i in np.searchsorted(levels.x, [start, stop + _NEAR], side="right"))
        upper[still_far:near] = moments.at(levels.x[still_far:near])
        still_far = max(still_far, near)

        at_start = levels.log_w(np.array([start]), passed=passed, near=near, far=far, stop=stop)
        if at_start[0] < math.log(levels.negligible):
            all_passed = False
            break
        y = start + (stop - start) * _RULE.nodes
        weights = (stop - start) * _RULE.weights * np.exp(levels.log_w(y, passed=passed, near=near, far=far, stop=stop))
        own = 1.0 - 0.5 * np.exp(y[:, np.newaxis] - levels.x[passed:near])
        upper[passed:near] += (weights[:, np.newaxis] / own).sum(axis=0)
        moments.add(y, weights, stop=stop)
        lower[:passed] += (np.exp(-y) * weights).sum()
    upper[still_far:] = moments.at(levels.x[still_far:])
    if all_passed:  # the rest falls like exp(-n y)
        end, n = levels.x[-1:], levels.x.size
        log_w = levels.log_w(end, passed=n, near=n, far=np.zeros(_TERMS - 1), stop=float(end[0]))
        lower += np.exp(log_w - end) / levels.counts.sum()
    return upper, lower


class _Moments:
    """``sum_k weight_k / (1 - q)`` over the nodes so far, for levels far below them: a series in ``q = e^(y - x) / 2``.

    The powers are kept relative to the last panel's end, so that nothing overflows.
    """

    def __init__(self) -> None:
        self._sums = np.zeros(_TERMS)
        self._stop = 0.0

    def add(self, y: FloatArray, weights: FloatArray, *, stop: float) -> None:
        self._sums *= np.exp(-np.arange(_TERMS) * (stop - self._stop))
        self._sums += weights @ _half_powers(y - stop)
        self._stop = stop

    def at(self, x: FloatArray) -> FloatArray:
        ratio = np.exp(self._stop - x)
        result = np.zeros_like(x)
        for coefficient in self._sums[::-1]:
            result *= ratio
            result += coefficient
        return result


def _laplace_loses(theta: float, n: int) -> float:
    y, weights, log_all_below = _between_best_and_others(theta, n)
    between = float(-(weights * np.exp(-y)) @ np.expm1(log_all_below))
    p = math.exp(-theta)
    return (tossed_away(p / 2.0, n) + between + p * (1.0 - _below_all(n))) / 2.0


def _laplace_wins(theta: float, n: int) -> float:
    y, weights, log_all_below = _between_best_and_others(theta, n)
    between = float((weights * np.exp(-y)) @ np.exp(log_all_below))
    p = math.exp(-theta)
    return (not_tossed(p / 2.0, n) + between + p * _below_all(n)) / 2.0


def _below_all(n: int) -> float:
    """Probability that the best wins if its noisy value is below the scores of all others: ``2^(1-n) / n``."""
    return math.ldexp(1.0, -min(n - 1, 2000)) / n


def _between_best_and_others(theta: float, n: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Nodes y in [0, theta] below the best, their weights, and the log-probability that all others are below y."""
    edges = np.linspace(0.0, theta, max(1, math.ceil(theta)) + 1)
    width = np.diff(edges)[:, np.newaxis]
    y = (edges[:-1, np.newaxis] + width * _RULE.nodes).ravel()
    return y, (width * _RULE.weights).ravel(), (n - 1) * np.log1p(-0.5 * np.exp(y - theta))


LAPLACE = Law("laplace", laplace_probabilities, WorstCase(_laplace_loses, _laplace_wins), LaplaceProfileEvent)

_LAW_OF_NOISE = {"laplace": LAPLACE, "exponential": PERMUTE_AND_FLIP, "gumbel": EXPONENTIAL}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportNoisyMax(Mechanism):
    """Adds independent noise of the `scale` to every score and selects the candidate with the largest sum.

    It is `epsilon`-DP with each of the three kinds of noise. With Gumbel noise it has the distribution of
    `ExponentialMechanism`, with exponential noise that of `PermuteAndFlip`. With Laplace noise it has its own
    distribution, with a larger error than permute-and-flip.

    Args:
        noise: ``"laplace"``, ``"exponential"`` or ``"gumbel"``.

    Proof: ``proofs/noisy_max.md``. Sources: Dwork & Roth (2014), section 3.3; Ding et al. (2021).

    >>> mechanism = ReportNoisyMax(epsilon=1.0, sensitivity=1.0, monotonic=True, noise="laplace")
    >>> mechanism.select([10.0, 2000.0, 30.0], candidates=["red", "green", "blue"])
    'green'
    """

    noise: Literal["laplace", "exponential", "gumbel"] = "laplace"

    def __post_init__(self) -> None:
        one_of(self.noise, "noise", _LAW_OF_NOISE)
        Mechanism.__post_init__(self)

    @property
    def law(self) -> Law:
        return _LAW_OF_NOISE[self.noise]
