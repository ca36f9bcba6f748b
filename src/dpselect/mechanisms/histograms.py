"""Histograms: noise on every count, and the distribution nearest to the noisy counts."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import numpy.typing as npt

from dpselect.accounting import PureEvent
from dpselect.errors import InvalidDataError, InvalidScoresError, Shown
from dpselect.mechanisms.base import MechanismValue
from dpselect.mechanisms.noise import GeometricMechanism
from dpselect.mechanisms.scores import ScoresLike, native_scores
from dpselect.privacy import Neighbours, neighbouring_relation

_POINTS = 4096
_MOST_UNITS = 1 << 40


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyHistogramMechanism(MechanismValue):
    r"""Releases the count of every bin with two-sided geometric noise, the discrete Laplace mechanism.

    Each unit is in one bin, so an additional unit changes one count by 1, and a replaced unit changes two. The scale of
    the noise is :math:`1/\varepsilon` or :math:`2/\varepsilon`, however many bins there are.

    Proof: ``proofs/noisy_histograms.md``. Source: Dwork, McSherry, Nissim & Smith (2006).

    >>> mechanism = NoisyHistogramMechanism(epsilon=1.0)
    >>> noisy = mechanism.draw([500, 0, 1000])
    >>> bool((abs(noisy - [500, 0, 1000]) < 50).all())
    True
    """

    epsilon: float
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    _noise: GeometricMechanism = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        neighbours = neighbouring_relation(self.neighbours)
        moved = 1 if neighbours is Neighbours.ADD_REMOVE else 2
        noise = GeometricMechanism(epsilon=self.epsilon, sensitivity=moved, neighbours=neighbours)
        self._set(epsilon=noise.epsilon, neighbours=neighbours, _noise=noise)

    @property
    def sensitivity(self) -> int:
        """Largest total change of all counts between neighbours."""
        return self._noise.sensitivity

    @property
    def scale(self) -> float:
        """The scale of the noise of each count."""
        return self._noise.scale

    @property
    def event(self) -> PureEvent:
        return self._noise.event

    def error_bound(self, bins: int, confidence: float = 0.99) -> int:
        """With probability `confidence` each of the counts is at most this far from the truth, whatever they are.

        Raises:
            InvalidParameterError: `bins` is not a whole number >= 1, or `confidence` not strictly between 0 and 1.

        >>> NoisyHistogramMechanism(epsilon=1.0).error_bound(12)
        7
        """
        return self._noise.error_bound(confidence, size=bins)

    def total_error_bound(self, bins: int, confidence: float = 0.99) -> int:
        r"""With probability `confidence` the sum of all noisy counts is at most this far from the number of units.

        By the Chernoff bound for the sum of the noise of all bins, which with
        :math:`\alpha = e^{-1/b}` has the moment generating function
        :math:`\left((1 - \alpha)^2 / ((1 - \alpha e^t)(1 - \alpha e^{-t}))\right)^{bins}`.

        Raises:
            InvalidParameterError: `bins` is not a whole number >= 1, or `confidence` not strictly between 0 and 1.

        Proof: ``proofs/noisy_histograms.md``, claim 2.

        >>> NoisyHistogramMechanism(epsilon=1.0).total_error_bound(12)
        16
        """
        alone = self._noise.error_bound(confidence, size=bins)  # also checks the arguments
        rate = 1.0 / min(max(self.scale, 1e-300), 1e300)
        if bins == 1 or alone == 0 or rate > 700.0:
            return bins * alone
        log_chance = math.log(2.0 / (1.0 - confidence))
        # Any point gives a bound. Near the best one the bound hardly changes, so a grid is enough. With the noise in
        # units of 1/rate, and exact for tiny rates: 1 - exp(-x) is -expm1(-x).
        shares = np.arange(1, _POINTS) / _POINTS
        below, above = (np.log(-np.expm1(-rate * (1.0 + sign * shares))) for sign in (-1, 1))
        grown = 2.0 * math.log(-math.expm1(-rate)) - below - above
        sum_bound = float(np.min((bins * grown + log_chance) / shares)) / rate * (1.0 + 1e-9)
        return min(bins * alone, math.floor(sum_bound))

    def draw(self, counts: object) -> npt.NDArray[np.int64]:
        """Release the histogram, at the cost of `epsilon`.

        Args:
            counts: shape ``(m,)``, units in each of the public bins: whole numbers >= 0 with a sum below 2^40.

        Returns:
            Shape ``(m,)``. Noisy counts are whole numbers, and may be negative; `shares` makes a distribution of them.

        Raises:
            InvalidDataError: `counts` is not like this. Nothing is drawn then.
        """
        return self._noise.draw_many(bin_counts(counts))


def shares(noisy: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The distribution nearest to noisy counts in its cumulative counts, with the same sum. It costs nothing more.

    Negative counts are balanced by their neighbours; replacing each by 0 instead would add up the noise of all empty
    bins (``examples/densities`` measures both). If the sum is not positive, all bins get the same share.

    >>> shares(np.array([3, 0, 1])), shares(np.array([4, -2, 2]))
    (array([0.75, 0.  , 0.25]), array([0.75, 0.  , 0.25]))
    """
    reached = np.cumsum(noisy)
    total = int(reached[-1])
    if total <= 0:
        return np.full(noisy.size, 1.0 / noisy.size)
    reached = np.clip(reached, 0, total)
    from_left = np.maximum.accumulate(reached)
    from_right = np.minimum.accumulate(reached[::-1])[::-1]
    # Half the sum of both never decreases. No other such function has a smaller largest difference from `reached`.
    return np.diff(from_left / 2.0 + from_right / 2.0, prepend=0.0) / total


def bin_counts(counts: object, name: str = "counts", *, below: int = _MOST_UNITS) -> npt.NDArray[np.int64]:
    """The histogram a caller gives as int64, shape ``(m,)``, each >= 0, with a sum below a power of two.

    Raises:
        InvalidDataError: something else. Its text shows no count.

    >>> bin_counts([3, 0, 2.0])
    array([3, 0, 2])
    """
    expected = "whole numbers >= 0, one for each bin, at least one"
    try:
        given = native_scores(cast(ScoresLike, counts))
    except InvalidScoresError as refused:
        problem = InvalidDataError(name, refused.got, expected)
    else:
        if given.size == 0:
            problem = InvalidDataError(name, Shown("<no bins>"), expected)
        elif not bool(np.all((given >= 0) & (given < below) & (given == np.floor(given)))):  # also false of NaN
            problem = InvalidDataError(name, Shown("<numbers that are no counts>"), expected)
        elif given.sum(dtype=np.float64) >= below:
            limit = f"counts with a sum below 2^{below.bit_length() - 1}"
            problem = InvalidDataError(name, Shown("<too many units>"), limit)
        else:
            return given.astype(np.int64)
    raise problem
