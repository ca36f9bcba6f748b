"""Events as those of the package dp-accounting, and back, never at less cost: the table is in ``docs/events.md``."""

from __future__ import annotations

import math
from typing import Any

from dpselect.accounting import events as ours
from dpselect.accounting.candidates import expected_runs
from dpselect.accounting.loss_distribution import package
from dpselect.accounting.rounding import product_up
from dpselect.errors import InvalidEventError, Shown

_UP, _DOWN = 1.0 + 2.0**-46, 1.0 - 2.0**-46


def to_dp_accounting(event: ours.Event | ours.Run) -> Any:
    """`event` as a ``dp_accounting.DpEvent``.

    Raises:
        MissingExtraError: the extra ``pld`` is not installed.
        InvalidEventError: it has a delta of its own.

    >>> from_dp_accounting(to_dp_accounting(ours.PureEvent(epsilon=0.1)))
    PureEvent(epsilon=0.1)
    """
    theirs = package("dp_event")
    mechanism, event = (event.mechanism, event.event) if isinstance(event, ours.Run) else ("", event)
    match event:
        case ours.SequenceEvent():
            return theirs.ComposedDpEvent([to_dp_accounting(each) for each in event.events])
        case ours.ComposedEvent() | ours.NonAdaptiveEvent():
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
