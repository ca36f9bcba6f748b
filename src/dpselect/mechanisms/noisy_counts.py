"""Noise once on all counts: the most common are read from it, or those from a threshold on; and rules that choose."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from dpselect.accounting import Event
from dpselect.checks import boolean, delta_below_one, positive_count, positive_epsilon, probability, whole_number
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown
from dpselect.mechanisms.exponential import ExponentialMechanism
from dpselect.mechanisms.mechanism import MechanismValue, explained
from dpselect.mechanisms.noise import DiscreteGaussianMechanism, GeometricMechanism, whole_values
from dpselect.mechanisms.numbers import LARGEST_COUNT, IntArray, first_count
from dpselect.mechanisms.partition_selection import (
    MOST_ANSWERS,
    PartitionSelection,
    StopCandidate,
    UnlistedValues,
    divided,
)
from dpselect.mechanisms.scores import ScoresLike
from dpselect.mechanisms.top_k import plan_top_k
from dpselect.privacy import Neighbours, neighbouring_relation

_Made = TypeVar("_Made")
_MOST = 2**62  # noisy counts are moved between the negative of this and this, so that their order fits 64 bits


class NoisyCounts(NamedTuple):
    """Positions of what is released, and the noisy counts there, in the same order."""

    positions: IntArray
    counts: IntArray


@dataclass(frozen=True, slots=True)
class NoisyOrder(MechanismValue):
    r"""How `k` of `n_candidates` are selected by noisy counts, and what it costs, counts included; holds no data.

    One unit counts for at most `max_values_per_unit` candidates. So two-sided geometric noise of the scale
    ``max_values_per_unit / epsilon`` on each count is enough for *all* of them together, order and counts included.
    With a delta, discrete Gaussian noise, which grows only with the root of `max_values_per_unit`.

    Args:
        n_candidates: number of counts.
        delta: with one above 0, the noise is discrete Gaussian.

    Proof: ``proofs/noisy_order.md``.

    >>> order = NoisyOrder(16, 3, epsilon=0.5, max_values_per_unit=1)
    >>> order.noise.scale, order.error_bound(), order.count_bound()
    (2.0, 19, 14)
    >>> order.select([900, 20, 1800, 30] + [0] * 12).positions[:2]
    array([2, 0])
    """

    n_candidates: int
    k: int
    _: KW_ONLY
    epsilon: float
    max_values_per_unit: int
    delta: float = 0.0
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    noise: GeometricMechanism | DiscreteGaussianMechanism = field(init=False, repr=False, compare=False)
    """That of each count."""

    def __post_init__(self) -> None:
        MechanismValue.__post_init__(self)
        n, k, most = _sizes(self.n_candidates, self.k, self.max_values_per_unit)
        moved = self.neighbours.changed(most, n)
        price: dict[str, Any] = {"epsilon": self.epsilon, "neighbours": self.neighbours}
        if delta := delta_below_one(self.delta):
            noise = DiscreteGaussianMechanism(**price, delta=delta, squared_sensitivity=moved)
        else:
            noise = GeometricMechanism(**price, sensitivity=moved, bounds=(-_MOST, _MOST))
        self._set(n_candidates=n, k=k, max_values_per_unit=most, delta=delta, noise=noise)

    @property
    def event(self) -> Event:
        return self.noise.event

    def error_bound(self, confidence: float = 0.99) -> int:
        """With probability `confidence` *each* selected count is at most this far from the best one left in its round.

        Proof: ``proofs/noisy_order.md``, claim 3; of Gaussian noise, claim 7.
        """
        failure = 1.0 - probability(confidence, "confidence")
        if self.n_candidates == 1:
            return 0
        pairs = math.log(self.k * (self.n_candidates - 1) / failure)
        # By the difference of two noises, of one pair at least.
        return first_count(lambda bound: pairs + self.noise.difference_bound(bound - 1) <= -1e-12) - 1

    def count_bound(self, confidence: float = 0.99) -> int:
        """With probability `confidence` *each* released count is at most this far from the true one.

        Proof: ``proofs/noisy_order.md``, claim 4; of Gaussian noise, claim 7.
        """
        failure = 1.0 - probability(confidence, "confidence")
        return self.noise.one_sided_bound(failure / (self.n_candidates + self.k))

    def select(self, counts: npt.ArrayLike, *, rarest: bool = False) -> NoisyCounts:
        """Draw the `k` candidates, best first, with their noisy counts, at the cost of `epsilon`.

        Args:
            counts: shape ``(n_candidates,)``, whole numbers.
            rarest: the lowest counts are best.

        Of equal noisy counts, which may be negative, the earlier candidate is the better one.

        Raises:
            InvalidDataError: `counts` are not whole numbers, or not one for each candidate.
        """
        boolean(rarest, "rarest")
        numbers = whole_values(counts)
        if numbers.size != self.n_candidates:
            raise InvalidDataError("counts", Shown(f"<{numbers.size} of them>"), f"{self.n_candidates} counts")
        noisy = np.clip(self.noise.draw_many(numbers), -_MOST, _MOST)
        keys = noisy if rarest else -noisy
        worst = np.partition(keys, self.k - 1)[self.k - 1]
        among = np.flatnonzero(keys <= worst)
        positions = among[np.argsort(keys[among], kind="stable")][: self.k]
        return NoisyCounts(positions, noisy[positions])


class OrderNoise(NamedTuple):
    """Standard deviations of the noise that decides the order: see `order_noise`.

    Attributes:
        once: of geometric noise once on all counts.
        each: of the noise for the order alone, at the epsilon that is left for it.
        gaussian: of discrete Gaussian noise once on all counts; None without a delta, or if that cannot be planned.
    """

    once: float
    each: float
    gaussian: float | None = None

    @property
    def is_once(self) -> bool:
        """Whether noise is added once, of either kind."""
        return self.is_gaussian or self.once < self.each

    @property
    def is_gaussian(self) -> bool:
        """Whether discrete Gaussian noise is added once. Only then the delta is spent on noise once."""
        return self.gaussian is not None and self.gaussian < min(self.once, self.each)


@explained
def order_noise(
    n_candidates: int,
    k: int,
    *,
    epsilon: float,
    max_values_per_unit: int | None = None,
    delta: float = 0.0,
    with_counts: bool = False,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
) -> OrderNoise:
    r"""The rule that decides, from public arguments, how the `k` most common of `n_candidates` are selected.

    The smallest standard deviation decides. Noise *once* on all counts has the deviation
    :math:`\sqrt 2 \, L / \varepsilon` (`max_values_per_unit` = L; twice that if units are replaced), whatever `k` is.
    The noise for the order alone (`dpselect.mechanisms.plan_top_k`) grows with `k`, and if counts are wanted, only half
    of epsilon is left for it. With a delta, discrete Gaussian noise once on all counts grows only with the root of L.

    Args:
        max_values_per_unit: for how many candidates one unit counts; None for all of them.
        delta: in total, from 0 to below 1, as for `dpselect.top_k`.

    Proof: ``proofs/noisy_order.md``; each plan is private, so the rule cannot be wrong, only more or less accurate.

    >>> order_noise(1000, 10, epsilon=1.0, max_values_per_unit=1)
    OrderNoise(once=1.4142135623730951, each=10.0, gaussian=None)
    """
    epsilon = positive_epsilon(epsilon)
    relation = neighbouring_relation(neighbours)
    with_counts = boolean(with_counts, "with_counts")
    n, k, most = _sizes(n_candidates, k, n_candidates if max_values_per_unit is None else max_values_per_unit)
    plan = plan_top_k(
        n,
        k,
        epsilon=left_for_selection(epsilon) if with_counts else epsilon,
        delta=delta,
        sensitivity=1.0,
        monotonic=relation is Neighbours.ADD_REMOVE,
        neighbours=relation,
    )
    # Of Gumbel noise, and of exponential noise, of this scale.
    of_one = math.pi / math.sqrt(6.0) if isinstance(plan.mechanism, ExponentialMechanism) else 1.0
    moved = relation.changed(most, n)
    noise = _if_possible(DiscreteGaussianMechanism, epsilon=epsilon, delta=delta, squared_sensitivity=moved)
    return OrderNoise(
        once=math.sqrt(2.0) * moved / epsilon,
        each=of_one * plan.mechanism.scale,
        gaussian=None if noise is None else noise.scale,
    )


def left_for_selection(epsilon: float) -> float:
    """The part of epsilon for a selection whose counts are paid for with the other half."""
    return positive_epsilon(epsilon) / 2.0


def _sizes(n_candidates: int, k: int, max_values_per_unit: object) -> tuple[int, int, int]:
    n = positive_count(n_candidates, "n_candidates")
    what = "the number of candidates"
    k = positive_count(k, "k", at_most=n, at_most_what=what)
    return n, k, positive_count(max_values_per_unit, "max_values_per_unit", at_most=n, at_most_what=what)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdCounts(UnlistedValues):
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

    threshold: int = field(init=False, compare=False)
    noise: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """The threshold is the lowest that values of one unit alone reach with the probability delta at most."""
        UnlistedValues.__post_init__(self)
        noise, delta = self._noise()
        threshold = 1 + noise.first_noise(divided(self.epsilon, delta, self.moved)[1])
        if threshold >= LARGEST_COUNT // 2:
            raise InvalidParameterError("epsilon", self.epsilon, "a number large enough for a count to be released")
        self._set(threshold=threshold, noise=noise)

    def _noise(self) -> tuple[GeometricMechanism | DiscreteGaussianMechanism, float]:
        """That of each count, and the delta that is left for the threshold."""
        noise = GeometricMechanism(epsilon=self.epsilon, sensitivity=self.moved, neighbours=self.neighbours)
        return noise, self.delta

    def probability(self, count: int) -> float:
        counted = min(whole_number(count, "count"), LARGEST_COUNT)  # for a larger one this is drawn, too
        return self.noise.reaches(self.threshold - counted) if counted > 0 else 0.0

    def count_needed(self, chance: float) -> int:
        # For more than one half by a verified bound, which with Gaussian noise is a few percent too large.
        least = Fraction(probability(chance, "chance"))
        return self.threshold - 1 + (self.noise.first_noise(1 - least) if least > Fraction(1, 2) else 1)

    def draw(self, counts: ScoresLike) -> NoisyCounts:
        """Release the noisy counts that reach the threshold, in increasing order of positions: see `select`."""
        numbers = whole_values(counts)
        (occurring,) = np.nonzero(numbers > 0)
        noisy = self.noise.draw_many(numbers[occurring])
        reached = noisy >= self.threshold
        return NoisyCounts(occurring[reached], noisy[reached])

    def select(self, counts: ScoresLike) -> IntArray:
        return self.draw(counts).positions


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianThresholdCounts(ThresholdCounts):
    r"""Adds discrete Gaussian noise to the count of each value that occurs, and releases those from a threshold on.

    The noise X is that of an :math:`(\varepsilon, \delta/2)`-private vector whose squared sensitivity is the t of
    `ThresholdCounts`. The threshold, with a verified upper bound in place of the probability, is

    .. math:: \tau = 1 + \min\{j \ge 1: \Pr[X \ge j] \le 1 - (1 - \delta/2)^{1/t}\}.

    The noise grows with the root of t; that of `ThresholdCounts` grows with t, and is smaller for t of one or two.

    Proof: ``proofs/unknown_candidates.md``, claim 4. Source: Gopi et al. (2020), with discrete noise.

    >>> GaussianThresholdCounts(epsilon=1.0, delta=1e-6, max_values_per_unit=10).threshold
    81
    """

    def _noise(self) -> tuple[GeometricMechanism | DiscreteGaussianMechanism, float]:
        half = self.delta / 2.0
        if 2.0 * half > self.delta or half == 0.0:  # beside the smallest doubles halves are rounded
            raise InvalidParameterError("delta", self.delta, "a number large enough to be halved")
        noise = DiscreteGaussianMechanism(
            epsilon=self.epsilon, delta=half, squared_sensitivity=self.moved, neighbours=self.neighbours
        )
        return noise, half


_WAYS = {  # what certificates state of each way, chosen or not. The words are part of their format
    "partition": ("each value is named by a coin", "coins"),
    "geometric": ("geometric noise is added to all counts", "geometric noise"),
    "gaussian": ("Gaussian noise is added to all counts", "Gaussian noise"),
    "stop": ("a stop candidate ends the answer", "a stop candidate"),
}


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

    Proof: ``proofs/unknown_candidates.md``, ``proofs/stop_candidate.md``: each is private, so the rule cannot be wrong.
    """
    k = positive_count(k, "k", at_most=MOST_ANSWERS)
    price: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "max_values_per_unit": max_values_per_unit}
    price["neighbours"] = neighbours
    geometric, gaussian = ThresholdCounts(**price), _if_possible(GaussianThresholdCounts, **price)
    stop = None if boolean(with_counts, "with_counts") else _if_possible(StopCandidate, k=k, **price)
    return _fewest("released", geometric=geometric, gaussian=gaussian, stop=stop)


@explained
def naming_noise(
    *, epsilon: float, delta: float, max_values_per_unit: int = 1, neighbours: Neighbours | str = Neighbours.ADD_REMOVE
) -> UnlistedNoise:
    """The public rule by which the values that occur are named.

    Chosen is what needs fewer units to name a value with probability one half: `PartitionSelection`, or from about four
    values of a unit on `GaussianThresholdCounts`.

    Proof: ``proofs/partition_selection.md`` and ``proofs/unknown_candidates.md``; both are private.
    """
    price: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "max_values_per_unit": max_values_per_unit}
    price["neighbours"] = neighbours
    coins = PartitionSelection(**price)
    return _fewest("named", partition=coins, gaussian=_if_possible(GaussianThresholdCounts, **price))


def _if_possible(kind: Callable[..., _Made], **price: Any) -> _Made | None:
    """None where epsilon or delta is too small for it, or `k` too large."""
    try:
        return kind(**price)
    except InvalidParameterError:
        return None


def _fewest(done: str, **plans: UnlistedValues | None) -> UnlistedNoise:
    needed = {name: plan.count_needed(0.5) for name, plan in plans.items() if plan is not None}
    chosen = min(needed, key=needed.__getitem__)
    others = [f"with {_WAYS[name][1]} at {at:,}" for name, at in needed.items() if name != chosen]
    beside = f" ({', '.join(others)})" if others else ""
    reached = f"a value is then {done} with probability one half at {needed[chosen]:,} units{beside}"
    return UnlistedNoise(needed, chosen, f"{_WAYS[chosen][0]}, because {reached}", plans[chosen])
