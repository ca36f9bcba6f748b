"""The most common values without a list of them: drawn one after another, until a candidate that means "stop"."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from dpselect.accounting import calibrate_rounds
from dpselect.accounting.rounding import fraction_down
from dpselect.checks import positive_count, probability, whole_number
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms.exponential import ExponentialMechanism
from dpselect.mechanisms.noise import whole_values
from dpselect.mechanisms.numbers import (
    LARGEST_COUNT,
    IntArray,
    exp_minus,
    exp_minus_at_most,
    first_count,
    heads,
    log_of,
)
from dpselect.mechanisms.partition_selection import UnlistedValues
from dpselect.mechanisms.scores import ScoresLike
from dpselect.privacy import Neighbours

MOST_ANSWERS = 10_000_000
"""More than this many values are refused."""

_FEW = 2  # up to so many rounds, none of delta is spent on their composition: it would gain less than it takes
_GUARD_BITS = 64

_ABOVE_LN_2 = Fraction(7, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class StopCandidate(UnlistedValues):
    r"""Draws up to `k` values, the most common first, among those that occur and a candidate that ends the answer.

    Each round draws by the exponential mechanism: a value of c units has the weight :math:`e^{c/b}`. The stop candidate
    has the weight :math:`e^{1/b} m/\delta_1`, where m is `max_values_per_unit`. So a value that only one unit has is
    drawn before it with probability :math:`\delta_1/m` at most, and the m values of one unit together with
    :math:`\delta_1`. How many units a value needs grows with k and only with the logarithm of m. There are no counts.

    For up to two values, delta is :math:`\delta_1`. For more, half of it is, and the rounds are composed with the rest.

    Args:
        k: the largest number of values, at most 10,000,000.

    Proof: ``proofs/stop_candidate.md``. Source: Durfee & Rogers (2019), with other constants.

    >>> mechanism = StopCandidate(k=3, epsilon=1.0, delta=1e-6, max_values_per_unit=1000)
    >>> mechanism.count_needed(0.5)
    63
    >>> mechanism.select([1000, 0, 3000]).tolist()
    [2, 0]
    """

    k: int
    stop_delta: float = field(init=False, compare=False)
    rounds: ExponentialMechanism = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        UnlistedValues.__post_init__(self)
        self._set(k=positive_count(self.k, "k", at_most=MOST_ANSWERS))
        stopping = self.delta if self.k <= _FEW else self.delta / 2.0 or self.delta
        self._set(stop_delta=stopping)
        left = fraction_down(Fraction(self.epsilon) - self.k * Fraction(stopping))
        if not left > 0.0:
            raise InvalidParameterError("epsilon", self.epsilon, f"more than k={self.k} times a part of delta")
        each = calibrate_rounds(epsilon=left, delta=self.delta - stopping, count=self.k)
        rounds = ExponentialMechanism(
            epsilon=each,
            sensitivity=1.0,
            monotonic=self.neighbours is Neighbours.ADD_REMOVE,
            neighbours=self.neighbours,
        )
        self._set(rounds=rounds)

    def probability(self, count: int) -> float:
        """See `UnlistedValues.probability`: that it is drawn before "stop" would be; others may be the first k."""
        if whole_number(count, "count") <= 0:
            return 0.0
        gained = min(count - 1, 2**62) * float(self._rate)
        odds = math.log(self.max_values_per_unit) - math.log(self.stop_delta) - gained
        return 1.0 / (1.0 + math.exp(odds)) if odds < 700.0 else 0.0

    def count_needed(self, chance: float) -> int:
        least = Fraction(probability(chance, "chance"))
        allowed = (1 - least) / (least * self._base)
        if allowed >= 1:
            return 1
        rate, distance = self._rate, -log_of(allowed)
        more = first_count(lambda n: exp_minus_at_most(n * rate) <= allowed, lambda n: n * float(rate) >= distance)
        return min(more + 1, LARGEST_COUNT)

    def select(self, counts: ScoresLike) -> IntArray:
        """Draw up to `k` values: see `UnlistedValues.select`.

        Returns:
            Different positions, in the order they were drawn; fewer than `k` if "stop" was drawn.

        Proof that the draw is exact: ``proofs/stop_candidate.md``, claim 3.
        """
        numbers = whole_values(counts)
        (occurring,) = np.nonzero(numbers > 0)
        if not occurring.size:
            return occurring
        left = numbers[occurring]
        order = self.rounds.peel(left, min(self.k, left.size))
        against = _Weights(left, rate=self._rate, base=self._base)
        for place, count in enumerate(left[order].tolist()):
            if heads(against.stop, 1):
                return occurring[order[:place]]
            against.take(count)
        return occurring[order]

    @property
    def _rate(self) -> Fraction:
        """1/b."""
        return Fraction(self.rounds.epsilon) / (1 if self.rounds.monotonic else 2)

    @property
    def _base(self) -> Fraction:
        """The weight of "stop" for each of a value that one unit has."""
        return self.max_values_per_unit / Fraction(self.stop_delta)


class _Weights:
    """The values that are left, weighed against "stop": their weights are :math:`e^{(c - 1)/b}`, and its is `base`.

    Weights that hide "stop" up to the digits in question are only counted; the others are enclosed by whole numbers of
    a small unit, so that their sums are exact when values are taken out.
    """

    def __init__(self, counts: IntArray, *, rate: Fraction, base: Fraction) -> None:
        self._distinct, self._left = np.unique(counts, return_counts=True)
        self._rate, self._base = rate, base
        self._base_bits = math.ceil(base).bit_length()
        self._sums: dict[int, tuple[int, int, int]] = {}

    def stop(self, bits: int) -> tuple[int, int]:
        """Whole numbers low and high with ``low <= 2^bits p <= high``, p the probability that "stop" is drawn next."""
        if bits not in self._sums:
            self._sums[bits] = self._summed(bits)
        hiding, low, high = self._sums[bits]
        if hiding:
            return 0, 1
        top, bottom = (self._base * (1 << (bits + _GUARD_BITS))).as_integer_ratio()
        scaled = top << bits
        return scaled // (top + bottom * high), -(-scaled // (top + bottom * low))

    def take(self, count: int) -> None:
        """Take out a value of so many units."""
        self._left[np.searchsorted(self._distinct, count)] -= 1
        for bits, (hiding, low, high) in self._sums.items():
            if count >= self._first_hiding(bits):
                self._sums[bits] = hiding - 1, low, high
            else:
                below, above = self._weighed(count, bits)
                self._sums[bits] = hiding, low - below, high - above

    def _summed(self, bits: int) -> tuple[int, int, int]:
        """How many weights hide "stop", and bounds of the sum of the others."""
        split = int(np.searchsorted(self._distinct, min(self._first_hiding(bits), LARGEST_COUNT)))
        low = high = 0
        for count, number in zip(self._distinct[:split].tolist(), self._left[:split].tolist(), strict=True):
            if number:
                below, above = self._weighed(count, bits)
                low, high = low + number * below, high + number * above
        return int(self._left[split:].sum()), low, high

    def _first_hiding(self, bits: int) -> int:
        """From this count on, a weight is at least 2^bits times that of "stop"."""
        return 1 + math.ceil((bits + self._base_bits) * _ABOVE_LN_2 / self._rate)

    def _weighed(self, count: int, bits: int) -> tuple[int, int]:
        """Bounds of a weight that does not hide "stop"."""
        unit = 1 << (bits + _GUARD_BITS)
        if count == 1:
            return unit, unit
        low, high = exp_minus((count - 1) * self._rate, 3 * (bits + self._base_bits) + _GUARD_BITS)
        return unit * high.denominator // high.numerator, -(-unit * low.denominator // low.numerator)
