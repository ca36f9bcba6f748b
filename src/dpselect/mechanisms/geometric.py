"""Whole numbers with two-sided geometric noise: the Laplace mechanism for counts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import PureEvent
from dpselect.checks import positive_count, positive_epsilon, probability, whole_bounds, whole_sensitivity
from dpselect.mechanisms.integer_vectors import offsets_from, whole_value, whole_values
from dpselect.mechanisms.scaled import MechanismValue, scale_of
from dpselect.mechanisms.score_vectors import ScoresLike
from dpselect.privacy import Neighbours, neighbouring_relation

FloatArray = npt.NDArray[np.float64]

_MACHINE = (-(2**63), 2**63 - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometricMechanism(MechanismValue):
    r"""Releases a whole number f with noise: y with probability proportional to :math:`e^{-|y - f|/b}`.

    The exponential mechanism on all whole numbers with the score :math:`-|y - f|`, at
    :math:`b = sensitivity / epsilon`, *without* its factor 2, because the weights have the same sum for every whole f.
    With `bounds` a noisy number outside is clamped to the nearer bound (the truncated geometric mechanism, whose ends
    hold the mass of everything beyond), which costs nothing.

    Args:
        epsilon: privacy loss of one release, > 0. Rounded down if it is not a double.
        sensitivity: the largest change of f between neighbouring data sets, a whole number >= 1. For a vector released
            by `draw_many`, the largest sum of the changes of all its entries (the l1 sensitivity).
        bounds: ``(lower, upper)``, public whole numbers; None for all whole numbers.
        neighbours: which data sets the guarantee compares, ``"add_remove"`` or ``"replace_one"``. A histogram of
            units has l1 sensitivity 1 under the first (each unit in one bin), 2 under the second.

    Raises:
        InvalidParameterError: an argument is out of range.

    Round a number that is not whole first, and use the sensitivity of the rounded number:
    ``proofs/geometric_mechanism.md`` shows what is lost otherwise.

    Proof: ``proofs/geometric_mechanism.md``. Sources: Ghosh, Roughgarden & Sundararajan (2012); Canonne, Kamath &
    Steinke (2020) for the way it is drawn.

    >>> mechanism = GeometricMechanism(epsilon=1.0, sensitivity=1)
    >>> abs(mechanism.draw(1000) - 1000) < 50
    True
    >>> mechanism.pmf(5, [5, 6]).round(4)
    array([0.4621, 0.17  ])
    >>> mechanism.error_bound(confidence=0.99)
    4
    >>> GeometricMechanism(epsilon=1.0, sensitivity=1, bounds=(0, 10)).pmf(0, range(11)).sum().round(12)
    np.float64(1.0)
    """

    epsilon: float
    sensitivity: int
    bounds: tuple[int, int] | None = None
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    _sampler: _core.GeometricSampler = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._set(epsilon=positive_epsilon(self.epsilon))
        self._set(sensitivity=whole_sensitivity(self.sensitivity))
        self._set(bounds=None if self.bounds is None else whole_bounds(self.bounds))
        self._set(neighbours=neighbouring_relation(self.neighbours))
        self._set(_sampler=_core.GeometricSampler(self.epsilon, float(self.sensitivity)))

    @property
    def scale(self) -> float:
        """The scale b = sensitivity / epsilon. For reading only, as a double; draws use the exact quotient."""
        return scale_of(self.epsilon, float(self.sensitivity), factor=1)

    @property
    def event(self) -> PureEvent:
        """What one release costs, for accounting; it does not depend on the data.

        At sensitivity 1 every loss is `epsilon` or its negative, so `epsilon`-DP cannot be improved.
        """
        return PureEvent(epsilon=self.epsilon)

    def draw(self, value: int) -> int:
        """Release `value`, at the cost of `epsilon`.

        Args:
            value: a whole number of any size, of an integer type: 3.0 is refused like 3.5, because otherwise the error
                would reveal something about the data.

        Returns:
            A whole number of any size, within the bounds if there are any.

        Raises:
            InvalidDataError: `value` is not of an integer type. Nothing is drawn then.

        Proof that the draw is exact: ``proofs/geometric_mechanism.md``.
        """
        whole = whole_value(value)
        return self._within(whole + self._sampler.noise())

    def _within(self, number: int) -> int:
        return number if self.bounds is None else min(max(number, self.bounds[0]), self.bounds[1])

    def draw_many(self, values: ScoresLike) -> npt.NDArray[np.int64]:
        """Release a vector of whole numbers, each with independent noise, *together* at the cost of `epsilon`.

        `sensitivity` is then the l1 sensitivity of the vector: the largest sum of the changes of all entries.

        Args:
            values: shape ``(n,)``, of an integer type of up to 64 bits; ``n = 0`` is allowed.

        Returns:
            Shape ``(n,)``. Numbers outside the 64-bit range are clamped to its nearer end (before and after the noise),
            as with the bounds.

        Raises:
            InvalidDataError: not one-dimensional, or not of an integer type. Nothing is drawn then.
            InvalidParameterError: the bounds lie outside the 64-bit range.

        >>> import numpy as np
        >>> noisy = GeometricMechanism(epsilon=1.0, sensitivity=1, bounds=(0, 10**6)).draw_many([120, 0, 8301])
        >>> bool(np.all(abs(noisy - [120, 0, 8301]) < 50)), int(noisy.min()) >= 0
        (True, True)
        """
        lower, upper = _MACHINE if self.bounds is None else whole_bounds(self.bounds, within=_MACHINE)
        return self._sampler.draw_many(whole_values(values), lower, upper)

    def pmf(self, value: int, points: npt.ArrayLike) -> FloatArray:
        """Probability of each of `points` if the true number is `value`. For planning: it depends on the data.

        Returns:
            The shape of `points`, which are whole numbers; 0 outside the bounds.

        Raises:
            InvalidDataError: `value` is not of an integer type.
            InvalidParameterError: `points` are not.
        """
        whole = whole_value(value)
        offsets = offsets_from(whole, points)
        rate = self._rate
        chances = math.tanh(rate / 2.0) * np.exp(-rate * np.abs(offsets))
        if self.bounds is None:
            return chances
        lower, upper = (float(bound - whole) for bound in self.bounds)
        chances = np.where(offsets == lower, self._noise_up_to(lower), chances)
        chances = np.where(offsets == upper, self._noise_up_to(-upper), chances)
        return np.where((offsets < lower) | (offsets > upper), 0.0, chances)

    def cdf(self, value: int, points: npt.ArrayLike) -> FloatArray:
        """Probability of a release not above each of `points`. For planning: it depends on the data.

        Raises:
            InvalidDataError, InvalidParameterError: as for `pmf`.
        """
        whole = whole_value(value)
        offsets = offsets_from(whole, points)
        chances = self._noise_up_to(offsets)
        if self.bounds is None:
            return chances
        lower, upper = (float(bound - whole) for bound in self.bounds)
        return np.where(offsets < lower, 0.0, np.where(offsets >= upper, 1.0, chances))

    def error_bound(self, confidence: float = 0.99, *, size: int = 1) -> int:
        """With probability `confidence` all of `size` releases are at most this far from their true numbers.

        For true numbers within the bounds, if there are any. It depends on public arguments only, so it may be
        published. Rounded up; it is the smallest such number up to the last digits of doubles.

        Raises:
            InvalidParameterError: `confidence` is not strictly between 0 and 1, or `size` not a whole number >= 1.
        """
        log_confidence = math.log(probability(confidence, "confidence"))
        each = -math.expm1(log_confidence / positive_count(size, "size", at_most=2**63))
        # Pr[|noise| > m] = 2 a^(m+1) / (1 + a), a = e^(-1/b).
        halves = math.log(2.0 / (1.0 + math.exp(-self._rate))) - math.log(each)
        steps = Fraction(max(halves, 0.0) * (1.0 + 1e-12)) * self.sensitivity / Fraction(self.epsilon)
        bound = max(math.ceil(steps) - 1, 0)
        return bound if self.bounds is None else min(bound, self.bounds[1] - self.bounds[0])

    @property
    def _rate(self) -> float:
        """1/b, limited so that its multiples are finite."""
        return 1.0 / min(max(self.scale, 1e-300), 1e300)

    def _noise_up_to(self, offsets: FloatArray | float) -> FloatArray:
        """Pr[noise <= m]."""
        at = np.asarray(offsets, dtype=np.float64)
        rate = self._rate
        tail = np.exp(-rate * np.where(at < 0.0, -at, at + 1.0)) / (1.0 + math.exp(-rate))
        return np.where(at < 0.0, tail, 1.0 - tail)
