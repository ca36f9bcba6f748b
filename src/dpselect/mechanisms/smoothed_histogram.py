"""A private sample from a histogram mixed with the uniform distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpselect._native import _core
from dpselect.accounting import BoundedRangeEvent, ComposedEvent, PureEvent
from dpselect.checks import positive_count, positive_epsilon
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms.noisy_histogram import bin_counts
from dpselect.mechanisms.scaled import MechanismValue
from dpselect.privacy import Neighbours, neighbouring_relation

MOST_DRAWS = 1 << 32
_TOTAL_BITS = 62
_RATE_BITS = 22


@dataclass(frozen=True, slots=True, kw_only=True)
class SmoothedHistogramMechanism(MechanismValue):
    r"""Draws `k` bins independently, bin :math:`j` with probability proportional to :math:`1 + r c_j`.

    That is the histogram :math:`c` of the data mixed with the uniform distribution; the more draws, the smaller
    :math:`r \le e^{\varepsilon/k} - 1` has to be. One draw is an exponential mechanism with score
    :math:`\ln(1 + r c_j)`, so it gains nothing over choosing among bins. It is included for comparison with
    `DensityMechanism`.

    Args:
        epsilon: privacy loss of the whole sample, > 0.
        k: number of draws, from 1 to 2^32.
        neighbours: which data sets the guarantee compares; each unit is in one bin. The law is the same for both.

    Raises:
        InvalidParameterError: an argument is out of range.

    Proof: ``proofs/noisy_histograms.md``. Source: Wasserman & Zhou (2010).

    >>> mechanism = SmoothedHistogramMechanism(epsilon=1.0, k=4)
    >>> int(mechanism.draw([500, 0, 1000]).sum())
    4
    """

    epsilon: float
    k: int
    neighbours: Neighbours = Neighbours.ADD_REMOVE

    def __post_init__(self) -> None:
        self._set(epsilon=positive_epsilon(self.epsilon))
        self._set(k=positive_count(self.k, "k", at_most=MOST_DRAWS))
        self._set(neighbours=neighbouring_relation(self.neighbours))
        if Fraction(self._share) < Fraction(1, 2**_RATE_BITS) ** 2:
            expected = f"at least k * 2^-{2 * _RATE_BITS}"
            raise InvalidParameterError(
                "epsilon", self.epsilon, expected, "Otherwise the sample would contain no information."
            )

    @property
    def _share(self) -> float:
        """Cost of one draw, rounded down."""
        return positive_epsilon(Fraction(self.epsilon) / self.k)

    @property
    def event(self) -> ComposedEvent | PureEvent:
        """What the sample costs, for accounting: under add/remove each draw is bounded-range."""
        if self.neighbours is Neighbours.ADD_REMOVE:
            return ComposedEvent(event=BoundedRangeEvent(epsilon=self._share), count=self.k)
        return PureEvent(epsilon=self.epsilon)

    def draw(self, counts: object) -> NDArray[np.int64]:
        """How many of the `k` draws fell into each bin, at the cost of `epsilon`.

        Args:
            counts: shape ``(m,)``, units in each of the public bins: whole numbers >= 0 with a sum below 2^40.

        Returns:
            Shape ``(m,)``, with sum `k`.

        Raises:
            InvalidDataError: `counts` is not like this. Nothing is drawn then.
        """
        return _core.tally(self._weights(bin_counts(counts)), self.k)

    def probabilities(self, counts: object) -> NDArray[np.float64]:
        """The law of one of the draws. For planning with public counts and for tests.

        Raises:
            InvalidDataError: as for `draw`.
        """
        weights = self._weights(bin_counts(counts)).astype(np.float64)
        return weights / weights.sum()

    def _weights(self, counts: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Whole weights ``unit + rate * count``; r is `rate` / `unit`, and both depend only on public arguments."""
        unit_bits = self._unit_bits(counts.size)
        rate = min(int(_expm1_below(self._share) * 2**unit_bits), (1 << _RATE_BITS) - 1)
        return counts.astype(np.uint64) * np.uint64(rate) + np.uint64(1 << unit_bits)

    def _unit_bits(self, bins: int) -> int:
        """As many bits as make r precise, as long as all bins together stay below 2^62."""
        needed = _RATE_BITS - math.frexp(float(_expm1_below(self._share)))[1]
        return max(0, min(needed, _TOTAL_BITS - bins.bit_length()))


def _expm1_below(x: float) -> Fraction:
    """A number slightly below exp(x) - 1: a platform's own function may be wrong in its last digits."""
    if x > _RATE_BITS:
        return Fraction(2**_RATE_BITS)
    return Fraction(math.expm1(x)) * (1 - Fraction(1, 2**48))
