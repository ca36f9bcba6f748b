"""Noisy counts of values that are not public: a count is released only if it reaches a threshold."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dpselect.accounting import ApproximateEvent
from dpselect.checks import positive_count, positive_epsilon, probability, whole_number
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms.base import MechanismValue
from dpselect.mechanisms.discrete_gaussian import DiscreteGaussianMechanism
from dpselect.mechanisms.exact_coins import LARGEST_COUNT, compared, exp_minus, first_count, log_of
from dpselect.mechanisms.noise import GeometricMechanism, whole_values
from dpselect.mechanisms.partition_selection import MOST_VALUES_PER_UNIT, divided, moved_counts, open_delta
from dpselect.mechanisms.scores import ScoresLike
from dpselect.privacy import Neighbours, neighbouring_relation

_BITS = 1200
"""Binary digits after the point: beyond those of any delta, which is at least 2^-1074."""

_BITS_SHOWN = 64
"""Binary digits of a probability, which nearly always suffice to compare it."""


class ReleasedCounts(NamedTuple):
    """The noisy counts that reach the threshold.

    Attributes:
        positions: of their values, in increasing order.
        counts: the noisy counts.
    """

    positions: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyThreshold(MechanismValue, abc.ABC):
    """The base of `ThresholdCounts` and `GaussianThresholdCounts`: their arguments, and the draw."""

    epsilon: float
    delta: float
    max_values_per_unit: int = 1
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    threshold: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        self._set(epsilon=positive_epsilon(self.epsilon))
        self._set(delta=open_delta(self.delta))
        most = positive_count(self.max_values_per_unit, "max_values_per_unit", at_most=MOST_VALUES_PER_UNIT)
        self._set(max_values_per_unit=most)
        self._set(neighbours=neighbouring_relation(self.neighbours))

    def _set_threshold(self, threshold: int) -> None:
        if threshold >= LARGEST_COUNT // 2:
            raise InvalidParameterError("epsilon", self.epsilon, "a number large enough for a count to be released")
        self._set(threshold=threshold)

    @property
    def event(self) -> ApproximateEvent:
        """What everything released costs, for accounting; it does not depend on the data."""
        return ApproximateEvent(epsilon=self.epsilon, delta=self.delta)

    @abc.abstractmethod
    def probability(self, count: int) -> float:
        """The probability that a value of `count` units is released, up to rounding. For planning."""

    @abc.abstractmethod
    def count_needed(self, chance: float) -> int:
        """The smallest number of units at which a value is released with at least the probability `chance`.

        It depends on public arguments only.

        Raises:
            InvalidParameterError: `chance` is not strictly between 0 and 1.
        """

    @abc.abstractmethod
    def count_error(self, confidence: float) -> int:
        """With probability `confidence` the noisy count of one value is at most this far from its count."""

    @abc.abstractmethod
    def _noisy(self, counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The counts of values that occur, with noise."""

    def draw(self, counts: ScoresLike) -> ReleasedCounts:
        """Release the noisy counts that reach the threshold, at the cost of `epsilon` and `delta` for all together.

        Args:
            counts: shape ``(n,)``, the number of units with each value: whole numbers; ``n = 0`` is allowed. Those
                below 1 are left out.

        Raises:
            InvalidDataError: `counts` is not one-dimensional or not of whole numbers. Nothing is drawn then.
        """
        numbers = whole_values(counts)
        (occurring,) = np.nonzero(numbers > 0)
        noisy = self._noisy(numbers[occurring])
        reached = noisy >= self.threshold
        return ReleasedCounts(occurring[reached], noisy[reached])

    def select(self, counts: ScoresLike) -> npt.NDArray[np.int64]:
        """The positions of the values whose noisy counts reach the threshold, in increasing order: see `draw`."""
        return self.draw(counts).positions


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdCounts(NoisyThreshold):
    r"""Adds two-sided geometric noise to the count of each value that occurs, and releases those from a threshold on.

    If one unit changes at most t counts by 1, the noise has the scale :math:`t/\varepsilon`. A value that only this
    unit has is released with probability :math:`\delta' = 1 - (1 - \delta)^{1/t}` at most, because the threshold is

    .. math:: \tau = 1 + \min\{j \ge 1: a^j/(1 + a) \le \delta'\}, \qquad a = e^{-\varepsilon/t}.

    Values without units get no noise and are never released.

    Args:
        epsilon: privacy loss of everything released, > 0. Rounded down if it is not a double.
        delta: probability with which epsilon may fail, strictly between 0 and 1. Rounded down likewise.
        max_values_per_unit: the largest number of values that a unit counts for; t is twice this for replaced units.
        neighbours: which data sets the guarantee compares, ``"add_remove"`` or ``"replace_one"``.

    Raises:
        InvalidParameterError: an argument is out of range, or no count could reach the threshold.

    Proof: ``proofs/unknown_candidates.md``, claim 3. Source: Korolova et al. (2009), with geometric noise.

    >>> [ThresholdCounts(epsilon=1.0, delta=1e-6, max_values_per_unit=most).threshold for most in (1, 3, 10)]
    [15, 45, 156]
    >>> released = ThresholdCounts(epsilon=1.0, delta=1e-6).draw([1000, 0, 3000])
    >>> released.positions.tolist(), bool(abs(released.counts - [1000, 3000]).max() < 50)
    ([0, 2], True)
    """

    noise: GeometricMechanism = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        NoisyThreshold.__post_init__(self)
        moved = moved_counts(self.max_values_per_unit, self.neighbours)
        rate, share = divided(self.epsilon, self.delta, moved)
        self._set_threshold(1 + first_count(lambda noise: _against(share, noise, rate) < 0, _roughly(rate, share)))
        self._set(noise=GeometricMechanism(epsilon=self.epsilon, sensitivity=moved, neighbours=self.neighbours))

    def probability(self, count: int) -> float:
        """The probability that a value of `count` units is released, up to rounding. For planning."""
        if whole_number(count, "count") <= 0:
            return 0.0
        return 1.0 - float(self.noise.cdf(0, self.threshold - count - 1))

    def count_needed(self, chance: float) -> int:
        """See `NoisyThreshold.count_needed`. Where no precision decides, the next larger number.

        Raises:
            InvalidParameterError: `chance` is not strictly between 0 and 1.
        """
        least = Fraction(probability(chance, "chance"))
        rate = Fraction(self.epsilon) / self.noise.sensitivity

        def reaches(count: int) -> bool:
            if count < self.threshold:
                return _against(least, self.threshold - count, rate) > 0
            return _against(1 - least, count - self.threshold + 1, rate) < 0

        beyond = _roughly(rate, 1 - least)
        return first_count(reaches, lambda count: beyond(count - self.threshold + 1))

    def count_error(self, confidence: float) -> int:
        """With probability `confidence` the noisy count of one value is at most this far from its count."""
        return self.noise.error_bound(confidence)

    def _noisy(self, counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return self.noise.draw_many(counts)


def _roughly(rate: Fraction, share: Fraction) -> Callable[[int], bool]:
    """Whether noise that is at least as large as a number is about as unlikely as `share`, in doubles."""
    of_one, wanted = float(rate), log_of(share)
    return lambda noise: noise * of_one + math.log1p(math.exp(-of_one)) + wanted >= 0.0


def _against(share: Fraction, noise: int, rate: Fraction) -> int:
    """Compares the probability of noise that is at least as large as a number >= 1 with `share`; see `compared`."""
    few = _BITS_SHOWN + math.ceil(noise * rate * 3 / 2)
    return compared(lambda bits: _at_least(noise, rate, bits), share, few=few, most=_BITS)


def _at_least(noise: int, rate: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """That probability, a^noise / (1 + a), enclosed."""
    one_low, one_high = _of_one(rate, bits)
    low, high = exp_minus(noise * rate, bits)
    return low / (1 + one_high), high / (1 + one_low)


@lru_cache(maxsize=64)
def _of_one(rate: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    return exp_minus(rate, bits)


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianThresholdCounts(NoisyThreshold):
    r"""Adds discrete Gaussian noise to the count of each value that occurs, and releases those from a threshold on.

    If one unit changes at most t counts by 1, the noise X of each count is that of an
    :math:`(\varepsilon, \delta/2)`-private vector whose squared sensitivity is t. The threshold is

    .. math:: \tau = 1 + \min\{j \ge 1: \Pr[X \ge j] \le 1 - (1 - \delta/2)^{1/t}\},

    with a verified upper bound in place of the probability. Values without units get no noise and are never released.
    The noise grows with the root of t; that of `ThresholdCounts` grows with t, and is smaller for t of one or two.

    Args:
        epsilon: privacy loss of everything released, > 0. Rounded down if it is not a double.
        delta: probability with which epsilon may fail, strictly between 0 and 1. Rounded down likewise.
        max_values_per_unit: the largest number of values that a unit counts for; t is twice this for replaced units.
        neighbours: which data sets the guarantee compares, ``"add_remove"`` or ``"replace_one"``.

    Raises:
        InvalidParameterError: an argument is out of range, or no count could reach the threshold.

    Proof: ``proofs/unknown_candidates.md``, claim 4. Source: Gopi et al. (2020), with discrete noise.

    >>> [GaussianThresholdCounts(epsilon=1.0, delta=1e-6, max_values_per_unit=most).threshold for most in (1, 10, 100)]
    [25, 81, 270]
    >>> released = GaussianThresholdCounts(epsilon=1.0, delta=1e-6, max_values_per_unit=10).draw([1000, 0, 3000])
    >>> released.positions.tolist(), bool(abs(released.counts - [1000, 3000]).max() < 200)
    ([0, 2], True)
    """

    noise: DiscreteGaussianMechanism = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        NoisyThreshold.__post_init__(self)
        moved, half = moved_counts(self.max_values_per_unit, self.neighbours), self.delta / 2.0
        if 2.0 * half > self.delta or half == 0.0:  # beside the smallest doubles halves are rounded
            raise InvalidParameterError("delta", self.delta, "a number large enough to be halved")
        _, share = divided(self.epsilon, half, moved)
        noise = DiscreteGaussianMechanism(
            epsilon=self.epsilon, delta=half, squared_sensitivity=moved, neighbours=self.neighbours
        )
        self._set_threshold(1 + noise.first_noise(share))
        self._set(noise=noise)

    def probability(self, count: int) -> float:
        """See `NoisyThreshold.probability`."""
        if whole_number(count, "count") <= 0:
            return 0.0
        reach = 40 * int(self.noise.scale + 1.0)
        missing = max(self.threshold - count, -reach)
        least = missing if missing > 0 else 1 - missing
        beyond = float(self.noise.pmf(0, least + np.arange(reach)).sum())
        return beyond if missing > 0 else 1.0 - beyond

    def count_needed(self, chance: float) -> int:
        """See `NoisyThreshold.count_needed`. By a verified bound, and so a few percent too large.

        For a `chance` of one half or less it is the threshold, the smallest number for one half.
        """
        least = Fraction(probability(chance, "chance"))
        if least <= Fraction(1, 2):
            return self.threshold
        return self.threshold - 1 + self.noise.first_noise(1 - least)

    def count_error(self, confidence: float) -> int:
        """See `NoisyThreshold.count_error`."""
        return self.noise.error_bound(confidence)

    def _noisy(self, counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return self.noise.draw_many(counts)
