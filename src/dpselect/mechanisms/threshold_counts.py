"""Values without a public list: noisy counts from a threshold on, a stop candidate, and the rules that choose."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpselect.accounting import calibrate_rounds
from dpselect.checks import boolean, fraction_down, positive_count, probability, whole_number
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms.exponential import ExponentialMechanism
from dpselect.mechanisms.mechanism import explained
from dpselect.mechanisms.noise import DiscreteGaussianMechanism, GeometricMechanism, whole_values
from dpselect.mechanisms.numbers import LARGEST_COUNT, IntArray, exp_minus_at_most, first_count, log_of
from dpselect.mechanisms.partition_selection import PartitionSelection, UnlistedValues, divided
from dpselect.mechanisms.scores import ScoresLike
from dpselect.privacy import Neighbours

_MOST_ANSWERS = 10_000_000
_FEW = 2  # up to so many rounds, none of delta is spent on their composition: it would gain less than it takes


class ReleasedCounts(NamedTuple):
    """The noisy counts that reach the threshold, and the positions of their values, in increasing order."""

    positions: IntArray
    counts: IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyThreshold(UnlistedValues, abc.ABC):
    """Adds noise to the count of each value that occurs, and releases those from a threshold on."""

    threshold: int = field(init=False, compare=False)
    noise: Any = field(init=False, repr=False, compare=False)

    def _set_noise(self, noise: GeometricMechanism | DiscreteGaussianMechanism, *, delta: float) -> None:
        """The threshold is the lowest that values of one unit alone reach with probability `delta` at most."""
        threshold = 1 + noise.first_noise(divided(self.epsilon, delta, self.moved)[1])
        if threshold >= LARGEST_COUNT // 2:
            raise InvalidParameterError("epsilon", self.epsilon, "a number large enough for a count to be released")
        self._set(threshold=threshold, noise=noise)

    def probability(self, count: int) -> float:
        return self.noise.reaches(self.threshold - count) if whole_number(count, "count") > 0 else 0.0

    def count_needed(self, chance: float) -> int:
        # For more than one half by a verified bound, which with Gaussian noise is a few percent too large.
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

    Proof: ``proofs/unknown_candidates.md``, claim 3. Source: Korolova et al. (2009), with geometric noise.

    >>> mechanism = ThresholdCounts(epsilon=1.0, delta=1e-6)
    >>> mechanism.threshold, mechanism.draw([1000, 0, 3000]).positions.tolist()
    (15, [0, 2])
    """

    def __post_init__(self) -> None:
        NoisyThreshold.__post_init__(self)
        noise = GeometricMechanism(epsilon=self.epsilon, sensitivity=self.moved, neighbours=self.neighbours)
        self._set_noise(noise, delta=self.delta)


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianThresholdCounts(NoisyThreshold):
    r"""Adds discrete Gaussian noise to the count of each value that occurs, and releases those from a threshold on.

    The noise X is that of an :math:`(\varepsilon, \delta/2)`-private vector whose squared sensitivity is the t of
    `ThresholdCounts`. The threshold, with a verified upper bound in place of the probability, is

    .. math:: \tau = 1 + \min\{j \ge 1: \Pr[X \ge j] \le 1 - (1 - \delta/2)^{1/t}\}.

    The noise grows with the root of t; that of `ThresholdCounts` grows with t, and is smaller for t of one or two.

    Proof: ``proofs/unknown_candidates.md``, claim 4. Source: Gopi et al. (2020), with discrete noise.

    >>> GaussianThresholdCounts(epsilon=1.0, delta=1e-6, max_values_per_unit=10).threshold
    81
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


@dataclass(frozen=True, slots=True, kw_only=True)
class StopCandidate(UnlistedValues):
    r"""Draws up to `k` values, the most common first, among those that occur and a candidate that ends the answer.

    Each round draws by the exponential mechanism: a value of c units has the weight :math:`e^{c/b}`, the stop candidate
    :math:`e^{1/b} m/\delta_1`, where m is `max_values_per_unit`. So any of the m values that only one unit has is drawn
    before it with probability :math:`\delta_1` at most. How many units a value needs grows with k and only with the
    logarithm of m. For up to two values :math:`\delta_1` is delta; for more, half of it is left to compose the rounds.

    Args:
        k: the largest number of values, at most 10,000,000.

    Proof: ``proofs/stop_candidate.md``. Source: Durfee & Rogers (2019), with other constants.

    >>> StopCandidate(k=3, epsilon=1.0, delta=1e-6, max_values_per_unit=1000).select([1000, 0, 3000]).tolist()
    [2, 0]
    """

    k: int
    stop_delta: float = field(init=False, compare=False)
    rounds: ExponentialMechanism = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        UnlistedValues.__post_init__(self)
        self._set(k=positive_count(self.k, "k", at_most=_MOST_ANSWERS))
        stopping = self.delta if self.k <= _FEW else self.delta / 2.0 or self.delta
        self._set(stop_delta=stopping)
        left = fraction_down(Fraction(self.epsilon) - self.k * Fraction(stopping))
        if not left > 0.0:
            raise InvalidParameterError("epsilon", self.epsilon, f"more than k={self.k} times a part of delta")
        each = calibrate_rounds(epsilon=left, delta=self.delta - stopping, count=self.k)
        is_monotonic = self.neighbours is Neighbours.ADD_REMOVE
        common: dict[str, Any] = {"sensitivity": 1.0, "monotonic": is_monotonic, "neighbours": self.neighbours}
        self._set(rounds=ExponentialMechanism(epsilon=each, **common))

    def probability(self, count: int) -> float:
        """That of being drawn before "stop"; others may be the first k."""
        if whole_number(count, "count") <= 0:
            return 0.0
        gained = min(count - 1, 2**62) * float(self._rate)
        odds = math.log(self.max_values_per_unit) - math.log(self.stop_delta) - gained
        return 1.0 / (1.0 + math.exp(odds)) if odds < 700.0 else 0.0

    def count_needed(self, chance: float) -> int:
        least = Fraction(probability(chance, "chance"))
        allowed = (1 - least) / (least * self._base)
        if allowed >= 1:
            return 1
        rate, distance = self._rate, Fraction(-log_of(allowed))
        more = first_count(lambda n: exp_minus_at_most(n * rate) <= allowed, near=distance / rate)
        return min(more + 1, LARGEST_COUNT)

    def select(self, counts: ScoresLike) -> IntArray:
        """Draw up to `k` values, in the order of the positions returned: fewer if "stop" was drawn."""
        numbers = whole_values(counts)
        (occurring,) = np.nonzero(numbers > 0)
        # As claim 2 of the proof has it: "stop" is the last candidate, and all weights are doubles.
        weights = np.append(np.full(occurring.size, self.stop_delta), float(self.max_values_per_unit))
        order = replace(self.rounds, weights=weights).peel(np.append(numbers[occurring], 1), min(self.k, weights.size))
        return occurring[order[: np.argmax(order == occurring.size)] if occurring.size in order else order]

    @property
    def _rate(self) -> Fraction:
        """1/b."""
        return Fraction(self.rounds.epsilon) / (1 if self.rounds.monotonic else 2)

    @property
    def _base(self) -> Fraction:
        """The weight of "stop" for each of a value that one unit has."""
        return self.max_values_per_unit / Fraction(self.stop_delta)


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
        needed: for each way that can be planned, the number of units that a value needs for probability one half.
        chosen: the way that needs the fewest; of equal ones the first, which has counts, or the simpler noise.
        rule: the choice and its reason, as certificates state them.
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
    """The public rule by which the `k` most common values without a public list are drawn.

    Chosen is what needs the fewest units to release a value with probability one half: `ThresholdCounts`,
    `GaussianThresholdCounts` or, if counts are not wanted, `StopCandidate`.

    Args:
        k: the largest number of values.
        with_counts: whether the number of units with each value is wanted, too.

    Proof: ``proofs/unknown_candidates.md``, ``proofs/stop_candidate.md``: each is private, so the rule cannot be wrong.

    >>> unknown_noise(10, epsilon=1.0, delta=1e-6, max_values_per_unit=10).needed
    {'geometric': 156, 'gaussian': 81, 'stop': 114}
    """
    k = positive_count(k, "k", at_most=_MOST_ANSWERS)
    price: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "max_values_per_unit": max_values_per_unit}
    price["neighbours"] = neighbours
    geometric, gaussian = ThresholdCounts(**price), _if_possible(partial(GaussianThresholdCounts, **price))
    stop = None if boolean(with_counts, "with_counts") else _if_possible(partial(StopCandidate, k=k, **price))
    return _fewest("released", geometric=geometric, gaussian=gaussian, stop=stop)


@explained
def naming_noise(
    *, epsilon: float, delta: float, max_values_per_unit: int = 1, neighbours: Neighbours | str = Neighbours.ADD_REMOVE
) -> UnlistedNoise:
    """The public rule by which the values that occur are named.

    Chosen is what needs fewer units to name a value with probability one half: `PartitionSelection`, or from about four
    values of a unit on `GaussianThresholdCounts`.

    Proof: ``proofs/partition_selection.md`` and ``proofs/unknown_candidates.md``; both are private.

    >>> naming_noise(epsilon=1.0, delta=1e-6).needed
    {'partition': 14, 'gaussian': 25}
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
