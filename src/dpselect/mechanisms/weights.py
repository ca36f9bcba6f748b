"""Public weights of candidates: a base measure for the exponential mechanism, exactly as it was given."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from numbers import Rational
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.errors import InvalidParameterError, InvalidScoresError, Shown, one_of_several
from dpselect.mechanisms.base import native_fraction
from dpselect.mechanisms.scores import ScoresLike, finite_scores

FloatArray = npt.NDArray[np.float64]

_EXPECTED = "finite numbers >= 0, one of them > 0"
_MOST_APART = 2**8192
"""How many times the smallest weight above zero the largest may be: proofs/exact_sampling.md, "Pieces"."""
_EXACT_IN_DOUBLE = 2**53
_ROUNDING = 2.0**-50


class CandidateWeights:
    """Weights, one for each candidate; those of weight zero are left out. Compared by their values.

    >>> CandidateWeights.of([1, 2, 0])
    <3 weights>
    >>> CandidateWeights.of([0.5, 1]) == CandidateWeights.of([Fraction(1, 2), 1])
    True
    """

    __slots__ = ("_doubles", "_fractions", "_logarithms")

    def __init__(self, doubles: FloatArray | None, fractions: tuple[Fraction, ...]) -> None:
        self._doubles, self._fractions = doubles, fractions
        if doubles is not None:
            with np.errstate(divide="ignore"):
                self._logarithms = np.log(doubles)
        else:
            logarithms = [_logarithm(each) if each else -math.inf for each in fractions]
            self._logarithms = np.array(logarithms)

    @classmethod
    def of(cls, weights: object) -> CandidateWeights:
        """Check weights: floats are taken as the doubles they are, fractions and whole numbers of any size exactly.

        Raises:
            InvalidParameterError: none at all, all zero, a negative one, NaN, infinity, no numbers, or the largest is
                more than 2^8192 times the smallest one above zero.
        """
        if isinstance(weights, CandidateWeights):
            return weights
        if isinstance(weights, Sequence) and not isinstance(weights, str | bytes):
            members = cast("Sequence[object]", weights)
            if any(_needs_fractions(each) for each in members):
                return cls._of_fractions(members)
        try:
            found = finite_scores(cast(ScoresLike, weights))
        except InvalidScoresError as error:
            raise InvalidParameterError("weights", Shown(error.got), _EXPECTED) from None
        doubles = found.astype(np.float64)
        if found.dtype.kind != "f" and not np.array_equal(doubles.astype(found.dtype), found):
            return cls._of_fractions(found.tolist())
        if not (valid := doubles >= 0.0).all():
            place = int(valid.argmin())
            raise _refused(found.tolist(), place)
        if not doubles.any():
            raise _all_zero(doubles.size)
        doubles = doubles + 0.0  # no negative zero, and a copy that nobody else can change
        doubles.flags.writeable = False
        return cls(doubles, ())

    @classmethod
    def _of_fractions(cls, members: Sequence[object]) -> CandidateWeights:
        found = [_exact(each) for each in members]
        for place, each in enumerate(found):
            if each is None or each < 0:
                raise _refused(members, place)
        if not any(found):
            raise _all_zero(len(found))
        exact = tuple(cast("list[Fraction]", found))
        if max(exact) > _MOST_APART * min(filter(None, exact)):
            expected = "numbers of which the largest is at most 2^8192 times the smallest one above zero"
            raise InvalidParameterError("weights", Shown(f"<{len(exact)} weights>"), expected)
        try:
            doubles = np.array([float(each) for each in exact])
        except OverflowError:
            return cls(None, exact)
        if all(Fraction(double) == each for double, each in zip(doubles.tolist(), exact, strict=True)):
            doubles.flags.writeable = False
            return cls(doubles, ())
        return cls(None, exact)

    def __len__(self) -> int:
        return self._logarithms.size

    def __repr__(self) -> str:
        return f"<{len(self)} weights>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CandidateWeights):
            return NotImplemented
        if self._doubles is None or other._doubles is None:
            return self._fractions == other._fractions and self._doubles is other._doubles
        return np.array_equal(self._doubles, other._doubles)

    def __hash__(self) -> int:
        return hash(self._fractions if self._doubles is None else self._doubles.tobytes())

    def __reduce__(self) -> tuple[Any, ...]:
        given = self._fractions if self._doubles is None else self._doubles
        return CandidateWeights.of, (given,)

    @property
    def logarithms(self) -> FloatArray:
        """Natural logarithms, minus infinity for a weight of zero."""
        return self._logarithms

    @property
    def taking_part(self) -> npt.NDArray[np.bool_]:
        """Which candidates have a weight above zero."""
        return self._logarithms > -math.inf

    @property
    def log2_bounds(self) -> FloatArray:
        """A little more than the binary logarithms, minus infinity for a weight of zero."""
        if self._doubles is not None:
            found = np.full(self._doubles.size, -math.inf)
            logarithms = np.log2(self._doubles[self.taking_part])
            found[self.taking_part] = logarithms + (4.0 + np.abs(logarithms)) * _ROUNDING
            return found
        sizes = [(math.log2(each.numerator), math.log2(each.denominator)) if each else None for each in self._fractions]
        bounds = [-math.inf if each is None else _difference_up(*each) for each in sizes]
        return np.array(bounds)

    def exact(self, index: int) -> Fraction:
        """One of them."""
        return self._fractions[index] if self._doubles is None else Fraction(float(self._doubles[index]))

    def sampler(self, epsilon: float, sensitivity: float, factor: int) -> _core.WeightedSampler:
        """The core's draws with these weights."""
        native: Any = self._doubles
        if native is None:
            native = [native_fraction(each) for each in self._fractions]
        return _core.WeightedSampler(epsilon, sensitivity, cast(Any, factor), native)

    def odds_against(self, best: int | None = None) -> float:
        """All others' weight over that of candidate `best`; by default of the lightest one that is not left out.

        A little too large at most, never too small.
        """
        logarithms = self._logarithms
        own = logarithms[logarithms > -math.inf].min() if best is None else logarithms[best]
        if own == -math.inf:
            return math.inf
        place = int(np.flatnonzero(logarithms == own)[0]) if best is None else best
        with np.errstate(over="ignore"):
            ratios = np.exp(np.delete(logarithms, place) - own)
            return float(ratios.sum() * (1.0 + 2.0**-40))


class WeightedDraws:
    """What the core's `Sampler` does, with a weight for each candidate."""

    __slots__ = ("_count", "_native")

    def __init__(self, weights: CandidateWeights, epsilon: float, sensitivity: float, factor: int) -> None:
        self._count, self._native = len(weights), weights.sampler(epsilon, sensitivity, factor)

    def select(self, scores: object, /) -> int:
        """One draw."""
        return int(self.select_many(scores, 1)[0])

    def select_many(self, scores: object, size: int, /) -> npt.NDArray[np.int64]:
        """`size` independent draws."""
        self._check(np.shape(cast(Any, scores)))
        return self._native.select_many(scores, size)

    def select_rows(self, scores: npt.NDArray[Any], /) -> npt.NDArray[np.int64]:
        """One draw for each row; all rows are checked first."""
        self._check(scores.shape[1:] if scores.size else ())
        finite_scores(scores.ravel())
        return np.array([self.select(row) for row in scores], dtype=np.int64)

    def peel(self, scores: object, k: int, /) -> npt.NDArray[np.int64]:
        """`k` draws one after another."""
        self._check(np.shape(cast(Any, scores)))
        return self._native.peel(scores, k)

    def select_with_gap(self, scores: object, step: float, /) -> tuple[int, float]:
        """Refused: the draw with weights has no noise to measure a gap in."""
        raise InvalidParameterError("weights", Shown("<weights>"), "none where a gap is released")

    def _check(self, shape: tuple[int, ...]) -> None:
        if len(shape) == 1 and 0 < shape[0] != self._count:
            raise unlike(shape[0], self._count)


def unlike(count: int, expected: int) -> InvalidScoresError:
    """Another number of scores than of weights."""
    return InvalidScoresError("scores", Shown(f"<{count} scores>"), f"{expected} scores, one for each weight")


def _needs_fractions(weight: object) -> bool:
    if isinstance(weight, bool | np.bool_):
        return True  # refused there
    if isinstance(weight, int):
        return not -_EXACT_IN_DOUBLE <= weight <= _EXACT_IN_DOUBLE
    return isinstance(weight, Rational) and not isinstance(weight, np.integer)


def _exact(weight: object) -> Fraction | None:
    if isinstance(weight, bool | np.bool_):
        return None
    if isinstance(weight, Rational):
        return Fraction(int(weight.numerator), int(weight.denominator))
    if isinstance(weight, float | np.floating):
        number = float(cast(float, weight))
        return Fraction(number) if math.isfinite(number) else None
    return None


def _logarithm(weight: Fraction) -> float:
    return math.log(weight.numerator) - math.log(weight.denominator)


def _difference_up(one: float, other: float) -> float:
    return one - other + (4.0 + abs(one) + abs(other)) * _ROUNDING


def _refused(members: Sequence[object], place: int) -> InvalidParameterError:
    return InvalidParameterError("weights", one_of_several(members[place], place, len(members)), _EXPECTED)


def _all_zero(count: int) -> InvalidParameterError:
    return InvalidParameterError("weights", Shown(f"<{count} zeros>"), _EXPECTED)
