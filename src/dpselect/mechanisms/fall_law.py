r"""Probabilities if the score falls from the top of each piece as a line or a parabola, for planning and tests.

A piece whose top is at depth d, in scales, has density :math:`e^{-d - D \tau - Q \tau^2}` at the share :math:`\tau` of
its length from the top. On an unbounded tail :math:`\tau` counts scales, D is 1 and Q is 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpselect.mechanisms.laws import gauss_legendre
from dpselect.mechanisms.scores import plain_points

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale b as a mantissa and an exponent, so that no intermediate result of a quotient overflows."""

    mantissa: float
    exponent: int

    @classmethod
    def of(cls, *, epsilon: float, sensitivity: float, factor: int) -> Scale:
        """``b = factor * sensitivity / epsilon``."""
        above, above_exponent = math.frexp(sensitivity)
        below, below_exponent = math.frexp(epsilon)
        return cls(factor * above / below, above_exponent - below_exponent)

    @property
    def log(self) -> float:
        """The natural logarithm of b."""
        return math.log(self.mantissa) + self.exponent * math.log(2.0)

    def divide(self, *factors: FloatArray) -> FloatArray:
        """The product of `factors` over b: infinite or 0 only where the true value is that extreme."""
        mantissa, exponent = np.frexp(factors[0])
        for each in factors[1:]:
            another, shift = np.frexp(each)
            mantissa, exponent = mantissa * another, exponent + shift
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(mantissa / self.mantissa, exponent - self.exponent)

    def drops(self, start: FloatArray, end: FloatArray) -> FloatArray:
        """``abs(end - start) / b``."""
        return self.divide(np.abs(end / 2.0 - start / 2.0), np.array(2.0))


@dataclass(frozen=True, slots=True)
class FallLaw:
    """Pieces from left to right, without gaps.

    Attributes:
        low, high: shape ``(m,)``, ends of the pieces; infinite where a tail has none.
        is_upward: the top is the lower end.
        depth: how far the top is below the best score, in scales.
        linear, quadratic: D and Q.
        rate: shape ``(m,)``, how much a tail falls for each unit, in the unit of the scores (unused for other pieces).
        scale: what depths and falls are measured in.
    """

    low: FloatArray
    high: FloatArray
    is_upward: BoolArray
    depth: FloatArray
    linear: FloatArray
    quadratic: FloatArray
    rate: FloatArray
    scale: Scale

    @property
    def _is_tail(self) -> BoolArray:
        return np.isinf(self.low) | np.isinf(self.high)

    def _log_masses(self) -> FloatArray:
        """Logarithms of the integrals, -inf for pieces of no length."""
        halves = np.where(self._is_tail, 1.0, self.high / 2.0 - self.low / 2.0)
        with np.errstate(divide="ignore"):
            lengths = np.log(halves) + math.log(2.0)
            tails = self.scale.log - np.log(self.rate)
        return np.where(self._is_tail, tails, lengths + _log_integral(self.linear, self.quadratic)) - self.depth

    def masses(self) -> FloatArray:
        """Probability of each piece, summing to 1."""
        logs = self._log_masses()
        weights = np.exp(logs - logs.max())
        return weights / weights.sum()

    def pdf(self, points: npt.ArrayLike) -> FloatArray:
        """Density at each of `points`; at a breakpoint, that of the piece above; 0 outside. May be infinite."""
        at = plain_points(points)
        piece, is_inside = self._find(at)
        share = self._share(at, piece)
        logs = self._log_masses()
        total = logs.max() + np.log(np.exp(logs - logs.max()).sum())
        with np.errstate(over="ignore"):
            return np.where(is_inside, np.exp(-self.depth[piece] - self._fall(share, piece) - total), 0.0)

    def cdf(self, points: npt.ArrayLike) -> FloatArray:
        """Probability of a point not above each of `points`."""
        at = plain_points(points)
        piece, is_inside = self._find(at)
        share = self._share(at, piece)
        masses = self.masses()
        sums = np.concatenate([[0.0], np.cumsum(masses)])
        beyond = self._beyond(share, piece)  # the part of the piece's mass that is farther from its top
        part = np.where(self.is_upward[piece], 1.0 - beyond, beyond)
        inside = np.minimum(sums[piece] + masses[piece] * part, 1.0)
        return np.where(is_inside, inside, np.where(at < self.low[0], 0.0, 1.0))

    def _find(self, at: FloatArray) -> tuple[npt.NDArray[np.intp], BoolArray]:
        is_inside = (at >= self.low[0]) & (at <= self.high[-1])
        has_length = np.flatnonzero(self.high > self.low)
        piece = has_length[np.maximum(np.searchsorted(self.low[has_length], at, side="right") - 1, 0)]
        return piece, is_inside

    def _share(self, at: FloatArray, piece: npt.NDArray[np.intp]) -> FloatArray:
        low, high, is_upward = self.low[piece], self.high[piece], self.is_upward[piece]
        is_tail = self._is_tail[piece]
        tops = np.where(is_upward, low, high)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            halves = np.maximum(np.where(is_upward, at / 2.0 - tops / 2.0, tops / 2.0 - at / 2.0), 0.0)
            share = np.clip(halves / (high / 2.0 - low / 2.0), 0.0, 1.0)
            scales = self.scale.divide(halves, np.array(2.0), self.rate[piece])
        return np.where(is_tail, scales, share)

    def _fall(self, share: FloatArray, piece: npt.NDArray[np.intp]) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            fall = (self.linear[piece] + self.quadratic[piece] * share) * share
        return np.where(share == 0.0, 0.0, fall)

    def _beyond(self, share: FloatArray, piece: npt.NDArray[np.intp]) -> FloatArray:
        linear, quadratic = self.linear[piece], self.quadratic[piece]
        rest = 1.0 - np.where(self._is_tail[piece], 0.0, share)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            slope = np.where(quadratic == 0.0, linear, linear + 2.0 * quadratic * share) * rest
            above = np.log(rest) + _log_integral(slope, quadratic * rest**2)
            inside = np.exp(above - _log_integral(linear, quadratic) - self._fall(share, piece))
        return np.where(self._is_tail[piece], np.exp(-share), np.where(share == 1.0, 0.0, inside))


_RULE = gauss_legendre(16)


def _log_integral(linear: FloatArray, quadratic: FloatArray) -> FloatArray:
    r"""Logarithm of :math:`\int_0^1 e^{-D \tau - Q \tau^2} d\tau` for D, Q >= 0.

    >>> np.exp(_log_integral(np.array([0.0, 2.0]), np.array([0.0, 0.0])))
    array([1.        , 0.43233236])
    """
    from scipy import special  # not loaded with the package, because draws do not need it

    d, q = np.minimum(linear, 1e300), np.minimum(quadratic, 1e300)
    # If the fall is small, sixteen nodes have an error below 1e-16. Otherwise nothing cancels in the formulas.
    small_d, small_q = np.minimum(d, 2.0)[..., np.newaxis], np.minimum(q, 2.0)[..., np.newaxis]
    gentle = np.log((np.exp(-(small_d + small_q * _RULE.nodes) * _RULE.nodes) * _RULE.weights).sum(axis=-1))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        straight = np.log(-np.expm1(-d)) - np.log(d)
        root = np.sqrt(q)
        z = d / (2.0 * root)
        curved = np.log(special.erfcx(z) - np.exp(-(d + q)) * special.erfcx(z + root))
        curved += math.log(math.pi) / 2.0 - math.log(2.0) - np.log(root)
        is_straight = (q == 0.0) | (z > 1e8)
    return np.where(d + q < 2.0, gentle, np.where(is_straight, straight, curved))
