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

from dpselect.accounting.events import BoundedRangeEvent, LogisticProfileEvent, SingleEvent
from dpselect.accounting.tight import loss_masses
from dpselect.errors import MissingExtraError

_ROUNDING = 2.0**-40
"""Margin in delta for the transform, which rounds each mass by about 2^-53 of the largest, times a logarithm."""

_MOST_PLACES = 10**6
_STEPS = 64


class LossDistribution:
    """The loss of everything that ran, as a dp-accounting distribution.

    Raises:
        MissingExtraError: the extra ``pld`` is not installed.
    """

    def __init__(self, counts: Mapping[SingleEvent, int]) -> None:
        try:
            distributions: Any = import_module("dp_accounting.pld.privacy_loss_distribution")
        except ImportError:
            raise MissingExtraError("privacy loss distributions", "pld") from None
        basic = float(sum((Fraction(event.epsilon) * count for event, count in counts.items()), Fraction(0)))
        step = max(min(event.epsilon for event in counts) / _STEPS, basic / _MOST_PLACES)
        self._total: Any = None
        for event, count in counts.items():
            steps = math.ceil(Fraction(event.epsilon) / Fraction(step))
            pair = LogisticProfileEvent(epsilon=event.epsilon) if isinstance(event, BoundedRangeEvent) else event
            masses = loss_masses(pair, steps=steps, step=step)
            places = np.arange(-steps, steps + 1)
            by_place = {int(place): float(mass) for place, mass in zip(places, masses, strict=True) if mass > 0.0}
            one = distributions.PrivacyLossDistribution.create_from_rounded_probability(by_place, 0.0, step)
            many = one.self_compose(count) if count > 1 else one
            self._total = many if self._total is None else self._total.compose(many)

    def epsilon(self, delta: float) -> float:
        """Epsilon at `delta`; infinite below the room for rounding."""
        left = delta - _ROUNDING
        return float(self._total.get_epsilon_for_delta(left)) * (1.0 + _ROUNDING) if left > 0.0 else math.inf

    def delta(self, epsilon: float) -> float:
        """Delta at `epsilon`."""
        return min(1.0, float(self._total.get_delta_for_epsilon(epsilon)) * (1.0 + _ROUNDING) + _ROUNDING)
