"""The package dp-accounting (the extra ``pld``): its Fourier transform for very many runs, and its events.

The convolutions are its own; the pairs are ours, already split onto a grid from above (`dpselect.accounting.tight`),
and a bounded-range run counts as its logistic pair. Proof of the pairs: ``proofs/composition.md``, claims 4 and 6. The
transform's rounding has a margin, not a bound. Events are exchanged by the table in ``docs/events.md``, never cheaper.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from importlib import import_module
from typing import Any, cast

import numpy as np

from dpselect.accounting import events as ours
from dpselect.accounting.events import basic_of, expected_runs
from dpselect.accounting.rounding import product_up
from dpselect.accounting.tight import loss_masses
from dpselect.errors import InvalidEventError, MissingExtraError, Shown

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
    """The loss of everything that ran, as a dp-accounting distribution."""

    def __init__(self, counts: Mapping[ours.SingleEvent, int]) -> None:
        basic = float(basic_of(counts))
        step = max(min(event.epsilon for event in counts) / _STEPS, basic / _MOST_PLACES)
        directions = (False, True) if any(isinstance(event, ours.LossIntervalEvent) for event in counts) else (False,)
        self._totals = [self._total(counts, step, is_mirrored=each) for each in directions]

    def _total(self, counts: Mapping[ours.SingleEvent, int], step: float, *, is_mirrored: bool) -> Any:
        """Everything that ran, in one direction; only a `LossIntervalEvent` has one."""
        total, distributions = cast(Any, None), package("pld.privacy_loss_distribution")
        for event, count in counts.items():
            steps = math.ceil(Fraction(event.epsilon) / Fraction(step))
            pair = event
            if isinstance(event, ours.BoundedRangeEvent):
                pair = ours.LogisticProfileEvent(epsilon=event.epsilon)
            elif is_mirrored and isinstance(event, ours.LossIntervalEvent):
                pair = event.mirrored
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


_UP, _DOWN = 1.0 + 2.0**-46, 1.0 - 2.0**-46


def to_dp_accounting(event: ours.Event | ours.Run) -> Any:
    """`event` as a ``dp_accounting.DpEvent``.

    Raises:
        MissingExtraError: the extra ``pld`` is not installed.
        InvalidEventError: it has a delta of its own.

    >>> from_dp_accounting(to_dp_accounting(ours.PureEvent(epsilon=0.1)))
    PureEvent(epsilon=0.1)
    """
    if not isinstance(cast(object, event), ours.Event | ours.Run):
        raise InvalidEventError("event", event, "an event, such as mechanism.event, or a run")
    theirs = package("dp_event")
    mechanism, event = (event.mechanism, event.event) if isinstance(event, ours.Run) else ("", event)
    match event:
        case ours.SequenceEvent():
            return theirs.ComposedDpEvent([to_dp_accounting(each) for each in event.events])
        case ours.ComposedEvent():
            return theirs.SelfComposedDpEvent(to_dp_accounting(event.event), event.count)
        case ours.PrivateCandidatesEvent():
            small = math.exp(-event.run_epsilon)
            run = theirs.RandomizedResponseDpEvent(2.0 * small / (1.0 + small) * _DOWN, 2)
            return theirs.RepeatAndSelectDpEvent(run, expected_runs(event.eta, event.gamma) * _UP, event.eta)
        case ours.BoundedRangeEvent() if hasattr(theirs, "ExponentialMechanismDpEvent"):
            return theirs.ExponentialMechanismDpEvent(event.epsilon)
        case ours.LaplaceProfileEvent() if mechanism == "PermuteAndFlip" and hasattr(theirs, f"{mechanism}DpEvent"):
            return theirs.PermuteAndFlipDpEvent(event.epsilon)
        case ours.LaplaceProfileEvent():
            return theirs.LaplaceDpEvent(_DOWN / event.epsilon)
        case _ if event.delta:
            raise InvalidEventError("event", Shown("one with a delta"), "an event that dp-accounting knows")
        case _:
            return theirs.DiscreteLaplaceDpEvent(event.epsilon, 1)  # costs as much as anything pure


def from_dp_accounting(event: Any) -> ours.Event:
    """A ``dp_accounting.DpEvent`` as an event; `InvalidEventError` if it is not known to be pure, as Gaussian noise.

    >>> from_dp_accounting(to_dp_accounting(ours.LaplaceProfileEvent(epsilon=0.5))).epsilon >= 0.5
    True
    """
    match type(event).__name__:
        case "ComposedDpEvent":
            return ours.SequenceEvent(events=tuple(map(from_dp_accounting, event.events)))
        case "SelfComposedDpEvent":
            return ours.ComposedEvent(event=from_dp_accounting(event.event), count=event.count)
        case "RepeatAndSelectDpEvent" if (run := from_dp_accounting(event.event)).delta == 0.0:
            low, high = 2.0**-50, 1.0 - 2.0**-50
            if not expected_runs(event.shape, low) > event.mean * _UP:
                raise InvalidEventError("event", Shown("<too many runs>"), "a mean of at most 2^50 runs, about")
            for _ in range(200):
                middle = math.sqrt(low * high) if high < 0.1 else low + (high - low) / 2.0
                low, high = (middle, high) if expected_runs(event.shape, middle) > event.mean * _UP else (low, middle)
            return ours.PrivateCandidatesEvent(epsilon=run.epsilon, eta=event.shape, gamma=low)
        case "ExponentialMechanismDpEvent" | "PermuteAndFlipDpEvent" as name:
            kind = ours.BoundedRangeEvent if name == "ExponentialMechanismDpEvent" else ours.LaplaceProfileEvent
            return kind(epsilon=event.epsilon)
        case "LaplaceDpEvent":
            return ours.LaplaceProfileEvent(epsilon=_UP / max(event.noise_multiplier, 5e-324))
        case "DiscreteLaplaceDpEvent":
            return ours.PureEvent(epsilon=product_up(event.noise_parameter, event.sensitivity))
        case "RandomizedResponseDpEvent" if 0.0 < event.noise_parameter < 1.0:
            odds = (1.0 - event.noise_parameter) * event.num_buckets / event.noise_parameter
            return ours.PureEvent(epsilon=math.log1p(odds * _UP) * _UP)
        case name:
            raise InvalidEventError("event", Shown(name), "an event of dp-accounting that is known to be pure")
