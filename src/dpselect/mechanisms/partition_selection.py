"""Values that nobody listed: named by exact coins of the best probabilities, or drawn until a stop candidate."""

from __future__ import annotations

import abc
import math
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from dpselect._native import _core
from dpselect.accounting import ApproximateEvent, calibrate_rounds
from dpselect.checks import fraction_down, positive_count, probability, whole_number
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms.exponential import ExponentialMechanism
from dpselect.mechanisms.mechanism import MechanismValue
from dpselect.mechanisms.noise import whole_values
from dpselect.mechanisms.numbers import (
    LARGEST_COUNT,
    Enclosed,
    IntArray,
    exp_minus,
    exp_minus_in_digits,
    first_count,
    heads,
    log_in_digits,
    uniform_subset,
)
from dpselect.mechanisms.scores import ScoresLike
from dpselect.privacy import Neighbours

_GUARD_BITS = 64
MOST_ANSWERS = 10_000_000


def divided(epsilon: float, delta: float, values: int) -> tuple[Fraction, Fraction]:
    """What each of `values` values may cost, so that all together cost `epsilon` and `delta`.

    The delta of one is 1 - (1 - delta)^(1/values), rounded down to a double: ``proofs/partition_selection.md``, claim
    2.
    """
    if values == 1:
        return Fraction(epsilon), Fraction(delta)
    digits = 40 + len(str(values)) - math.floor(math.log10(delta))
    _, kept = log_in_digits(1 - Fraction(delta), digits)
    share = fraction_down(1 - exp_minus_in_digits(-kept / values, digits)[1])
    if share == 0.0:
        hint = "Each of the values of a unit gets a part of it."
        raise InvalidParameterError("delta", delta, "a number large enough to be divided", hint)
    return Fraction(epsilon) / values, Fraction(share)


def _bits_below_one(number: Fraction) -> int:
    """About how many binary digits of a number are zero before its first one."""
    return max(0, number.denominator.bit_length() - number.numerator.bit_length() + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlistedValues(MechanismValue, abc.ABC):
    """What releases values that nobody listed, of which a unit has up to `max_values_per_unit`, at a delta."""

    costs = ApproximateEvent

    epsilon: float
    delta: float
    max_values_per_unit: int = 1
    neighbours: Neighbours = Neighbours.ADD_REMOVE

    def __post_init__(self) -> None:
        MechanismValue.__post_init__(self)
        hint = "Without public candidates nothing can be released at delta = 0. Choose it far below one over the units."
        try:
            self._set(delta=probability(self.delta, "delta"))
        except InvalidParameterError as refused:
            raise InvalidParameterError("delta", self.delta, refused.expected, hint) from None

    @property
    def moved(self) -> int:
        """How many counts one unit may change, each by 1."""
        return self.neighbours.changed(self.max_values_per_unit)

    @abc.abstractmethod
    def probability(self, count: int) -> float:
        """The probability that a value of `count` units is released, up to rounding. For planning."""

    @abc.abstractmethod
    def count_needed(self, chance: float) -> int:
        """The smallest number of units at which a value is released with at least the probability `chance`.

        It may be published. At most 2^63 - 1; where no precision decides, the next larger number.
        """

    @abc.abstractmethod
    def select(self, counts: ScoresLike) -> IntArray:
        """Draw positions of the values that may be named, at the cost of `epsilon` and `delta` for all together.

        In increasing order, unless values are drawn one after another. Nothing is drawn if `counts` is refused.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionSelection(UnlistedValues):
    r"""Names each value with a probability that depends only on its number n of units; no such rule names more.

    With :math:`\pi(0) = 0` and one value per unit, a value of n + 1 units is named with probability

    .. math:: \pi(n+1) = \min(e^\varepsilon \pi(n) + \delta, 1 - e^{-\varepsilon}(1 - \pi(n) - \delta), 1),

    the largest that :math:`(\varepsilon, \delta)`-differential privacy allows, by exact coins. If a unit has up to t
    values, epsilon is divided by t, and delta is replaced by :math:`1 - (1 - \delta)^{1/t}`, rounded down to a double.
    A replaced unit changes twice as many numbers, so t is then twice `max_values_per_unit`.

    Proof: ``proofs/partition_selection.md``. Source: Desfontaines, Voss, Gipson & Mandayam (2022).

    >>> mechanism = PartitionSelection(epsilon=1.0, delta=1e-6)
    >>> mechanism.count_needed(0.5), mechanism.select([1000, 0, 200]).tolist()
    (14, [0, 2])
    """

    _share: tuple[Fraction, Fraction] = field(init=False, repr=False, compare=False)  # what each value may cost
    _turn: int = field(init=False, repr=False, compare=False)  # n1 of the proof, at most `LARGEST_COUNT`

    def __post_init__(self) -> None:
        UnlistedValues.__post_init__(self)
        self._set(_share=divided(self.epsilon, self.delta, self.moved))
        self._set(_turn=first_count(self._is_turned))

    def probability(self, count: int) -> float:
        if whole_number(count, "count") == 0:
            return 0.0
        bits = 2 * _GUARD_BITS + _bits_below_one(self._share[1])  # so that every chance has all digits of a double
        low, high = self._bounds(positive_count(count, "count"), bits)
        return float(Fraction(low + high, 2 << bits))

    def count_needed(self, chance: float) -> int:
        least = Fraction(probability(chance, "chance"))  # exactly equal to the delta of a value, it needs one unit
        bits = _GUARD_BITS + sum(map(_bits_below_one, (*self._share, least)))
        return first_count(lambda count: self._enclosed(count, bits)[0] >= least)

    def _bounds(self, count: int, bits: int) -> tuple[int, int]:
        """Whole numbers low and high with ``low/2^bits <= pi(count) <= high/2^bits``, hardly ever more than 1 apart."""
        low, high = self._enclosed(count, bits + _GUARD_BITS)
        return max(0, math.floor(low * (1 << bits))), min(1 << bits, math.ceil(high * (1 << bits)))

    def _enclosed(self, count: int, bits: int) -> Enclosed:
        """pi(count), up to 2^-bits."""
        if count <= 1:
            exact = self._share[1] * count
            return exact, exact
        with self._precise(bits):
            delta, one, up_to, kept = self._decimals(bits, 1, min(count, self._turn), max(count - self._turn, 0))
            reached = delta * one * (1 - up_to) / (up_to * (1 - one))
            left = Fraction(kept * (1 - reached) - delta * one / (1 - one) * (1 - kept))
        error = Fraction(1, 1 << bits)
        return 1 - max(Fraction(0), left + error), 1 - max(Fraction(0), left - error)

    def _is_turned(self, count: int) -> bool:
        """Whether E^count is above the limit. They are never equal, because E is transcendental."""
        bits = _GUARD_BITS
        while True:
            with self._precise(bits):
                delta, one, power = self._decimals(bits, 1, count)
                share = Fraction(power * (1 + (1 / delta - 1) * (1 - one) / (1 + one)))
            if abs(share - 1) > Fraction(1, 1 << bits):
                return share < 1
            bits *= 2

    def _precise(self, bits: int) -> AbstractContextManager[object]:
        """In so many digits what is computed here is off by less than 2^-bits, relatively if it is above 1: claim 4."""
        digits = (bits + 2 * _bits_below_one(self._share[0])) // 3 + 20
        return localcontext(Context(digits, Emin=MIN_EMIN, Emax=MAX_EMAX))

    def _decimals(self, bits: int, *counts: int) -> list[Decimal]:
        """delta, and of each count E^-count, or e^-(bits + 2000) if that is larger."""
        epsilon, delta = self._share
        exponents = (min(count * epsilon, Fraction(bits + 2000)) for count in counts)
        powers = [(-Decimal(each.numerator) / each.denominator).exp() for each in exponents]
        return [Decimal(delta.numerator) / delta.denominator, *powers]

    def select(self, counts: ScoresLike) -> IntArray:
        numbers = whole_values(counts)
        distinct, sizes = np.unique(numbers, return_counts=True)
        by_count = np.split(np.argsort(numbers, kind="stable"), np.cumsum(sizes)[:-1])
        named = [np.empty(0, np.int64)]
        for count, places in zip(distinct.tolist(), by_count[: distinct.size], strict=True):
            bounds = partial(self._bounds, max(count, 0))
            named.append(places[uniform_subset(places.size, heads(bounds, places.size))])
        return np.sort(np.concatenate(named))


_FEW = 2  # up to so many rounds, none of delta is spent on their composition: it would gain less than it takes


@dataclass(frozen=True, slots=True, kw_only=True)
class StopCandidate(UnlistedValues):
    r"""Draws up to `k` values, the most common first, among those that occur and a candidate that ends the answer.

    Each round draws by the exponential mechanism: a value of c units has the weight :math:`e^{c/b}`, the stop candidate
    :math:`e^{1/b} m/\delta_1`, where m is `max_values_per_unit`. So any of the m values that only one unit has is drawn
    before it with probability :math:`\delta_1` at most. How many units a value needs grows with k and only with the
    logarithm of m. For up to two values :math:`\delta_1` is delta; for more, half of it is left to compose the rounds.

    Args:
        k: the largest number of values, at most 10,000,000.

    Proof: ``proofs/stop_candidate.md``. Source: Durfee & Rogers (2019), with other constants.

    >>> StopCandidate(k=3, epsilon=1.0, delta=1e-6, max_values_per_unit=1000).select([1000, 0, 3000]).tolist()
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
        is_monotonic = self.neighbours is Neighbours.ADD_REMOVE
        common: dict[str, Any] = {"sensitivity": 1.0, "monotonic": is_monotonic, "neighbours": self.neighbours}
        self._set(rounds=ExponentialMechanism(epsilon=each, **common))

    def probability(self, count: int) -> float:
        """That of being drawn before "stop"; others may be the first k."""
        if whole_number(count, "count") <= 0:
            return 0.0
        gained = min(count - 1, 2**62) * float(self.rounds.rate)
        odds = math.log(self.max_values_per_unit) - math.log(self.stop_delta) - gained
        return 1.0 / (1.0 + math.exp(odds)) if odds < 700.0 else 0.0

    def count_needed(self, chance: float) -> int:
        least = Fraction(probability(chance, "chance"))
        allowed = (1 - least) * Fraction(self.stop_delta) / (least * self.max_values_per_unit)
        if allowed >= 1:
            return 1
        more = first_count(lambda n: exp_minus(n * self.rounds.rate)[1] <= allowed)
        return min(more + 1, LARGEST_COUNT)

    def select(self, counts: ScoresLike) -> IntArray:
        """Draw up to `k` values, in the order of the positions returned: fewer if "stop" was drawn."""
        numbers = whole_values(counts)
        (occurring,) = np.nonzero(numbers > 0)
        # As claim 2 of the proof has it: "stop" is the last candidate, and all weights are doubles.
        weights = np.append(np.full(occurring.size, self.stop_delta), float(self.max_values_per_unit))
        sampler = _core.WeightedSampler(self.rounds.epsilon, 1.0, 1 if self.rounds.monotonic else 2, weights)
        order = sampler.peel(np.append(numbers[occurring], 1), min(self.k, weights.size))
        return occurring[order[: np.argmax(order == occurring.size)] if occurring.size in order else order]
