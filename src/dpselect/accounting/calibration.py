"""The mechanism that fits a total: the largest epsilon that each of several runs may spend."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeVar, cast

from dpselect.accounting.composition import TIGHT_WORK, compose
from dpselect.accounting.events import ComposedEvent, Event
from dpselect.accounting.renyi import largest_fitting
from dpselect.accounting.rounding import quotient_down
from dpselect.checks import boolean, delta_below_one, function, positive_count, positive_epsilon
from dpselect.errors import InvalidParameterError


class Emitting(Protocol):
    """Something that has an event."""

    @property
    def event(self) -> Event: ...


M = TypeVar("M", bound=Emitting)

_CLOSE = 2.0**-30
_CLOSE_TIGHT = 2.0**-15
_SEARCH_WORK = TIGHT_WORK / 20.0


def calibrate(
    mechanism: Callable[..., M],
    *,
    count: int,
    epsilon: float,
    delta: float = 0.0,
    tight: bool = False,
    **arguments: Any,
) -> M:
    """The mechanism with the largest epsilon that keeps `count` runs within (`epsilon`, `delta`) together.

    The runs may be chosen in view of earlier results; their number and epsilon are fixed here.

    Args:
        mechanism: its class, such as `dpselect.ExponentialMechanism`: called with ``epsilon=`` and `arguments`, it
            returns an object with an ``event``.
        count: number of runs, >= 1.
        epsilon: total, > 0.
        delta: total, from 0 to below 1.
        tight: also compose by the exact recursion: about a second, for a few percent more epsilon.
        arguments: all other arguments of the mechanism, such as ``sensitivity=``.

    Returns:
        The mechanism; ``compose([it.event] * count, tight=tight).epsilon(delta)`` is at most `epsilon`.

    Raises:
        InvalidParameterError: an argument is out of range, `mechanism` returns nothing with an event, or no epsilon is
            small enough.

    Proof: ``proofs/composition.md``.

    >>> import dpselect as dps
    >>> mechanism = calibrate(dps.ExponentialMechanism, count=10, epsilon=1.0, delta=1e-6, sensitivity=1.0)
    >>> round(mechanism.epsilon, 3)
    0.15
    >>> calibrate(dps.PermuteAndFlip, count=4, epsilon=1.0, sensitivity=1.0).epsilon
    0.25
    """
    count = positive_count(count, "count", at_most=sys.maxsize)
    epsilon, delta = positive_epsilon(epsilon), delta_below_one(delta)
    boolean(tight, "tight")
    function(mechanism, "mechanism", expected="a class of mechanisms with an event")
    basic = quotient_down(epsilon, count)
    if basic == 0.0:
        raise InvalidParameterError("epsilon", epsilon, f"a number large enough to be divided by {count}")

    def at(each: float) -> M:
        made = mechanism(epsilon=each, **arguments)
        if not isinstance(getattr(made, "event", None), Event):
            raise InvalidParameterError("mechanism", cast(object, mechanism), "a class of mechanisms with an event")
        return made

    def total(each: float, *, work: float = 0.0) -> float:
        event = ComposedEvent(event=at(each).event, count=count)
        return compose([event], tight=work > 0.0, work=work).epsilon(delta)

    if total(basic) > epsilon:
        expected = "a delta of at least the mechanism's own"
        raise InvalidParameterError("delta", delta, f"{expected}, {count} times")
    if delta == 0.0:
        return at(basic)
    each = max(basic, largest_fitting(total, epsilon, start=basic, close=_CLOSE))
    if tight:
        tried = largest_fitting(partial(total, work=_SEARCH_WORK), epsilon, start=each, close=_CLOSE_TIGHT)
        each = max(each, tried)
        while total(each, work=TIGHT_WORK) > epsilon:  # a finer grid is usually not worse
            each *= 1.0 - _CLOSE_TIGHT
    return at(each)
