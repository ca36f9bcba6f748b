"""The most common candidates by noise once on all counts, from which their order and their counts are read."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dpselect.accounting import Event
from dpselect.checks import boolean, delta_below_one, positive_count, positive_epsilon, probability
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms.exponential import ExponentialMechanism
from dpselect.mechanisms.mechanism import MechanismValue, explained
from dpselect.mechanisms.noise import DiscreteGaussianMechanism, GeometricMechanism
from dpselect.mechanisms.numbers import first_count
from dpselect.mechanisms.top_k import plan_top_k
from dpselect.privacy import Neighbours, neighbouring_relation

_MOST = 2**62  # noisy counts are moved between the negative of this and this, so that their order fits 64 bits


class RankedCounts(NamedTuple):
    """Positions of the selected candidates, best first, and their noisy counts in the same order."""

    positions: list[int]
    counts: list[int]


@dataclass(frozen=True, slots=True)
class NoisyOrder(MechanismValue):
    r"""How `k` of `n_candidates` are selected by noisy counts, and what it costs, counts included; holds no data.

    One unit counts for at most `max_values_per_unit` candidates. So two-sided geometric noise of the scale
    ``max_values_per_unit / epsilon`` on each count is enough for *all* of them together, order and counts included.
    With a delta, discrete Gaussian noise, which grows only with the root of `max_values_per_unit`.

    Args:
        n_candidates: number of counts.
        k: number to select.
        delta: with one above 0, the noise is discrete Gaussian.

    Proof: ``proofs/noisy_order.md``.

    >>> order = NoisyOrder(16, 3, epsilon=0.5, max_values_per_unit=1)
    >>> order.noise.scale, order.error_bound(), order.count_bound()
    (2.0, 19, 14)
    >>> order.select([900, 20, 1800, 30] + [0] * 12).positions[:2]
    [2, 0]
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

    def select(self, counts: npt.ArrayLike, *, rarest: bool = False) -> RankedCounts:
        """Draw the `k` candidates, best first, with their noisy counts, at the cost of `epsilon`.

        Args:
            counts: shape ``(n_candidates,)``, whole numbers.
            rarest: the lowest counts are best.

        Of equal noisy counts, which may be negative, the earlier candidate is the better one.

        Raises:
            InvalidDataError: `counts` are not whole numbers.
        """
        boolean(rarest, "rarest")
        noisy = np.clip(self.noise.draw_many(counts), -_MOST, _MOST)
        keys = noisy if rarest else -noisy
        worst = np.partition(keys, self.k - 1)[self.k - 1]
        among = np.flatnonzero(keys <= worst)
        positions = among[np.argsort(keys[among], kind="stable")][: self.k]
        return RankedCounts(positions.tolist(), noisy[positions].tolist())


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
        k: number to select.
        max_values_per_unit: for how many candidates one unit counts; None for all of them.
        delta: in total, from 0 to below 1, as for `dpselect.top_k`.
        with_counts: whether the number of units with each selected candidate is wanted, too.

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
    return OrderNoise(
        once=math.sqrt(2.0) * moved / epsilon,
        each=of_one * plan.mechanism.scale,
        gaussian=_gaussian_scale(epsilon, delta, moved) if delta_below_one(delta) else None,
    )


@lru_cache(maxsize=256)
def _gaussian_scale(epsilon: float, delta: float, moved: int) -> float | None:
    """An upper bound of the standard deviation of Gaussian noise; None where epsilon is too small for it."""
    try:
        return DiscreteGaussianMechanism(epsilon=epsilon, delta=delta, squared_sensitivity=moved).scale
    except InvalidParameterError:
        return None


def left_for_selection(epsilon: float) -> float:
    """The part of epsilon for a selection whose counts are paid for with the other half."""
    return positive_epsilon(epsilon) / 2.0


def _sizes(n_candidates: int, k: int, max_values_per_unit: object) -> tuple[int, int, int]:
    n = positive_count(n_candidates, "n_candidates")
    what = "the number of candidates"
    k = positive_count(k, "k", at_most=n, at_most_what=what)
    return n, k, positive_count(max_values_per_unit, "max_values_per_unit", at_most=n, at_most_what=what)
