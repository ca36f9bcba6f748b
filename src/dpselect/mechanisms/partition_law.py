r"""The probabilities of optimal partition selection, enclosed by rational numbers; no float takes part in a decision.

With :math:`E = e^\varepsilon`, :math:`\pi(0) = 0` and

.. math:: \pi(n+1) = \min(E \pi(n) + \delta, 1 - E^{-1}(1 - \pi(n) - \delta), 1)

the first branch is the smaller one up to n1, the smallest n with :math:`E^n > 1 + (1/\delta - 1)(E - 1)/(E + 1)`:

.. math::
    \pi(n) = \delta \frac{E^n - 1}{E - 1} \quad (n \le n_1), \qquad
    1 - \pi(n_1 + m) = \max\left(0, E^{-m}(1 - \pi(n_1)) - \delta \frac{1 - E^{-m}}{E - 1}\right).

Proof: ``proofs/partition_selection.md``, claim 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

LARGEST_COUNT = 2**63 - 1

Enclosed = tuple[Fraction, Fraction]
"""A lower and an upper bound of a real number."""

_GUARD_BITS = 64


@dataclass(frozen=True, slots=True)
class PartitionLaw:
    """The probability that a value is named, by its number of units.

    Attributes:
        epsilon: of one value, > 0.
        delta: of one value, strictly between 0 and 1.
        turn: n1 above; `LARGEST_COUNT` if it is larger.
    """

    epsilon: Fraction
    delta: Fraction
    turn: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "turn", first_count(self._is_turned, self._is_about_turned))

    def bounds(self, count: int, bits: int) -> tuple[int, int]:
        """Whole numbers low and high with ``low/2^bits <= pi(count) <= high/2^bits``, hardly ever more than 1 apart."""
        low, high = self._enclosed(count, bits + _GUARD_BITS)
        return max(0, math.floor(low * (1 << bits))), min(1 << bits, math.ceil(high * (1 << bits)))

    @property
    def precise_bits(self) -> int:
        """Binary digits by which every probability above 0 has all digits of a double."""
        return 2 * _GUARD_BITS + _bits_below_one(self.delta)

    def first_reaching(self, chance: Fraction) -> int:
        """The smallest count whose probability `reaches` `chance`; at most `LARGEST_COUNT`."""
        missing = float(1 - chance)
        return first_count(lambda count: self.reaches(count, chance), lambda count: self._about(count) <= missing)

    def reaches(self, count: int, chance: Fraction) -> bool:
        """Whether pi(count) is at least `chance`; if that cannot be decided, because they are nearly equal, it is not.

        True for `count` = 1 and `chance` = delta, where both are exactly equal.
        """
        return self._enclosed(count, _GUARD_BITS)[0] >= chance

    def _enclosed(self, count: int, bits: int) -> Enclosed:
        """pi(count), up to about 2^-bits."""
        if count <= 1:
            exact = self.delta * count
            return exact, exact
        precise = bits + _bits_below_one(self.epsilon) + _bits_below_one(self.delta)
        at_turn = self._up_to_turn(min(count, self.turn), precise)
        if count <= self.turn:
            return at_turn
        left_low, left_high = 1 - at_turn[1], 1 - at_turn[0]
        kept_low, kept_high = exp_minus((count - self.turn) * self.epsilon, precise)
        one_low, one_high = exp_minus(self.epsilon, precise)
        lost_low, lost_high = self.delta * one_low / (1 - one_low), self.delta * one_high / (1 - one_high)
        low = kept_low * left_low - lost_high * (1 - kept_low)
        high = kept_high * left_high - lost_low * (1 - kept_high)
        return 1 - max(Fraction(0), high), 1 - max(Fraction(0), low)

    def _up_to_turn(self, count: int, bits: int) -> Enclosed:
        if count == 1:
            return self.delta, self.delta
        one_low, one_high = exp_minus(self.epsilon, bits)
        low, high = exp_minus(count * self.epsilon, bits)
        before_low, before_high = exp_minus((count - 1) * self.epsilon, bits)
        smallest = self.delta * (1 - high) / (before_high * (1 - one_low))
        largest = self.delta * (1 - low) / (before_low * (1 - one_high))
        return smallest, min(largest, Fraction(1))

    def _about(self, count: int) -> float:
        """About 1 - pi(count), in doubles: says only where to look first."""
        rate, delta = float(self.epsilon), float(self.delta)
        if rate == 0.0 or delta == 0.0:
            return 1.0
        until = float(min(count, self.turn)) * rate
        above = until - rate + math.log(-math.expm1(-until)) - math.log(-math.expm1(-rate))
        left = 1.0 - math.exp(min(0.0, math.log(delta) + above))
        if count <= self.turn:
            return left
        kept = math.exp(-float(count - self.turn) * rate)
        return max(0.0, kept * left - (delta * (1.0 - kept) / math.expm1(rate) if rate < 700.0 else 0.0))

    def _is_about_turned(self, count: int) -> bool:
        """The same as `_is_turned` in doubles: says only where to look first."""
        rate = float(self.epsilon)
        return count * rate > math.log1p(math.exp(min(-log_of(self.delta), 700.0)) * math.tanh(rate / 2.0))

    def _is_turned(self, count: int) -> bool:
        """Whether E^count is above the limit. They are never equal, because E is transcendental."""
        bits = _GUARD_BITS + _bits_below_one(self.epsilon) + _bits_below_one(self.delta)
        while True:
            one_low, one_high = exp_minus(self.epsilon, bits)
            low, high = exp_minus(count * self.epsilon, bits)
            odds = 1 / self.delta - 1
            if high * (1 + odds * (1 - one_low) / (1 + one_low)) < 1:
                return True
            if low * (1 + odds * (1 - one_high) / (1 + one_high)) >= 1:
                return False
            bits *= 2


def first_count(holds: Callable[[int], bool], roughly: Callable[[int], bool] | None = None) -> int:
    """The smallest count >= 1 for which something `holds` that then holds for all larger ones; at most `LARGEST_COUNT`.

    Args:
        holds: asked about few counts; it alone decides.
        roughly: nearly the same, and much cheaper: where it changes, `holds` is asked first.

    >>> first_count(lambda count: count * count > 50)
    8
    >>> first_count(lambda count: count * count > 50, lambda count: count > 1000)
    8
    """
    start = 1 if roughly is None else first_count(roughly)
    distance = 1
    if start == LARGEST_COUNT or holds(start):
        under, over = start - distance, start
        while under > 0 and holds(under):
            distance *= 2
            under, over = under - distance, under
        under = max(under, 0)
    else:
        under, over = start, start + distance
        while over < LARGEST_COUNT and not holds(over):
            distance *= 2
            under, over = over, over + distance
        over = min(over, LARGEST_COUNT)
    while over - under > 1:
        middle = (over + under) // 2
        under, over = (under, middle) if holds(middle) else (middle, over)
    return over


def log_of(number: Fraction) -> float:
    """The natural logarithm of a number > 0, also of one that no double can hold, up to rounding.

    >>> round(log_of(Fraction(1, 10**400)) / math.log(10), 6)
    -400.0
    """
    return math.log(number.numerator) - math.log(number.denominator)


def compared(enclosed: Callable[[int], Enclosed], number: Fraction, *, few: int, most: int) -> int:
    """-1 if a real number is surely at most `number`, 1 if it is surely at least as large, 0 if that cannot be told.

    Args:
        enclosed: encloses the real number up to about 2^-bits.
        number: what it is compared with.
        few: binary digits that nearly always tell.
        most: binary digits that decide where they do not.

    >>> compared(lambda bits: exp_minus(Fraction(1), bits), Fraction(368, 1000), few=4, most=60)
    -1
    """
    for bits in (min(few, most), most):
        low, high = enclosed(bits)
        if high <= number:
            return -1
        if low >= number:
            return 1
    return 0


def exp_minus(exponent: Fraction, bits: int) -> Enclosed:
    """e^-exponent for an exponent > 0, enclosed up to about 2^-bits: from 0 to below 1, the upper bound above 0.

    ``Decimal.exp`` is correctly rounded, so its neighbours enclose the true number.

    >>> low, high = exp_minus(Fraction(1), 60)
    >>> float(low) == float(high) == 0.36787944117144233
    True
    """
    unit = Fraction(1, 1 << bits)
    if exponent >= bits:  # e^-bits < 2^-bits
        return Fraction(0), unit
    low, high = exp_minus_in_digits(exponent, bits // 3 + 10)
    return low, min(high, 1 - unit * Fraction(1, 2**64))


def exp_minus_in_digits(exponent: Fraction, digits: int) -> Enclosed:
    """The same, in proportion: with so many digits, less those of the exponent before its point."""
    down, up = (Context(digits, each, Emin=MIN_EMIN, Emax=MAX_EMAX) for each in (ROUND_FLOOR, ROUND_CEILING))
    over, under = Decimal(exponent.numerator), Decimal(exponent.denominator)
    low = down.next_minus(down.exp(down.minus(up.divide(over, under))))
    high = up.next_plus(up.exp(up.minus(down.divide(over, under))))
    return max(Fraction(low), Fraction(0)), Fraction(high)


def shares(epsilon: float, delta: float, values: int) -> tuple[Fraction, float]:
    """What each of `values` values may cost, so that all together cost `epsilon` and `delta`.

    The delta of one is 1 - (1 - delta)^(1/values), rounded down to a double; 0 if that is too small for a double.

    Proof: ``proofs/partition_selection.md``, claim 2.

    >>> shares(1.0, 0.19, 2)
    (Fraction(1, 2), 0.09999999999999999)
    >>> shares(1.0, 1e-6, 1)
    (Fraction(1, 1), 1e-06)
    """
    if values == 1:
        return Fraction(epsilon), delta
    share = -math.expm1(math.log1p(-delta) / values) * (1.0 + 2.0**-50)
    while share > 0.0 and not _suffices(Fraction(share), Fraction(delta), values):
        share = math.nextafter(share, 0.0)
    return Fraction(epsilon) / values, share


def _suffices(share: Fraction, delta: Fraction, values: int) -> bool:
    """Whether (1 - share)^values >= 1 - delta, by a power that is rounded down at each step."""
    bits = _GUARD_BITS + 64 + _bits_below_one(delta) + values.bit_length()
    power, factor, left = 1 << bits, math.floor((1 - share) * (1 << bits)), values
    while left:
        if left & 1:
            power = power * factor >> bits
        factor = factor * factor >> bits
        left >>= 1
    return power >= (1 - delta) * (1 << bits)


def _bits_below_one(number: Fraction) -> int:
    """About how many binary digits a number below 1 has before its first one."""
    return max(0, number.denominator.bit_length() - number.numerator.bit_length() + 1)
