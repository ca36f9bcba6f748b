"""The exponential mechanism on all whole numbers, for any score below a public ceiling."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import count as count_up
from numbers import Rational
from typing import cast

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.checks import exact_number, function, whole_number
from dpselect.errors import InvalidParameterError, InvalidScoresError, Shown, describe
from dpselect.mechanisms.mechanism import RangedMechanism
from dpselect.mechanisms.noise import whole_points
from dpselect.mechanisms.numbers import FloatArray, exact_value, native_fraction, native_whole

Number = int | float | Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerCeiling:
    """A public line that no score lies above: it falls linearly on both sides of a centre, as far as the ends.

    Args:
        center: the whole number where the ceiling is highest; a good guess at the best number makes draws fast.
        fall: how much the ceiling falls per step, in the unit of the scores; one number, or ``(left, right)``. It has
            to be above 0 on an unbounded side, and at least 0 on a bounded one.
        height: the ceiling at the centre.
        lower: the smallest whole number that may be drawn; None if there is none.
        upper: the largest; None if there is none.

    Numbers are taken exactly: a float is its binary fraction.

    >>> ceiling = IntegerCeiling(center=70, fall=(1, 0.5), height=10, lower=0)
    >>> [float(ceiling.at(point)) for point in (68, 70, 74)]
    [8.0, 10.0, 8.0]
    """

    center: int
    fall: Number | tuple[Number, Number]
    height: Number = 0
    lower: int | None = None
    upper: int | None = None

    def __post_init__(self) -> None:
        center = whole_number(self.center, "center")
        lower, upper = (
            None if end is None else whole_number(end, name, expected="a whole number or None")
            for name, end in (("lower", self.lower), ("upper", self.upper))
        )
        object.__setattr__(self, "center", center)  # NumPy's integers would wrap around
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)
        if not (lower is None or lower <= center) or not (upper is None or center <= upper):
            raise InvalidParameterError("center", self.center, "a whole number from lower to upper")
        exact_number(self.height, "height")
        for side, fall, end in (("left", self.falls[0], lower), ("right", self.falls[1], upper)):
            if fall < 0:
                raise InvalidParameterError("fall", float(fall), "numbers >= 0", "The centre is where it is highest.")
            if fall == 0 and end is None:
                hint = f"The {side} side is unbounded, so weights under a flat ceiling have no finite sum. Bound it."
                raise InvalidParameterError("fall", 0, "a number > 0 on an unbounded side", hint)

    @property
    def falls(self) -> tuple[Fraction, Fraction]:
        """`fall` on the left and on the right, exactly."""
        expected = "a finite number >= 0, or two: (left, right)"
        if isinstance(cast(object, self.fall), tuple | list):
            pair = cast("tuple[object, ...]", self.fall)
            if len(pair) != 2:
                raise InvalidParameterError("fall", Shown(f"<{len(pair)} of them>"), expected)
            return exact_number(pair[0], "fall", expected=expected), exact_number(pair[1], "fall", expected=expected)
        both = exact_number(self.fall, "fall", expected=expected)
        return both, both

    def at(self, point: int) -> Fraction:
        """The ceiling at `point`, exactly."""
        distance = point - self.center
        return exact_number(self.height, "height") - self.falls[distance > 0] * abs(distance)

    def contains(self, point: int) -> bool:
        """Whether `point` may be drawn."""
        return (self.lower is None or self.lower <= point) and (self.upper is None or point <= self.upper)

    @property
    def reaches(self) -> tuple[int | None, int | None]:
        """How many steps there are to the left and to the right of the centre; None if there is no end."""
        left = None if self.lower is None else self.center - self.lower
        return left, None if self.upper is None else self.upper - self.center


def side_total(rate: float, last: int | None) -> float:
    """The sum of ``exp(-rate * k)`` over ``k = 0 .. last``.

    >>> side_total(math.log(2), 1), round(side_total(math.log(2), None), 9), side_total(0.0, 6)
    (1.5, 2.0, 7.0)
    """
    if rate == 0.0:
        return math.inf if last is None else last + 1.0
    whole = -math.expm1(-rate)
    return 1.0 / whole if last is None else -math.expm1(-rate * (last + 1)) / whole


IntegerScore = Callable[[int], object]
"""A score of a whole number: an int, a float or a `fractions.Fraction`, finite."""

_MOST_POINTS = 1_000_000
_TRUNCATION = 1e-13


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerMechanism(RangedMechanism):
    r"""Draws a whole number y with probability proportional to :math:`e^{s(y)/b}`, for a score below a public ceiling.

    The exponential mechanism on an infinite set: `epsilon`-DP and `epsilon`-bounded-range. Numbers are proposed
    according to the weights of the ceiling and accepted according to how close the score comes to it, exactly.

    **A score above its ceiling counts as the ceiling.** There is no error, because an error would reveal something
    about the data. The smaller of a score and a public number changes no more than the score, so the guarantee still
    holds.

    **What it costs.** A score is computed for each proposal, :math:`\sum e^{ceiling/b} / \sum e^{s/b}` times on average
    (`expected_calls`): once if the score equals its ceiling, at most :math:`e^{g/b}` times if it is nowhere more than g
    below. A draw with a score far below its ceiling everywhere practically never ends, so keep `height` close to what
    the score reaches. The time a draw takes depends on the data (``docs/sharp-edges.md``).

    Proof: ``proofs/integer_mechanism.md``. Source: McSherry & Talwar (2007).

    >>> mechanism = IntegerMechanism(epsilon=2.0, sensitivity=1)
    >>> ages = [31, 35, 36, 36, 40] * 20
    >>> def score(y):                    # how many are exactly y, and a public preference for numbers near 35
    ...     return ages.count(y) - abs(y - 35)
    >>> ceiling = IntegerCeiling(center=35, fall=1, height=40, lower=0)    # public: at most 40 of one age
    >>> mechanism.draw(score, ceiling)
    36
    >>> mechanism.pmf(score, ceiling, [36, 35]).round(6)
    array([1., 0.])
    """

    def draw(self, score: IntegerScore, ceiling: IntegerCeiling) -> int:
        """Draw one whole number, at the cost of `epsilon`.

        Args:
            score: called repeatedly with whole numbers within the ceiling's ends; it has to return the same score for
                the same number, and each score may change by at most `sensitivity` between neighbours.
            ceiling: public. No part of it may come from the data.

        Returns:
            A whole number of any size, within the ceiling's ends.

        Raises:
            InvalidParameterError: `ceiling` is not an `IntegerCeiling`.
            InvalidScoresError: a score is not a finite number. Nothing is drawn then, nor if `score` itself fails.
        """
        proposals = self._proposals(ceiling)
        function(score, "score", expected="a function of a whole number")
        while True:
            point = ceiling.center + proposals.draw()
            gap = ceiling.at(point) - _exact(score(point))
            if gap <= 0 or proposals.accepts(native_fraction(gap)):
                return point

    def pmf(self, score: IntegerScore, ceiling: IntegerCeiling, points: npt.ArrayLike) -> FloatArray:
        """Probability of each of `points`. For planning with public scores and for tests: it depends on every score.

        The sum over all whole numbers is cut off where the ceiling proves that less than 1e-13 of it is left.

        Returns:
            The shape of `points`, which are whole numbers; 0 outside the ceiling's ends.

        Raises:
            InvalidParameterError: `points` are not whole numbers, or the sum takes more than 10^6 of them.
        """
        whole = whole_points(points)
        total = self._total(score, ceiling)
        chances = [
            self._weight(score, ceiling, point) / total if ceiling.contains(point) else 0.0
            for point in whole.ravel().tolist()
        ]
        return np.array(chances, dtype=np.float64).reshape(whole.shape)

    def expected_calls(self, score: IntegerScore, ceiling: IntegerCeiling) -> float:
        """Average number of scores that `draw` computes. For planning with public scores: it depends on every score."""
        total = self._total(score, ceiling)
        left, right = (side_total(*side) for side in zip(self._rates(ceiling), ceiling.reaches, strict=True))
        return (left + right - 1.0) / total

    def _rates(self, ceiling: IntegerCeiling) -> tuple[float, float]:
        left, right = (float(fall * self._rate) for fall in ceiling.falls)
        return left, right

    @property
    def _rate(self) -> Fraction:
        """1/b."""
        return Fraction(self.epsilon) / (Fraction(self.sensitivity) * self._factor)

    def _weight(self, score: IntegerScore, ceiling: IntegerCeiling, point: int) -> float:
        """The weight of a point, relative to the ceiling's height."""
        gap = exact_number(ceiling.height, "height") - min(_exact(score(point)), ceiling.at(point))
        exponent = gap * self._rate
        return math.exp(-float(exponent)) if exponent < 800 else 0.0

    def _total(self, score: IntegerScore, ceiling: IntegerCeiling) -> float:
        """The sum of the weights, outwards from the centre until the ceiling leaves less than `_TRUNCATION` of it."""
        self._proposals(ceiling)  # refuses anything that is not a ceiling
        function(score, "score", expected="a function of a whole number")
        total, terms = self._weight(score, ceiling, ceiling.center), 1
        sides = list(zip((-1, 1), self._rates(ceiling), ceiling.reaches, strict=True))
        for distance in count_up(1):
            sides = [side for side in sides if side[2] is None or distance <= side[2]]
            left = sum(
                math.exp(-rate * distance) * side_total(rate, None if reach is None else reach - distance)
                for _, rate, reach in sides
            )
            if left <= _TRUNCATION * total:
                return total
            if terms >= _MOST_POINTS:
                hint = "Use a smaller range, a steeper ceiling, or one closer to the score."
                raise InvalidParameterError("ceiling", Shown("<too wide>"), f"a sum of {_MOST_POINTS} terms", hint)
            total += sum(self._weight(score, ceiling, ceiling.center + sign * distance) for sign, _, _ in sides)
            terms += len(sides)
        raise AssertionError  # counting up has no end

    def _proposals(self, ceiling: IntegerCeiling) -> _core.Proposals:
        if not isinstance(ceiling, IntegerCeiling):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidParameterError("ceiling", Shown(describe(ceiling)), "an IntegerCeiling")
        left, right = (native_fraction(fall) for fall in ceiling.falls)
        ends = (None if reach is None else native_whole(reach) for reach in ceiling.reaches)
        return _core.Proposals(self.epsilon, self.sensitivity, self._factor, left, right, *ends)


def _exact(score: object) -> Fraction:
    is_flag = isinstance(score, bool)
    if isinstance(score, Rational) and not is_flag:  # also those that overflow a double
        return Fraction(int(score.numerator), int(score.denominator))
    return exact_value(score, InvalidScoresError, name="score")
