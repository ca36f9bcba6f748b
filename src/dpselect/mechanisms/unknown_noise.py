"""The public rules that choose how values without a public list are released."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar, TypeVar

from dpselect.checks import boolean, positive_count, positive_epsilon
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms.explained import MOST_VALUES_PER_UNIT, explained
from dpselect.mechanisms.partition_selection import PartitionSelection, UnlistedValues, open_delta
from dpselect.mechanisms.stop_candidate import MOST_ANSWERS, StopCandidate
from dpselect.mechanisms.threshold_counts import GaussianThresholdCounts, ThresholdCounts
from dpselect.privacy import Neighbours, neighbouring_relation

UnknownMechanism = ThresholdCounts | GaussianThresholdCounts | StopCandidate
"""What selects the most common values without a list."""

NamingMechanism = PartitionSelection | GaussianThresholdCounts
"""What names the values that occur."""


class _UnitsNeeded:
    """The numbers of units from which on each way releases a value with probability one half."""

    __slots__ = ()
    _words: ClassVar[dict[str, tuple[str, str]]]
    _done: ClassVar[str]

    def _needed(self) -> dict[str, int]:
        return {name: number for name in self._words if (number := getattr(self, name)) is not None}

    @property
    def chosen(self) -> str:
        """The field with the smallest number; of equal ones the first, as it has counts, or the simpler noise."""
        needed = self._needed()
        return min(needed, key=needed.__getitem__)

    @property
    def rule(self) -> str:
        """The choice and its reason, as certificates state them. The words are part of their format."""
        needed, chosen = self._needed(), self.chosen
        others = [f"with {self._words[name][1]} at {at:,}" for name, at in needed.items() if name != chosen]
        compared = f" ({', '.join(others)})" if others else ""
        reached = f"a value is then {self._done} with probability one half at {needed[chosen]:,} units{compared}"
        return f"{self._words[chosen][0]}, because {reached}"


@dataclass(frozen=True, slots=True)
class UnknownNoise(_UnitsNeeded):
    """Numbers of units from which on a value is released with probability one half: see `unknown_noise`.

    Attributes:
        geometric: with two-sided geometric noise on all counts, and a threshold.
        gaussian: with discrete Gaussian noise on all counts, and a threshold; None if that cannot be planned.
        stop: with a stop candidate, without counts; None if counts are wanted, or if it cannot be planned.
    """

    geometric: int
    gaussian: int | None = None
    stop: int | None = None

    _done = "released"
    _words = {  # noqa: RUF012 - of the class
        "geometric": ("geometric noise is added to all counts", "geometric noise"),
        "gaussian": ("Gaussian noise is added to all counts", "Gaussian noise"),
        "stop": ("a stop candidate ends the answer", "a stop candidate"),
    }


@dataclass(frozen=True, slots=True)
class NamingNoise(_UnitsNeeded):
    """Numbers of units from which on a value is named with probability one half: see `naming_noise`.

    Attributes:
        partition: with optimal partition selection, a coin for each value.
        gaussian: with discrete Gaussian noise on all counts, and a threshold; None if that cannot be planned.
    """

    partition: int
    gaussian: int | None = None

    _done = "named"
    _words = {  # noqa: RUF012 - of the class
        "partition": ("each value is named by a coin", "coins"),
        "gaussian": ("Gaussian noise is added to all counts", "Gaussian noise"),
    }


@explained
def unknown_noise(
    k: int,
    *,
    epsilon: float,
    delta: float,
    max_values_per_unit: int = 1,
    with_counts: bool = False,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
) -> UnknownNoise:
    """The rule that decides, from public arguments, how the `k` most common values without a list are selected.

    Chosen is what needs the fewest units to release a value with probability one half. Noise on all counts does not
    depend on `k`. Where a unit has one or two values, geometric noise needs the fewest units; where it has more,
    Gaussian noise, which grows only with the root of that number. What the stop candidate needs grows with `k`, but
    only with the logarithm of that number: it is best for a small `k` among many values of a unit. It has no counts.

    Args:
        k: the largest number of values, at most 10,000,000.
        epsilon: in total, > 0.
        delta: in total, strictly between 0 and 1.
        max_values_per_unit: for how many values one unit counts.
        with_counts: whether the number of units with each value is wanted, too.

    Proof: ``proofs/unknown_candidates.md`` and ``proofs/stop_candidate.md``; each of the three is private, so the rule
    cannot be wrong, only more or less accurate.

    >>> unknown_noise(10, epsilon=1.0, delta=1e-6)
    UnknownNoise(geometric=15, gaussian=25, stop=99)
    >>> [unknown_noise(10, epsilon=1.0, delta=1e-6, max_values_per_unit=most).chosen for most in (1, 10, 100)]
    ['geometric', 'gaussian', 'stop']
    """
    with_counts = boolean(with_counts, "with_counts")
    most = max_values_per_unit
    return plan_unknown(
        k, epsilon=epsilon, delta=delta, max_values_per_unit=most, with_counts=with_counts, neighbours=neighbours
    )[0]


@explained
def naming_noise(
    *,
    epsilon: float,
    delta: float,
    max_values_per_unit: int = 1,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
) -> NamingNoise:
    """The rule that decides, from public arguments, how the values that occur are named.

    Chosen is what needs fewer units to name a value with probability one half. Of rules that divide epsilon among the
    values of a unit, optimal partition selection needs the fewest. From about four values on, Gaussian noise, which
    grows only with the root of their number, needs fewer still.

    Args:
        epsilon, delta, max_values_per_unit, neighbours: see `unknown_noise`.

    Proof: ``proofs/partition_selection.md`` and ``proofs/unknown_candidates.md``; both are private.

    >>> naming_noise(epsilon=1.0, delta=1e-6)
    NamingNoise(partition=14, gaussian=25)
    >>> naming_noise(epsilon=1.0, delta=1e-6, max_values_per_unit=10).chosen
    'gaussian'
    """
    most = max_values_per_unit
    return plan_naming(epsilon=epsilon, delta=delta, max_values_per_unit=most, neighbours=neighbours)[0]


def plan_unknown(k: int, *, with_counts: bool, **price: Any) -> tuple[UnknownNoise, UnknownMechanism]:
    """`unknown_noise`, and the mechanism that it chooses."""
    k = positive_count(k, "k", at_most=MOST_ANSWERS)
    return _planned_top(k, *_checked(**price), with_counts)


def plan_naming(**price: Any) -> tuple[NamingNoise, NamingMechanism]:
    """`naming_noise`, and the mechanism that it chooses."""
    return _planned_naming(*_checked(**price))


def _checked(
    epsilon: object, delta: object, max_values_per_unit: object, neighbours: Neighbours | str
) -> tuple[float, float, int, Neighbours]:
    most = positive_count(max_values_per_unit, "max_values_per_unit", at_most=MOST_VALUES_PER_UNIT)
    return positive_epsilon(epsilon), open_delta(delta), most, neighbouring_relation(neighbours)


@lru_cache(maxsize=256)
def _planned_top(
    k: int, epsilon: float, delta: float, most: int, neighbours: Neighbours, with_counts: bool
) -> tuple[UnknownNoise, UnknownMechanism]:
    price: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "max_values_per_unit": most, "neighbours": neighbours}
    stop = None if with_counts else _if_possible(partial(StopCandidate, k=k, **price))
    return _chosen(UnknownNoise, geometric=ThresholdCounts(**price), gaussian=_gaussian(price), stop=stop)


@lru_cache(maxsize=256)
def _planned_naming(
    epsilon: float, delta: float, most: int, neighbours: Neighbours
) -> tuple[NamingNoise, NamingMechanism]:
    price: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "max_values_per_unit": most, "neighbours": neighbours}
    return _chosen(NamingNoise, partition=PartitionSelection(**price), gaussian=_gaussian(price))


def _gaussian(price: dict[str, Any]) -> GaussianThresholdCounts | None:
    return _if_possible(partial(GaussianThresholdCounts, **price))


_Needed = TypeVar("_Needed", UnknownNoise, NamingNoise)
_Plan = TypeVar("_Plan", bound=UnlistedValues)


def _chosen(kind: type[_Needed], **plans: UnlistedValues | None) -> tuple[_Needed, Any]:
    """What each plan needs, and the plan that needs the least."""
    found = kind(**{name: None if plan is None else plan.count_needed(0.5) for name, plan in plans.items()})  # type: ignore[arg-type]
    return found, plans[found.chosen]


def _if_possible(plan: Callable[[], _Plan]) -> _Plan | None:
    """None where epsilon or delta is too small for it, or `k` too large."""
    try:
        return plan()
    except InvalidParameterError:
        return None
