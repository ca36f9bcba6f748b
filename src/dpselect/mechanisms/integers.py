"""Exponential mechanisms on sets that no list has: whole numbers with a score below a ceiling, and vectors of bits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import BoundedRangeEvent, PureEvent
from dpselect.checks import as_fraction, exact_number, function, positive_count, whole_number
from dpselect.errors import InvalidDataError, InvalidParameterError, InvalidScoresError, Shown, describe
from dpselect.mechanisms.mechanism import MechanismValue, ScaledMechanism
from dpselect.mechanisms.noise import whole_points
from dpselect.mechanisms.numbers import FloatArray, exact_value, native_fraction, native_whole
from dpselect.mechanisms.scores import ScoresLike, has_masked, to_numpy

Number = int | float | Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerCeiling:
    """A public line that no score lies above: it falls linearly on both sides of a centre, as far as the ends.

    Args:
        center: the whole number where the ceiling is highest; a good guess at the best number makes draws fast.
        fall: how much the ceiling falls per step, in the unit of the scores; one number, or ``(left, right)``. Above 0
            on an unbounded side, at least 0 on a bounded one.
        height: the ceiling at the centre.
        lower, upper: the smallest and the largest whole number that may be drawn; None if there is none.

    >>> ceiling = IntegerCeiling(center=70, fall=(1, 0.5), height=10, lower=0)
    >>> [float(ceiling.at(point)) for point in (68, 70, 74)]
    [8.0, 10.0, 8.0]
    """

    center: int
    fall: Number | tuple[Number, Number]
    height: Number = 0
    lower: int | None = None
    upper: int | None = None
    falls: tuple[Fraction, Fraction] = field(init=False, repr=False, compare=False)
    """`fall` on the left and on the right, exactly."""

    def __post_init__(self) -> None:
        expected = "a finite number >= 0, or two: (left, right)"
        pair = self.fall if isinstance(self.fall, tuple | list) else (self.fall, self.fall)
        if len(pair) != 2:
            raise InvalidParameterError("fall", Shown(f"<{len(pair)} of them>"), expected)
        object.__setattr__(self, "falls", tuple(exact_number(each, "fall", expected=expected) for each in pair))
        object.__setattr__(self, "center", whole_number(self.center, "center"))  # NumPy's would wrap around
        for name, end in (("lower", self.lower), ("upper", self.upper)):
            if end is not None:
                object.__setattr__(self, name, whole_number(end, name, expected="a whole number or None"))
        if any(reach is not None and reach < 0 for reach in self.reaches):
            raise InvalidParameterError("center", self.center, "a whole number from lower to upper")
        exact_number(self.height, "height")
        for side, fall, reach in zip(("left", "right"), self.falls, self.reaches, strict=True):
            if fall < 0:
                raise InvalidParameterError("fall", float(fall), "numbers >= 0", "The centre is where it is highest.")
            if fall == 0 and reach is None:
                hint = f"The {side} side is unbounded, so weights under a flat ceiling have no finite sum. Bound it."
                raise InvalidParameterError("fall", 0, "a number > 0 on an unbounded side", hint)

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
    """The sum of ``exp(-rate * k)`` over ``k = 0 .. last``, or over all k."""
    if rate == 0.0:
        return math.inf if last is None else last + 1.0
    whole = -math.expm1(-rate)
    return 1.0 / whole if last is None else -math.expm1(-rate * (last + 1)) / whole


IntegerScore = Callable[[int], object]  # returns a finite int, float or `fractions.Fraction`
_MOST_POINTS = 1_000_000
_TRUNCATION = 1e-13


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerMechanism(ScaledMechanism):
    r"""Draws a whole number y with probability proportional to :math:`e^{s(y)/b}`, for a score below a public ceiling.

    The exponential mechanism on an infinite set: `epsilon`-DP and `epsilon`-bounded-range. Numbers are proposed
    according to the weights of the ceiling and accepted according to how close the score comes to it, exactly. A score
    above its ceiling counts as the ceiling, without an error, which would reveal something about the data.

    A draw computes :math:`\sum e^{ceiling/b} / \sum e^{s/b}` scores on average (`expected_calls`). One with a score far
    below its ceiling everywhere practically never ends, so keep `height` close to what the score reaches. The time a
    draw takes depends on the data (``docs/sharp-edges.md``).

    Proof: ``proofs/integer_mechanism.md``. Source: McSherry & Talwar (2007).

    >>> mechanism = IntegerMechanism(epsilon=2.0, sensitivity=1)
    >>> ages = [31, 35, 36, 36, 40] * 20
    >>> def score(y):                    # how many are exactly y, and a public preference for numbers near 35
    ...     return ages.count(y) - abs(y - 35)
    >>> ceiling = IntegerCeiling(center=35, fall=1, height=40, lower=0)    # public: at most 40 of one age
    >>> mechanism.draw(score, ceiling)
    36
    """

    costs = BoundedRangeEvent

    def draw(self, score: IntegerScore, ceiling: IntegerCeiling) -> int:
        """Draw one whole number within the ceiling's ends, at the cost of `epsilon`.

        Args:
            score: called repeatedly with whole numbers; it has to return the same score for the same number, and each
                score may change by at most `sensitivity` between neighbours.
            ceiling: public. No part of it may come from the data.

        Raises:
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
        """Probability of each of `points`, whole numbers. For planning with public scores: it depends on every score.

        The sum over all whole numbers, 10^6 at most, ends where the ceiling proves that less than 1e-13 of it is left.
        """
        whole = whole_points(points)
        total = self._total(score, ceiling)
        chances = [self._weight(score, ceiling, point) / total for point in whole.ravel().tolist()]
        return np.array(chances, dtype=np.float64).reshape(whole.shape)

    def expected_calls(self, score: IntegerScore, ceiling: IntegerCeiling) -> float:
        """Average number of scores that `draw` computes. For planning with public scores: it depends on every score."""
        total = self._total(score, ceiling)
        left, right = (side_total(*side) for side in self._sides(ceiling))
        return (left + right - 1.0) / total

    def _sides(self, ceiling: IntegerCeiling) -> list[tuple[float, int | None]]:
        """By how many scales the ceiling falls in a step to the left and to the right, and how many steps there are."""
        return [(float(fall * self.rate), reach) for fall, reach in zip(ceiling.falls, ceiling.reaches, strict=True)]

    def _weight(self, score: IntegerScore, ceiling: IntegerCeiling, point: int) -> float:
        """The weight of a point, relative to the ceiling's height."""
        if not ceiling.contains(point):
            return 0.0
        exponent = (exact_number(ceiling.height, "height") - min(_exact(score(point)), ceiling.at(point))) * self.rate
        return math.exp(-float(exponent)) if exponent < 800 else 0.0

    def _total(self, score: IntegerScore, ceiling: IntegerCeiling) -> float:
        """The sum of the weights, outwards from the centre until the ceiling leaves less than `_TRUNCATION` of it."""
        self._proposals(ceiling)  # refuses anything that is not a ceiling
        function(score, "score", expected="a function of a whole number")
        total, center = self._weight(score, ceiling, ceiling.center), ceiling.center
        for distance in range(1, _MOST_POINTS // 2):
            left = sum(
                math.exp(-rate * distance) * side_total(rate, None if reach is None else max(reach - distance, -1))
                for rate, reach in self._sides(ceiling)
            )
            if left <= _TRUNCATION * total:
                return total
            total += sum(self._weight(score, ceiling, point) for point in (center - distance, center + distance))
        hint = "Use a smaller range, a steeper ceiling, or one closer to the score."
        raise InvalidParameterError("ceiling", Shown("<too wide>"), f"a sum of {_MOST_POINTS} terms", hint)

    def _proposals(self, ceiling: IntegerCeiling) -> _core.Proposals:
        if not isinstance(ceiling, IntegerCeiling):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidParameterError("ceiling", Shown(describe(ceiling)), "an IntegerCeiling")
        left, right = (native_fraction(fall) for fall in ceiling.falls)
        ends = (None if reach is None else native_whole(reach) for reach in ceiling.reaches)
        return _core.Proposals(self.epsilon, self.sensitivity, self._factor, left, right, *ends)


def _exact(score: object) -> Fraction:
    exact = as_fraction(score)  # also those that overflow a double
    return exact_value(score, InvalidScoresError, name="score") if exact is None else exact


_MOST_ENUMERATED = 20


@dataclass(frozen=True, slots=True)
class CountEstimate:
    """Unbiased estimate of the number of bits that are one, perhaps below 0, and its standard deviation."""

    count: float
    standard_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomizedResponse(MechanismValue):
    r"""Answers each bit truthfully with probability :math:`e^{x}/(1 + e^{x})`, :math:`x = epsilon / bits\_per\_unit`.

    The exponential mechanism over all :math:`2^n` vectors of bits with the number of agreements as score, *without* its
    factor 2 (the weights have the same sum for all data), drawn bit by bit. Neighbouring data differ in the *values* of
    one unit's bits. The number of bits, and whom they belong to, is public: nobody is added or removed.

    Args:
        bits_per_unit: maximum number of bits per unit, >= 1. A unit with more loses more than `epsilon`.

    Proof: ``proofs/randomized_response.md``. Source: Warner (1965).

    >>> RandomizedResponse(epsilon=1.0986122886681098).pmf([True, False]).round(4)
    array([0.1875, 0.0625, 0.5625, 0.1875])
    """

    costs = PureEvent

    epsilon: float
    bits_per_unit: int = 1
    _sampler: _core.ResponseSampler = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        MechanismValue.__post_init__(self)
        self._set(bits_per_unit=positive_count(self.bits_per_unit, "bits_per_unit", at_most=2**53))
        self._set(_sampler=_core.ResponseSampler(self.epsilon, float(self.bits_per_unit)))

    def draw(self, bits: ScoresLike) -> npt.NDArray[np.bool_]:
        """Answer for every bit, independently, at the cost of `epsilon` for each unit.

        Args:
            bits: shape ``(n,)``, booleans, or integers that are 0 or 1; ``n = 0`` is allowed.
        """
        return self._sampler.draw(_checked_bits(bits, "bits").view(np.uint8)).view(np.bool_)

    def pmf(self, bits: ScoresLike) -> FloatArray:
        """Probability of each of the ``2**n`` possible answers, up to 20 bits. For planning: it depends on the bits.

        Entry j belongs to the bits of j, the first bit the most significant.
        """
        checked = _checked_bits(bits, "bits")
        if checked.size > _MOST_ENUMERATED:
            raise InvalidDataError("bits", Shown(f"<{checked.size} of them>"), f"at most {_MOST_ENUMERATED} here")
        rate = self.epsilon / self.bits_per_unit
        turned = math.exp(-rate) / (1.0 + math.exp(-rate))
        probabilities = np.ones(1)
        for bit in checked:
            each = [turned, 1.0 - turned] if bit else [1.0 - turned, turned]
            probabilities = np.outer(probabilities, each).ravel()
        return probabilities

    def estimate(self, responses: ScoresLike) -> CountEstimate:
        """Estimate how many of the true bits are one. It uses only the responses, so it is free (post-processing).

        Args:
            responses: what `draw` returned, or a part of it chosen without looking at the data.

        Returns:
            The estimate ``(ones - n q) / (1 - 2 q)``, q the probability of flipping a bit, and its standard error
            ``sqrt(n) / (2 sinh(x / 2))``; both infinite or huge if the responses say hardly anything.
        """
        checked = _checked_bits(responses, "responses")
        ones, count = int(np.count_nonzero(checked)), checked.size
        rate = self.epsilon / self.bits_per_unit
        # (ones - n q) / (1 - 2q) = n/2 + (ones - n/2) / tanh(x/2).
        slope = math.tanh(rate / 2.0)
        surplus = ones - count / 2.0
        centred = 0.0 if surplus == 0.0 else surplus / slope if slope > 0.0 else math.copysign(math.inf, surplus)
        spread = math.sinh(min(rate / 2.0, 700.0))
        error = 0.0 if count == 0 else math.sqrt(count) / 2.0 / spread if spread > 0.0 else math.inf
        return CountEstimate(count=count / 2.0 + centred, standard_error=error)


def _checked_bits(bits: ScoresLike, name: str) -> npt.NDArray[np.bool_]:
    """`bits` as contiguous booleans."""
    vector = to_numpy(bits)
    if vector is not None and vector.ndim == 1 and not has_masked(vector):
        # The core does not take bytes other than 0 and 1 for booleans; a view of other memory may have some.
        whole = vector.view(np.uint8) != 0 if vector.dtype == np.bool_ else vector
        if not whole.size or (whole.dtype.kind in "biu" and whole.min() >= 0 and whole.max() <= 1):
            return np.ascontiguousarray(whole, dtype=np.bool_)
    expected = "a one-dimensional array of booleans, or of integers that are 0 or 1"
    raise InvalidDataError(name, Shown(f"<{type(bits).__name__}>"), expected)
