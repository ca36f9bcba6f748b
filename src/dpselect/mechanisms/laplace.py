"""The Laplace mechanism: a number plus noise, as an exponential mechanism without the factor two."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import LaplaceProfileEvent
from dpselect.checks import exact_number, finite_bounds, positive_epsilon, positive_sensitivity
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown
from dpselect.mechanisms.scaled import MechanismValue, scale_of
from dpselect.mechanisms.score_vectors import plain_points
from dpselect.privacy import Neighbours, neighbouring_relation

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceMechanism(MechanismValue):
    r"""Releases a number with noise: density proportional to :math:`e^{-|y - value|/b}` over the line.

    The exponential mechanism with the score ``-abs(y - value)``, at half its usual noise: b is sensitivity / epsilon,
    without the factor two, because the normaliser of the density is 2 b whatever the data. This is true only on the
    whole line. Restricted to an interval, or to grid points that may not include the value, the same b would have a
    loss of up to twice `epsilon` (the proof page has the numbers). So `bounds` do not restrict the distribution; they
    clamp the released number afterwards.

    Args:
        epsilon: privacy loss of one draw, > 0. Rounded down if it is not a double.
        sensitivity: the largest change of the value between neighbouring data sets, > 0. Rounded up if it is not a
            double. It refers to the number you *pass*: if you rounded it, or added up floats, rounding may have
            increased the change.
        neighbours: which data sets the guarantee compares, ``"add_remove"`` or ``"replace_one"``.
        bounds: ``(lower, upper)``, public: an answer beyond them becomes the nearer one.

    Raises:
        InvalidParameterError: an argument is out of range.

    Proof: ``proofs/laplace_mechanism.md``. Source: Dwork, McSherry, Nissim & Smith (2006).

    >>> mechanism = LaplaceMechanism(epsilon=0.5, sensitivity=1)
    >>> mechanism.scale
    2.0
    >>> 0 < mechanism.draw(1000) < 2000
    True
    >>> mechanism.cdf(1000, [998.0, 1000.0])
    array([0.18393972, 0.5       ])
    """

    epsilon: float
    sensitivity: float
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    bounds: tuple[float | Fraction, float | Fraction] | None = None
    _ends: tuple[float, float] = field(init=False, repr=False, compare=False)
    _sampler: _core.PiecewiseSampler = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._set(epsilon=positive_epsilon(self.epsilon))
        self._set(sensitivity=positive_sensitivity(self.sensitivity))
        self._set(neighbours=neighbouring_relation(self.neighbours))
        ends = (-np.inf, np.inf)
        if self.bounds is not None:
            lower, upper = finite_bounds(self.bounds)
            ends = (float(lower), float(upper))
            self._set(bounds=ends)
        self._set(_ends=ends)
        self._set(_sampler=_core.PiecewiseSampler(self.epsilon, self.sensitivity, 1))

    @property
    def scale(self) -> float:
        """The scale b = sensitivity / epsilon of the noise, in the unit of the value."""
        return scale_of(self.epsilon, self.sensitivity, factor=1)

    @property
    def event(self) -> LaplaceProfileEvent:
        """what one draw costs, for accounting; it does not depend on the data."""
        return LaplaceProfileEvent(epsilon=self.epsilon)

    def draw(self, value: float | Fraction) -> float:
        """`value` plus noise, at the cost of `epsilon`.

        Args:
            value: a finite number: an integer, a `fractions.Fraction`, a decimal, or a float, which counts as the
                binary number that it is.

        Returns:
            The nearest finite double to the exact sum, rounded once; one of the `bounds` if it lies beyond them.

        Raises:
            InvalidDataError: not a finite number. Nothing is drawn.
        """
        return self._clamped(draw_peak(self._sampler, _checked(value)))

    def cdf(self, value: float | Fraction, points: npt.ArrayLike) -> FloatArray:
        """Probability of an answer not above each of `points`, if the value were this. For planning.

        Raises:
            InvalidDataError: as for `draw`.
        """
        center = _checked(value)
        at = plain_points(points)
        inside = laplace_cdf(center, at, epsilon=self.epsilon, sensitivity=self.sensitivity)
        return np.where(at < self._ends[0], 0.0, np.where(at >= self._ends[1], 1.0, inside))

    def _clamped(self, answer: float) -> float:
        return min(max(answer, self._ends[0]), self._ends[1])


def laplace_cdf(center: Fraction, at: FloatArray, *, epsilon: float, sensitivity: float) -> FloatArray:
    """The Laplace distribution function with scale ``sensitivity / epsilon`` around an exact `center`."""
    near = float(center)
    rest = float(center - Fraction(near))
    with np.errstate(over="ignore", under="ignore"):
        scaled = ((at - near) - rest) * (epsilon / sensitivity)
        tail = np.exp(-np.abs(scaled)) / 2.0
    return np.where(scaled < 0.0, tail, 1.0 - tail)


def draw_peak(
    sampler: _core.PiecewiseSampler,
    center: Fraction,
    *,
    bounds: tuple[Fraction, Fraction] | None = None,
    unit: Fraction = Fraction(1),
    is_squared: bool = False,
) -> float:
    """One draw with the score ``-|y - center| / unit``, or minus its square, within the bounds."""
    denominator = math.lcm(center.denominator, unit.denominator, *(end.denominator for end in bounds or ()))
    lower, upper = (_integer(end * denominator) for end in bounds) if bounds else (None, None)
    whole = (unit * denominator).numerator
    return sampler.draw_peak(
        _integer(center * denominator), lower, upper, _unsigned(whole), _unsigned(denominator), is_squared
    )


def _unsigned(whole: int) -> bytes:
    return whole.to_bytes(whole.bit_length() // 8 + 1, "little")


def _integer(number: Fraction) -> bytes:
    whole = int(number)
    return whole.to_bytes(whole.bit_length() // 8 + 1, "little", signed=True)


def _checked(value: object) -> Fraction:
    try:
        return exact_number(value, "value", expected="a finite number")
    except InvalidParameterError:
        pass
    problem = InvalidDataError("value", Shown("<not a finite number>"), "a finite number")
    raise problem
