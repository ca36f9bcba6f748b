"""Privacy loss distributions by fast Fourier transform, for very many runs: the extra ``pld``.

The convolutions are those of the package dp-accounting; the pairs are ours, already split onto a grid from above
(`dpselect.accounting.tight`), and a bounded-range run counts as its logistic pair. The package's own event for
the exponential mechanism is never used.

Proof of the pairs: ``proofs/composition.md``, claims 4 and 6. The transform's rounding has a margin, not a bound.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np

from dpselect.accounting.events import BoundedRangeEvent, LogisticProfileEvent, LossIntervalEvent, SingleEvent
from dpselect.accounting.tight import loss_masses
from dpselect.errors import MissingExtraError

_ROUNDING = 2.0**-40
"""Margin in delta for the transform, which rounds each mass by about 2^-53 of the largest, times a logarithm."""

_MOST_PLACES = 10**6
_STEPS = 64


def package(module: str) -> Any:
    """A module of dp-accounting."""
    try:
        return import_module(f"dp_accounting.{module}")
    except ImportError:
        raise MissingExtraError("dp-accounting", "pld") from None


class LossDistribution:
    """The loss of everything that ran, as a dp-accounting distribution.

    Raises:
        MissingExtraError: the extra ``pld`` is not installed.
    """

    def __init__(self, counts: Mapping[SingleEvent, int]) -> None:
        distributions = package("pld.privacy_loss_distribution")
        basic = float(sum((Fraction(event.epsilon) * count for event, count in counts.items()), Fraction(0)))
        step = max(min(event.epsilon for event in counts) / _STEPS, basic / _MOST_PLACES)
        directions = (False, True) if any(isinstance(event, LossIntervalEvent) for event in counts) else (False,)
        self._totals = [self._total(counts, distributions, step, is_mirrored=each) for each in directions]

    def _total(self, counts: Mapping[SingleEvent, int], distributions: Any, step: float, *, is_mirrored: bool) -> Any:
        """Everything that ran, in one direction; only a `LossIntervalEvent` has one."""
        total: Any = None
        for event, count in counts.items():
            steps = math.ceil(Fraction(event.epsilon) / Fraction(step))
            pair = LogisticProfileEvent(epsilon=event.epsilon) if isinstance(event, BoundedRangeEvent) else event
            if is_mirrored and isinstance(pair, LossIntervalEvent):
                pair = pair.mirrored
            masses = loss_masses(pair, steps=steps, step=step)
            places = np.arange(-steps, steps + 1)
            by_place = {int(place): float(mass) for place, mass in zip(places, masses, strict=True) if mass > 0.0}
            one = distributions.PrivacyLossDistribution.create_from_rounded_probability(by_place, 0.0, step)
            many = one.self_compose(count) if count > 1 else one
            total = many if total is None else total.compose(many)
        return total

    def epsilon(self, delta: float) -> float:
        """Epsilon at `delta`; infinite below the room for rounding."""
        left = delta - _ROUNDING
        if left <= 0.0:
            return math.inf
        return max(float(total.get_epsilon_for_delta(left)) for total in self._totals) * (1.0 + _ROUNDING)

    def delta(self, epsilon: float) -> float:
        """Delta at `epsilon`."""
        largest = max(float(total.get_delta_for_epsilon(epsilon)) for total in self._totals)
        return min(1.0, largest * (1.0 + _ROUNDING) + _ROUNDING)
