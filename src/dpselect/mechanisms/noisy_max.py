"""Report-noisy-max, and its probabilities with Laplace noise, by quadrature.

In units of the scale, from the best score downwards. All terms are positive, so nothing cancels. With y below the best
score, w(y) is e^y times the product of all distribution functions of the noise. Proof: ``proofs/noisy_max.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from dpselect.accounting import LaplaceProfileEvent
from dpselect.checks import one_of
from dpselect.mechanisms.exponential import EXPONENTIAL
from dpselect.mechanisms.mechanism import Mechanism
from dpselect.mechanisms.numbers import FloatArray, IntArray, Law, gauss_legendre
from dpselect.mechanisms.permute_and_flip import PERMUTE_AND_FLIP, not_tossed, product_integrals, tossed_away

_DEEPEST = 700.0  # candidates further down than this have probabilities below 1e-300
_NODES = 16  # on each panel, at most 1 wide: the product varies on that scale, whatever the number of candidates
_NEAR = math.log(25.0)  # beyond this distance ``q = e^-distance / 2`` is at most 0.02, and power series are used
_TERMS = 12  # of them


def laplace_probabilities(x: FloatArray) -> FloatArray:
    """Probability of each candidate from its scaled gap, with a relative error below 1e-10.

    Proof: ``proofs/noisy_max.md``.
    """
    p = np.exp(-x)
    total = float(p.sum())
    result = p / 2.0 * product_integrals(p / 2.0)
    enough = math.log(1e21 * (1.0 + total))  # -ln w from which on w is negligible beside the integral above the best
    if total - 1.0 >= 2.0 * enough:
        return result
    visible = x <= _DEEPEST
    levels, position, counts = np.unique(x[visible], return_inverse=True, return_counts=True)
    upper, lower = _below_best(levels, counts, enough)
    result[visible] += p[visible] / 2.0 * upper[position] + lower[position]
    return result


def _below_best(x: FloatArray, counts: IntArray, enough: float) -> tuple[FloatArray, FloatArray]:
    """The two integrals below the best score, for each level: before and after the value passes it.

    Levels are the distinct scaled gaps in increasing order, and `counts` how many candidates have each. Panels end at
    the levels, and where -ln w has to be `enough`. Levels that are far below all panels enter by power series.
    """
    from numpy.polynomial.polynomial import polyval  # not loaded with NumPy: draws need none

    others = counts.astype(np.float64)
    others[0] -= 1.0  # e^y cancels the fall of one candidate at the top, in the formula
    # -2 ln w is at least the number of others passed, and e^(y - x) of each that is not.
    passed_before, not_before = np.cumsum(others) - others, np.cumsum((others * np.exp(-x))[::-1])[::-1]
    beyond, end = int(np.searchsorted(passed_before + np.exp(x) * not_before, 2.0 * enough)), float(x[-1])
    if beyond < x.size:
        end = math.log((2.0 * enough - passed_before[beyond]) / not_before[beyond])
    ends = [0.0, *x[1:beyond].tolist(), end]
    edges = [np.linspace(low, high, math.ceil(high - low), endpoint=False) for low, high in pairwise(ends)]

    near = int(np.searchsorted(x, end + _NEAR, side="right"))
    far = np.exp(end - x[near:])
    power, sums = counts[near:].astype(np.float64), np.empty(_TERMS)
    for m in range(_TERMS):
        power *= far
        sums[m] = power.sum() / (m + 1)
    upper, lower, moments = np.zeros(x.size), np.zeros(x.size), np.zeros(sums.size + 1)
    places = np.arange(moments.size)
    for start, stop in pairwise([*np.concatenate(edges).tolist(), end]):
        y, weights = gauss_legendre(_NODES).between(np.array([start, stop]))
        passed, powers = int(np.searchsorted(x, start, side="right")), np.power.outer(np.exp(y - end) / 2.0, places)
        own = 1.0 - np.exp(y[:, np.newaxis] - x[passed:near]) / 2.0
        falls = (y[:, np.newaxis] - x[:passed] + math.log(2.0)) @ others[:passed] + math.log(2.0)
        below = np.log(own) @ others[passed:near] - powers[:, 1:] @ sums
        weights *= np.exp(below - falls)
        upper[passed:near] += weights @ (1.0 / own)
        lower[:passed] += weights @ np.exp(-y)
        moments += weights @ powers
    upper[near:] = polyval(far, moments)
    if beyond == x.size:  # the rest falls like exp(-n y)
        lower += np.exp(-(end - x + math.log(2.0)) @ others - end) / 2.0 / counts.sum()
    return upper, lower


def _best_of_laplace(theta: float, n: float) -> tuple[float, float]:
    """The probabilities that the best loses, and that it wins."""
    y, weights = gauss_legendre(_NODES).between(np.linspace(0.0, theta, max(1, math.ceil(theta)) + 1))
    weights *= np.exp(-y)
    log_all_below = (n - 1) * np.log1p(-0.5 * np.exp(y - theta))  # the probability that all others are below y
    p = math.exp(-theta)
    from_below = 2.0 ** -min(n - 1.0, 2000.0) / n  # that the best wins, if its noisy value is below all others' scores
    loses = tossed_away(p / 2.0, n) - float(weights @ np.expm1(log_all_below)) + p * (1.0 - from_below)
    wins = not_tossed(p / 2.0, n) + float(weights @ np.exp(log_all_below)) + p * from_below
    return loses / 2.0, wins / 2.0


LAPLACE = Law(
    "laplace",
    laplace_probabilities,
    lambda theta, n: _best_of_laplace(theta, n)[0],
    lambda theta, n: _best_of_laplace(theta, n)[1],
    LaplaceProfileEvent,
)

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
    def law(self) -> Law:  # pyright: ignore[reportIncompatibleVariableOverride] - of the others it is one for all
        return _LAW_OF_NOISE[self.noise]
