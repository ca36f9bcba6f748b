"""Noisy counts from a threshold on, with noise that grows only with the root of the number of values of a unit."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpselect.checks import probability, whole_number
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms.discrete_gaussian import DiscreteGaussianMechanism
from dpselect.mechanisms.partition_selection import divided, moved_counts
from dpselect.mechanisms.threshold_counts import NoisyThreshold


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianThresholdCounts(NoisyThreshold):
    r"""Adds discrete Gaussian noise to the count of each value that occurs, and releases those from a threshold on.

    If one unit changes at most t counts by 1, the noise X of each count is that of an
    :math:`(\varepsilon, \delta/2)`-private vector whose squared sensitivity is t. The threshold is

    .. math:: \tau = 1 + \min\{j \ge 1: \Pr[X \ge j] \le 1 - (1 - \delta/2)^{1/t}\},

    with a verified upper bound in place of the probability. Values without units get no noise and are never released.
    The noise grows with the root of t; that of `ThresholdCounts` grows with t, and is smaller for t of one or two.

    Args:
        epsilon: privacy loss of everything released, > 0. Rounded down if it is not a double.
        delta: probability with which epsilon may fail, strictly between 0 and 1. Rounded down likewise.
        max_values_per_unit: the largest number of values that a unit counts for; t is twice this for replaced units.
        neighbours: which data sets the guarantee compares, ``"add_remove"`` or ``"replace_one"``.

    Raises:
        InvalidParameterError: an argument is out of range, or no count could reach the threshold.

    Proof: ``proofs/unknown_candidates.md``, claim 4. Source: Gopi et al. (2020), with discrete noise.

    >>> [GaussianThresholdCounts(epsilon=1.0, delta=1e-6, max_values_per_unit=most).threshold for most in (1, 10, 100)]
    [25, 81, 270]
    >>> released = GaussianThresholdCounts(epsilon=1.0, delta=1e-6, max_values_per_unit=10).draw([1000, 0, 3000])
    >>> released.positions.tolist(), bool(abs(released.counts - [1000, 3000]).max() < 200)
    ([0, 2], True)
    """

    noise: DiscreteGaussianMechanism = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        NoisyThreshold.__post_init__(self)
        moved, half = moved_counts(self.max_values_per_unit, self.neighbours), self.delta / 2.0
        if 2.0 * half > self.delta or half == 0.0:  # beside the smallest doubles halves are rounded
            raise InvalidParameterError("delta", self.delta, "a number large enough to be halved")
        _, share = divided(self.epsilon, half, moved)
        noise = DiscreteGaussianMechanism(
            epsilon=self.epsilon, delta=half, squared_sensitivity=moved, neighbours=self.neighbours
        )
        self._set_threshold(1 + noise.first_noise(share))
        self._set(noise=noise)

    def probability(self, count: int) -> float:
        """See `NoisyThreshold.probability`."""
        if whole_number(count, "count") <= 0:
            return 0.0
        reach = 40 * int(self.noise.scale + 1.0)
        missing = max(self.threshold - count, -reach)
        least = missing if missing > 0 else 1 - missing
        beyond = float(self.noise.pmf(0, least + np.arange(reach)).sum())
        return beyond if missing > 0 else 1.0 - beyond

    def count_needed(self, chance: float) -> int:
        """See `NoisyThreshold.count_needed`. By a verified bound, and so a few percent too large.

        For a `chance` of one half or less it is the threshold, the smallest number for one half.
        """
        least = Fraction(probability(chance, "chance"))
        if least <= Fraction(1, 2):
            return self.threshold
        return self.threshold - 1 + self.noise.first_noise(1 - least)

    def count_error(self, confidence: float) -> int:
        """See `NoisyThreshold.count_error`."""
        return self.noise.error_bound(confidence)

    def _noisy(self, counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return self.noise.draw_many(counts)
