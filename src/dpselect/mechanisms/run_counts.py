"""How many runs: a secret number, drawn exactly from a public distribution."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, cast

from dpselect.accounting.events import expected_runs
from dpselect.checks import one_of
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms.numbers import Enclosed, exp_minus_in_digits, heads, log_in_digits

LawName = Literal["geometric", "logarithmic", "negative_binomial"]

_MOST_RUNS = 10**6  # expected at most
_MORE_DIGITS = 62  # decimal digits beside a third of the binary ones: beyond those that differences lose
_FIRST_DIGITS = 192  # binary digits of the probabilities that all but one in 2^60 coins are decided by


@dataclass(frozen=True, slots=True)
class RunCount:
    """The number K of runs. Proof: ``proofs/private_candidates.md``, claim 5."""

    ratio: Callable[[int], tuple[int, int]]
    """Of the probabilities of k + 1 and k: two whole numbers, exactly, perhaps with a common factor."""
    start: Callable[[int], Enclosed]
    """Bounds on the probability of one run, closer the more binary digits are asked for."""

    def draw(self, *, at_most: int | None = None) -> int | None:
        """K: the first of coins of probability ``P(K = k | K >= k)`` to show heads; None if it is above `at_most`."""
        low, _ = self.start(_FIRST_DIGITS)
        walk = _Walk(self, _FIRST_DIGITS + max(0, low.denominator.bit_length() - low.numerator.bit_length()))
        while at_most is None or walk.count <= at_most:
            if heads(walk.bounds, 1):
                return walk.count
            walk.step()
        return None


class _Walk:
    """Bounds on the chance of each number, one after another, in whole numbers of 2^-digits."""

    def __init__(self, law: RunCount, digits: int) -> None:
        self._law, self._digits, self.count = law, digits, 1
        one = 1 << digits
        low, high = law.start(digits)
        self._mass = math.floor(low * one), min(one, math.ceil(high * one))
        self._before = 0, 0

    def step(self) -> None:
        (above, below), mass, before = self._law.ratio(self.count), self._mass, self._before
        self._before = before[0] + mass[0], before[1] + mass[1]
        self._mass = mass[0] * above // below, -(-mass[1] * above // below)
        self.count += 1

    def bounds(self, digits: int) -> tuple[int, int]:
        """Of the chance that it is this number if no smaller one, in whole numbers of 2^-digits."""
        if digits + 64 > self._digits and digits > 60:
            finer = _Walk(self._law, 2 * digits + self._digits)
            while finer.count < self.count:
                finer.step()
            self._mass, self._before, self._digits = finer._mass, finer._before, finer._digits
        one = 1 << self._digits
        # The chance grows with the number's own mass, and with the mass before it.
        low = (self._mass[0] << digits) // (one - self._before[0])
        left = one - self._before[1]
        return low, max(low, -(-(self._mass[1] << digits) // left) if left > 0 else 1 << digits)


def negative_binomial(eta: float, gamma: float) -> RunCount:
    """Truncated at 1; `eta` 0 is logarithmic, 1 geometric.

    >>> Fraction(*negative_binomial(1.0, 0.25).ratio(1))
    Fraction(3, 4)
    """
    shape, stop = Fraction(eta), Fraction(gamma)

    @functools.cache
    def start(digits: int) -> Enclosed:
        if shape == 1:
            return stop, stop
        high, low = (-each for each in log_in_digits(stop, digits // 3 + _MORE_DIGITS))
        if shape == 0:
            return (1 - stop) / high, (1 - stop) / low
        ends = (shape * low, shape * high)
        grown = [exp_minus_in_digits(-end, digits // 3 + _MORE_DIGITS) for end in (min(ends), max(ends))]
        found = [shape * (1 - stop) / (each - 1) for each in (grown[0][0], grown[1][1])]
        return min(found), max(found)

    (above, below), (more, of) = (1 - stop).as_integer_ratio(), shape.as_integer_ratio()
    return RunCount(ratio=lambda k: (above * (k * of + more), below * of * (k + 1)), start=start)


def gamma_for(expected: float, eta: float) -> float:
    """The gamma at which about so many runs are expected: a multiple of 2^-60.

    >>> gamma_for(4.0, 1.0), round(expected_runs(0.0, gamma_for(10.0, 0.0)), 6)
    (0.25, 10.0)
    """
    low, high = 2.0**-50, 1.0 - 2.0**-50
    if not 1.0 < expected <= _MOST_RUNS or expected_runs(eta, low) < expected:
        reachable = f"a number above 1, at most {_MOST_RUNS:,}"
        raise InvalidParameterError("expected_runs", expected, reachable, "A law without an end is refused.")
    if eta == 1.0:
        return round(2.0**60 / expected) / 2.0**60
    for _ in range(200):
        middle = math.sqrt(low * high) if high < 0.1 else low + (high - low) / 2.0
        low, high = (middle, high) if expected_runs(eta, middle) > expected else (low, middle)
    return round(high * 2.0**60) / 2.0**60


def law_named(law: object, eta: object) -> tuple[LawName, float]:
    """The name, and the shape that goes with it."""
    shapes: dict[LawName, float] = {"geometric": 1.0, "logarithmic": 0.0, "negative_binomial": 0.5}
    name = cast(LawName, one_of(law, "law", shapes))
    if eta is not None and name != "negative_binomial":
        raise InvalidParameterError("eta", eta, "none, except with law='negative_binomial'")
    return name, shapes[name]
