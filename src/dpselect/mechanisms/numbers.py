"""Numbers of mechanisms: exact ones as the core reads them, rules of integration, and exact coins."""

from __future__ import annotations

import functools
import math
from bisect import bisect_left
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cache, lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent
from dpselect.checks import exact_number
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown
from dpselect.grids import Grid

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@lru_cache(maxsize=256)  # a draw with a gap asks for it each time
def scale_of(epsilon: float, sensitivity: float, *, factor: int) -> float:
    """``factor * sensitivity / epsilon``; infinite or 0 if a double cannot hold it."""
    try:
        return float(factor * Fraction(sensitivity) / Fraction(epsilon))
    except OverflowError:
        return math.inf


def native_grid(grid: Grid) -> _core.Grid:
    """The same points."""
    below = math.lcm(grid.lower.denominator, grid.step.denominator)
    start, step = native_whole(int(grid.lower * below), signed=True), native_whole(int(grid.step * below))
    return _core.Grid(start, step, native_whole(below), grid.count)


def native_whole(number: int, *, signed: bool = False) -> bytes:
    """A whole number as the core reads it."""
    return number.to_bytes(number.bit_length() // 8 + 1, "little", signed=signed)


def native_fraction(number: Fraction) -> tuple[bytes, bytes]:
    """Numerator in two's complement and denominator, as the core reads them."""
    return native_whole(number.numerator, signed=True), native_whole(number.denominator)


def exact_value(
    value: object, error: type[InvalidParameterError] = InvalidDataError, *, name: str = "value", hint: str = ""
) -> Fraction:
    """A number of the data, exactly; or an error that does not show it, nor holds one that does."""
    with suppress(InvalidParameterError):
        return exact_number(value, name)
    got = Shown("<not a finite number, or one beyond all doubles>")
    raise error(name, got, "a finite number, below 2^1024 in size", hint)


def shortest(number: Fraction) -> float | Fraction:
    """The float that is written like this decimal, if there is one."""
    return float(number) if Fraction(repr(float(number))) == number else number


@dataclass(frozen=True, slots=True)
class Rule:
    """``sum(weights * f(nodes))`` is the integral of f over [0, 1], exactly for polynomials of degree ``2 K - 1``."""

    nodes: FloatArray
    weights: FloatArray

    def between(self, edges: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The nodes and weights of all panels between neighbouring edges."""
        width = np.diff(edges)[:, np.newaxis]
        return (edges[:-1, np.newaxis] + width * self.nodes).ravel(), (width * self.weights).ravel()


@cache
def gauss_legendre(count: int) -> Rule:
    """The rule of `count` nodes; of at most 24 each weight is right to 12 digits."""
    nodes, weights = np.polynomial.legendre.leggauss(count)  # not loaded with NumPy: draws need none
    rule = Rule((1.0 + nodes) / 2.0, weights / 2.0)
    rule.nodes.flags.writeable = rule.weights.flags.writeable = False
    return rule


Curve = Callable[[float, float], float]
"""Takes theta and n, which need not be whole for the exponential law, and returns a probability."""

_MARGIN = 1.0 + 2.0**-40  # on a probability: far above the rounding of the curves, and far too small to matter


@dataclass(frozen=True, slots=True)
class Law:
    """How the winner is distributed, given the scaled gaps ``(s* - s_i)/b``; its name is that of the compiled core.

    Its worst scores are one best and n - 1 others, all theta scales below it: no others make an error of theta more
    likely (``proofs/error_bounds.md``). That the best loses, or wins, has a small relative error where it is small.
    """

    name: Literal["exponential", "permute_and_flip", "laplace"]
    probabilities: Callable[[FloatArray], FloatArray]
    best_loses: Curve
    best_wins: Curve
    privacy: type[BoundedRangeEvent] | type[LaplaceProfileEvent]

    @functools.lru_cache(maxsize=256)  # noqa: B019 - there are three laws, and most services ask for few sizes
    def error_quantile(self, n: float, failure: float, confidence: float) -> float:
        """The smallest theta with ``Pr[error > theta] <= failure`` on every vector of `n` scores, rounded up.

        `failure` and `confidence` sum to 1; neither is computed from the other. 0 if a blind guess reaches the
        confidence.
        """
        if math.isinf(n):
            return math.inf
        if Fraction(confidence) * Fraction(n) <= 1:
            return 0.0
        if confidence >= 0.5:
            return crossing(lambda theta: math.log(max(self.best_loses(theta, n), 5e-324) * _MARGIN / failure))
        return crossing(lambda theta: math.log(confidence * _MARGIN / self.best_wins(theta, n)))

    @functools.lru_cache(maxsize=256)  # noqa: B019
    def expected_error(self, n: float) -> float:
        """The largest expected error over vectors of `n` scores with one best and the others equal, in scales.

        By golden-section search for the single maximum of ``theta * best_loses(theta)``.
        """
        if math.isinf(n):
            return math.inf
        low, high = 0.0, 2.0 * math.log(n) + 4.0
        shrink = (math.sqrt(5.0) - 1.0) / 2.0
        for _ in range(48):
            left, right = high - shrink * (high - low), low + shrink * (high - low)
            if left * self.best_loses(left, n) < right * self.best_loses(right, n):
                low = left
            else:
                high = right
        return low * self.best_loses(low, n)


def crossing(excess: Callable[[float], float]) -> float:
    """The number > 0 where a falling function reaches 0, rounded up by at most 2^-44 of it."""
    fails, works = 0.0, 1.0
    while excess(works) > 0.0:
        fails, works = works, 2.0 * works
    while works - fails > works * 2.0**-44:
        middle = fails + (works - fails) / 2.0
        if middle in (fails, works):  # neighbouring doubles, as the smallest ones are further apart than that
            break
        fails, works = (middle, works) if excess(middle) > 0.0 else (fails, middle)
    return works


LARGEST_COUNT = 2**63 - 1

Enclosed = tuple[Fraction, Fraction]  # a lower and an upper bound of a real number


def first_count(holds: Callable[[int], bool]) -> int:
    """The smallest count >= 1 for which something `holds` that then holds for all larger ones; at most `LARGEST_COUNT`.

    For ``proofs/partition_selection.md`` and ``proofs/stop_candidate.md``.
    """
    most = 1
    while most < LARGEST_COUNT and not holds(most):
        most = min(2 * most, LARGEST_COUNT)
    return bisect_left(range(most), True, most // 2 + 1, key=holds)


def log_of(number: Fraction) -> float:
    """The natural logarithm of a number > 0, also of one that no double can hold, up to rounding."""
    return math.log(number.numerator) - math.log(number.denominator)


def exp_minus(exponent: Fraction) -> Enclosed:
    """e^-exponent for an exponent > 0, enclosed in 40 digits; below e^-1000 by that and 0, enough for any delta."""
    low, high = exp_minus_in_digits(min(exponent, Fraction(1000)), 40)
    return low if exponent <= 1000 else Fraction(0), high


def exp_minus_in_digits(exponent: Fraction, digits: int) -> Enclosed:
    """e^-exponent for any exponent, enclosed in proportion: with so many digits, less those of it before its point.

    ``Decimal.exp`` is correctly rounded, so its neighbours enclose the true number.
    """
    (down, least), (up, most) = _rounded(-exponent, digits)
    low, high = down.next_minus(down.exp(least)), up.next_plus(up.exp(most))
    return max(Fraction(low), Fraction(0)), Fraction(high)


def log_in_digits(number: Fraction, digits: int) -> Enclosed:
    """The natural logarithm of a number > 0 not near 1, enclosed with so many digits."""
    (down, least), (up, most) = _rounded(number, digits)
    return Fraction(down.next_minus(down.ln(least))), Fraction(up.next_plus(up.ln(most)))


def _rounded(number: Fraction, digits: int) -> list[tuple[Context, Decimal]]:
    contexts = (Context(digits, each, Emin=MIN_EMIN, Emax=MAX_EMAX) for each in (ROUND_FLOOR, ROUND_CEILING))
    return [(each, each.divide(Decimal(number.numerator), Decimal(number.denominator))) for each in contexts]


_BITS = 60  # binary digits of a coin that are looked at together


def heads(bounds: Callable[[int], tuple[int, int]], size: int) -> int:
    """How many of `size` independent coins show heads, of bounds ``low <= 2^digits p <= high`` for so many digits.

    All coins' uniform numbers are compared with the probability together, 60 digits at a time: those below its lower
    bound are heads, those above its upper bound are tails, and the others get more digits.

    Proof: ``proofs/partition_selection.md``, claim 4.
    """
    found, bits, start, end = 0, 0, 0, 1
    while size:
        bits, start, end = bits + _BITS, start << _BITS, end << _BITS
        low, high = bounds(bits)
        low, high = min(max(low, start), end), min(max(high, start), end)
        cells = np.array([low - start, high - low, end - high], np.uint64)
        below, size, _ = _core.tally(cells, size).tolist()
        found, start, end = found + below, low, high
    return found


def accepts(share: tuple[int, int], x: Fraction) -> bool:
    """A coin of probability ``share e^-x``, at most 1; `share` need not be in lowest terms (``proofs/density.md``)."""
    above, below = share
    size = max(0, above.bit_length() - below.bit_length() + 1)

    def enclosed(bits: int) -> tuple[int, int]:
        if x >= bits + size:
            return 0, 1
        low, high = exp_minus_in_digits(x, (bits + x.numerator.bit_length()) // 3 + 20) if x else (Fraction(1),) * 2
        least = (above * low.numerator << bits) // (below * low.denominator)
        return least, -((-above * high.numerator << bits) // (below * high.denominator))

    return heads(enclosed, 1) == 1


_WORD_BITS = 16
_UNIFORM = _core.Sampler("exponential", 1.0, 1.0, 1)  # among equal scores it draws uniformly


def uniform_below(bound: int) -> int:
    """A uniform whole number from 0 to below `bound`, of any size."""
    bits = (bound - 1).bit_length()
    if not bits:
        return 0
    words = -(-bits // _WORD_BITS)
    zeros = np.broadcast_to(np.int8(0), 1 << _WORD_BITS)
    while True:
        drawn = _UNIFORM.select_many(zeros, words).astype("<u2").tobytes()
        number = int.from_bytes(drawn, "little") >> (words * _WORD_BITS - bits)
        if number < bound:
            return number


def uniform_subset(size: int, k: int) -> IntArray:
    """A uniform set of `k` of the numbers 0 to ``size - 1``: the first k different ones of uniform draws."""
    if 2 * k > size:
        left_out = np.ones(size, np.bool_)
        left_out[uniform_subset(size, size - k)] = False
        return np.flatnonzero(left_out)
    found = np.empty(0, np.int64)
    zeros = np.broadcast_to(np.int8(0), max(size, 1))
    while found.size < k:
        more = np.concatenate([found, _UNIFORM.select_many(zeros, k + 8)])
        _, first = np.unique(more, return_index=True)
        found = more[np.sort(first)][:k]
    return found
