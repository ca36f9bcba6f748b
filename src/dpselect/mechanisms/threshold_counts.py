"""Values that are not public: noisy counts from a threshold on, and the rules that choose how values are released."""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpselect.checks import boolean, positive_count, probability, whole_number
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms.mechanism import explained
from dpselect.mechanisms.noise import DiscreteGaussianMechanism, GeometricMechanism, whole_values
from dpselect.mechanisms.numbers import LARGEST_COUNT, IntArray
from dpselect.mechanisms.partition_selection import PartitionSelection, UnlistedValues, divided
from dpselect.mechanisms.scores import ScoresLike
from dpselect.mechanisms.stop_candidate import MOST_ANSWERS, StopCandidate
from dpselect.privacy import Neighbours


class ReleasedCounts(NamedTuple):
    """The noisy counts that reach the threshold.

    Attributes:
        positions: of their values, in increasing order.
        counts: the noisy counts.
    """

    positions: IntArray
    counts: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyThreshold(UnlistedValues, abc.ABC):
    """The base of `ThresholdCounts` and `GaussianThresholdCounts`: their noise, and the draw."""

    threshold: int = field(init=False, compare=False)
    noise: Any = field(init=False, repr=False, compare=False)

    def _set_noise(self, noise: GeometricMechanism | DiscreteGaussianMechanism, *, delta: float) -> None:
        """The threshold is the lowest that values which one unit alone has reach with probability `delta` at most."""
        threshold = 1 + noise.first_noise(divided(self.epsilon, delta, self.moved)[1])
        if threshold >= LARGEST_COUNT // 2:
            raise InvalidParameterError("epsilon", self.epsilon, "a number large enough for a count to be released")
        self._set(threshold=threshold, noise=noise)

    def probability(self, count: int) -> float:
        return self.noise.reaches(self.threshold - count) if whole_number(count, "count") > 0 else 0.0

    def count_needed(self, chance: float) -> int:
        """See `UnlistedValues.count_needed`. For a `chance` of one half or less it is the threshold.

        For more it is by a verified bound, and with Gaussian noise so a few percent too large.
        """
        least = Fraction(probability(chance, "chance"))
        return self.threshold - 1 + (self.noise.first_noise(1 - least) if least > Fraction(1, 2) else 1)

    def draw(self, counts: ScoresLike) -> ReleasedCounts:
        """Release the noisy counts that reach the threshold: see `UnlistedValues.select`."""
        numbers = whole_values(counts)
        (occurring,) = np.nonzero(numbers > 0)
        noisy = self.noise.draw_many(numbers[occurring])
        reached = noisy >= self.threshold
        return ReleasedCounts(occurring[reached], noisy[reached])

    def select(self, counts: ScoresLike) -> IntArray:
        return self.draw(counts).positions


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdCounts(NoisyThreshold):
    r"""Adds two-sided geometric noise to the count of each value that occurs, and releases those from a threshold on.

    One unit changes t counts by 1: `max_values_per_unit`, or twice that if units are replaced. The noise has the scale
    :math:`t/\varepsilon`. A value that only this unit has is released with probability
    :math:`\delta' = 1 - (1 - \delta)^{1/t}` at most, because the threshold is

    .. math:: \tau = 1 + \min\{j \ge 1: a^j/(1 + a) \le \delta'\}, \qquad a = e^{-\varepsilon/t}.

    Values without units get no noise and are never released.

    Proof: ``proofs/unknown_candidates.md``, claim 3. Source: Korolova et al. (2009), with geometric noise.

    >>> [ThresholdCounts(epsilon=1.0, delta=1e-6, max_values_per_unit=most).threshold for most in (1, 3, 10)]
    [15, 45, 156]
    >>> released = ThresholdCounts(epsilon=1.0, delta=1e-6).draw([1000, 0, 3000])
    >>> released.positions.tolist(), bool(abs(released.counts - [1000, 3000]).max() < 50)
    ([0, 2], True)
    """

    def __post_init__(self) -> None:
        NoisyThreshold.__post_init__(self)
        noise = GeometricMechanism(epsilon=self.epsilon, sensitivity=self.moved, neighbours=self.neighbours)
        self._set_noise(noise, delta=self.delta)


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianThresholdCounts(NoisyThreshold):
    r"""Adds discrete Gaussian noise to the count of each value that occurs, and releases those from a threshold on.

    One unit changes t counts by 1: `max_values_per_unit`, or twice that if units are replaced. The noise X of each
    count is that of an
    :math:`(\varepsilon, \delta/2)`-private vector whose squared sensitivity is t. The threshold is

    .. math:: \tau = 1 + \min\{j \ge 1: \Pr[X \ge j] \le 1 - (1 - \delta/2)^{1/t}\},

    with a verified upper bound in place of the probability. Values without units get no noise and are never released.
    The noise grows with the root of t; that of `ThresholdCounts` grows with t, and is smaller for t of one or two.

    Proof: ``proofs/unknown_candidates.md``, claim 4. Source: Gopi et al. (2020), with discrete noise.

    >>> [GaussianThresholdCounts(epsilon=1.0, delta=1e-6, max_values_per_unit=most).threshold for most in (1, 10, 100)]
    [25, 81, 270]
    >>> released = GaussianThresholdCounts(epsilon=1.0, delta=1e-6, max_values_per_unit=10).draw([1000, 0, 3000])
    >>> released.positions.tolist(), bool(abs(released.counts - [1000, 3000]).max() < 200)
    ([0, 2], True)
    """

    def __post_init__(self) -> None:
        NoisyThreshold.__post_init__(self)
        half = self.delta / 2.0
        if 2.0 * half > self.delta or half == 0.0:  # beside the smallest doubles halves are rounded
            raise InvalidParameterError("delta", self.delta, "a number large enough to be halved")
        noise = DiscreteGaussianMechanism(
            epsilon=self.epsilon, delta=half, squared_sensitivity=self.moved, neighbours=self.neighbours
        )
        self._set_noise(noise, delta=half)


_WAYS = {
    "partition": ("each value is named by a coin", "coins"),
    "geometric": ("geometric noise is added to all counts", "geometric noise"),
    "gaussian": ("Gaussian noise is added to all counts", "Gaussian noise"),
    "stop": ("a stop candidate ends the answer", "a stop candidate"),
}
"""What certificates state of each way, chosen or not. The words are part of their format."""


class UnlistedNoise(NamedTuple):
    """How values without a public list are released: see `unknown_noise` and `naming_noise`.

    Attributes:
        needed: for each way that can be planned, the number of units from which on a value is released with probability
            one half.
        chosen: the way that needs the fewest; of equal ones the first, as it has counts, or the simpler noise.
        rule: the choice and its reason, as certificates state them.
        mechanism: which draws in that way.
    """

    needed: dict[str, int]
    chosen: str
    rule: str
    mechanism: Any


@explained
def unknown_noise(
    k: int,
    *,
    epsilon: float,
    delta: float,
    max_values_per_unit: int = 1,
    with_counts: bool = False,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
) -> UnlistedNoise:
    """The rule that decides, from public arguments, how the `k` most common values without a public list are drawn.

    Chosen is what needs the fewest units to release a value with probability one half: `ThresholdCounts`,
    `GaussianThresholdCounts` or, if counts are not wanted, `StopCandidate`.

    Args:
        k: the largest number of values.
        with_counts: whether the number of units with each value is wanted, too.

    Proof: ``proofs/unknown_candidates.md``, ``proofs/stop_candidate.md``: each is private, so the rule cannot be wrong.

    >>> for most in (1, 10, 100):
    ...     print(unknown_noise(10, epsilon=1.0, delta=1e-6, max_values_per_unit=most).needed)
    {'geometric': 15, 'gaussian': 25, 'stop': 99}
    {'geometric': 156, 'gaussian': 81, 'stop': 114}
    {'geometric': 1775, 'gaussian': 270, 'stop': 130}
    """
    k = positive_count(k, "k", at_most=MOST_ANSWERS)
    price: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "max_values_per_unit": max_values_per_unit}
    price["neighbours"] = neighbours
    geometric, gaussian = ThresholdCounts(**price), _if_possible(partial(GaussianThresholdCounts, **price))
    stop = None if boolean(with_counts, "with_counts") else _if_possible(partial(StopCandidate, k=k, **price))
    return _fewest("released", geometric=geometric, gaussian=gaussian, stop=stop)


@explained
def naming_noise(
    *,
    epsilon: float,
    delta: float,
    max_values_per_unit: int = 1,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
) -> UnlistedNoise:
    """The rule that decides, from public arguments, how the values that occur are named.

    Chosen is what needs fewer units to name a value with probability one half. Of rules that divide epsilon among the
    values of a unit, optimal partition selection needs the fewest. From about four values on, Gaussian noise, which
    grows only with the root of their number, needs fewer still.

    Proof: ``proofs/partition_selection.md`` and ``proofs/unknown_candidates.md``; both are private.

    >>> naming_noise(epsilon=1.0, delta=1e-6).needed
    {'partition': 14, 'gaussian': 25}
    >>> naming_noise(epsilon=1.0, delta=1e-6, max_values_per_unit=10).chosen
    'gaussian'
    """
    price: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "max_values_per_unit": max_values_per_unit}
    price["neighbours"] = neighbours
    coins = PartitionSelection(**price)
    return _fewest("named", partition=coins, gaussian=_if_possible(partial(GaussianThresholdCounts, **price)))


def _if_possible(plan: Callable[[], UnlistedValues]) -> UnlistedValues | None:
    """None where epsilon or delta is too small for it, or `k` too large."""
    try:
        return plan()
    except InvalidParameterError:
        return None


def _fewest(done: str, **plans: UnlistedValues | None) -> UnlistedNoise:
    needed = {name: plan.count_needed(0.5) for name, plan in plans.items() if plan is not None}
    chosen = min(needed, key=needed.__getitem__)
    others = [f"with {_WAYS[name][1]} at {at:,}" for name, at in needed.items() if name != chosen]
    beside = f" ({', '.join(others)})" if others else ""
    reached = f"a value is then {done} with probability one half at {needed[chosen]:,} units{beside}"
    return UnlistedNoise(needed, chosen, f"{_WAYS[chosen][0]}, because {reached}", plans[chosen])
