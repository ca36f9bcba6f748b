"""The joint cost of many events: the smallest of all bounds proved for them; and the mechanism that fits a total."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from typing import Any, Literal, NamedTuple, TypeVar, cast

from dpselect import checks
from dpselect.accounting.divergence import Divergences, best_delta, best_epsilon, largest_fitting, rho_of
from dpselect.accounting.events import (
    BoundedRangeEvent,
    ComposedEvent,
    Event,
    PureEvent,
    Run,
    SequenceEvent,
    SingleEvent,
    basic_of,
    leaves_of,
)
from dpselect.accounting.tight import LossDistribution, rounds_curve, tight_curve
from dpselect.errors import InvalidParameterError
from dpselect.privacy import most_power

BoundName = Literal["basic", "renyi", "tight", "pld"]


class _Route(NamedTuple):
    """A bound on all runs but those whose epsilons, `beside`, are added to it; both functions round up."""

    name: BoundName
    beside: Fraction
    epsilon: Callable[[float], float]
    delta: Callable[[float], float]


TIGHT_WORK = 5e8
"""About how many nanoseconds the exact recursion may take."""


def compose(
    events: Iterable[Event | Run], *, tight: bool = False, pld: bool = False, work: float = TIGHT_WORK
) -> Composition:
    """The joint cost of `events`, in any order, even if each mechanism was chosen in view of earlier results.

    Every bound holds for *adaptively* chosen mechanisms, as long as the events themselves were fixed in advance. If
    epsilons or their number are chosen adaptively, use `Filter`.

    Args:
        events: a list of events (``mechanism.event``) or of `Run`; an empty list means that nothing was spent.
        tight: compute the exact adaptive composition, rounded up on a fine grid: about a second, for up to a few
            thousand runs. If it cannot be computed, the other bounds are used: see `Composition.bounds`. Up to
            100 runs of one bounded-range mechanism are always computed, on the grid that `dpselect.top_k` plans on.
        pld: also convolve privacy loss distributions with the package dp-accounting, for up to a million runs of pairs.
            Its rounding is allowed for but not enclosed, so this is the one bound that is not proved to the last digit.
        work: approximate time for ``tight`` in nanoseconds; more time gives a finer grid, none no recursion at all.

    Raises:
        InvalidParameterError: an entry is not an event, or runs differ in unit or neighbouring relation; `tight` or
            `pld` is neither True nor False, or `work` is not a finite number >= 0.
        MissingExtraError: ``pld`` without the extra ``pld``.

    Proof: ``proofs/composition.md``.

    >>> import dpselect as dps
    >>> mechanism = dps.ExponentialMechanism(epsilon=0.1, sensitivity=1.0)
    >>> total = compose([mechanism.event] * 100)
    >>> round(total.epsilon(delta=0), 9), round(total.epsilon(delta=1e-6), 2), round(total.rho, 3)
    (10.0, 2.32, 0.125)
    """
    for name, value in (("tight", tight), ("pld", pld)):
        checks.boolean(value, name)
    work = checks.target_error(work, "work", zero_allowed=True)
    counts, delta = leaves_of(events)
    distribution = LossDistribution(counts) if pld and counts else None
    return Composition(counts=counts, own_delta=delta, tight=tight, distribution=distribution, work=work)


@dataclass(frozen=True, eq=False)
class Composition:
    """The total cost of events, made by `compose`. All figures are upper bounds, rounded up.

    >>> compose([PureEvent(epsilon=0.5)] * 2).epsilon(delta=0)
    1.0
    """

    counts: dict[SingleEvent, int]
    """How often each single event ran; what has no better property counts as a `PureEvent`."""
    own_delta: Fraction
    """The sum of the events' own deltas."""
    tight: bool = False
    distribution: LossDistribution | None = field(default=None, repr=False)
    work: float = field(default=TIGHT_WORK, repr=False)

    def epsilon(self, delta: float) -> float:
        """The smallest proved epsilon at `delta`, from 0 to below 1; infinite if the events' own deltas exceed it.

        Raises:
            InvalidParameterError: `delta` is out of range.
        """
        return next(iter(self.bounds(delta).values()))

    def delta(self, epsilon: float) -> float:
        """The smallest proved delta at `epsilon` >= 0; at most 1.

        Raises:
            InvalidParameterError: `epsilon` is negative or not a number.
        """
        if epsilon != math.inf:
            epsilon = checks.target_error(epsilon, "epsilon", zero_allowed=True)
        if epsilon >= basic_of(self.counts):
            return min(1.0, checks.fraction_up(self.own_delta))
        fit = [route for route in self._routes if epsilon >= route.beside]
        smallest = min(route.delta(checks.fraction_down(Fraction(epsilon) - route.beside)) for route in fit)
        return min(1.0, checks.fraction_up(Fraction(smallest) + self.own_delta))

    def power(self, significance: float) -> float:
        """At most how often an attacker finds that a unit is present, who is wrong of absent ones `significance` often.

        `dpselect.Guarantee.power` says it of one epsilon and delta. This is the smallest that any epsilon up to the sum
        of all gives, with its `delta`: smaller, as soon as there are several events.

        Raises:
            InvalidParameterError: `significance` is not strictly between 0 and 1.

        Proof: ``proofs/testing.md``, claim 4.

        >>> from dpselect.accounting import LaplaceProfileEvent
        >>> round(compose([LaplaceProfileEvent(epsilon=0.1)] * 30, tight=True).power(0.05), 3)  # of 3 alone: 0.953
        0.134
        """
        level, whole = checks.probability(significance, "significance"), checks.fraction_up(basic_of(self.counts))
        most, best, width = 1.0, 0.0, whole
        for _ in range(3):  # each time nearer to the best; every epsilon gives a bound
            near = [best + width * each / 24 for each in range(-24, 25)]
            most, best = min((most_power(level, each, self.delta(each)), each) for each in near if 0.0 <= each <= whole)
            width /= 24
        return most

    @property
    def rho(self) -> float:
        """The smallest proved rho of zero-concentrated differential privacy; infinite if an event has a delta."""
        rhos = {event: rho_of(event) for event in self.counts}
        if self.own_delta or math.inf in rhos.values():
            return math.inf
        return checks.fraction_up(sum((Fraction(rho) * self.counts[event] for event, rho in rhos.items()), Fraction(0)))

    def bounds(self, delta: float) -> dict[BoundName, float]:
        """Epsilon at `delta` by each bound that gives one, rounded up; the smallest first. `epsilon` is the smallest.

        Returns:
            By ``"basic"`` (the sum of all epsilons), ``"renyi"``, ``"tight"`` (the exact adaptive recursion, on a
            grid) and ``"pld"``. Without ``"tight"`` if it was not asked for, or there are too many runs, or too many
            different epsilons.

        Raises:
            InvalidParameterError: `delta` is out of range.

        >>> from dpselect.accounting import BoundedRangeEvent
        >>> total = compose([BoundedRangeEvent(epsilon=0.5)] * 10)
        >>> {name: round(epsilon, 2) for name, epsilon in total.bounds(delta=1e-6).items()}
        {'tight': 3.58, 'renyi': 3.63, 'basic': 5.0}
        """
        left = Fraction(checks.delta_below_one(delta)) - self.own_delta
        if left < 0:
            return {"basic": math.inf}  # the events' own deltas add up to more
        values: dict[BoundName, float] = {"basic": checks.fraction_up(basic_of(self.counts))}
        rest = checks.fraction_down(left)
        for route in self._routes if self.counts and rest > 0.0 else []:
            value = route.epsilon(rest)
            value = checks.fraction_up(Fraction(value) + route.beside) if route.beside else value
            values[route.name] = min(value, values.get(route.name, math.inf))
        return dict(sorted(values.items(), key=lambda each: each[1]))

    @cached_property
    def _routes(self) -> list[_Route]:
        """Every way but the sum of all epsilons."""
        none, counts = Fraction(0), self.counts
        total = Divergences(counts)
        routes = [_Route("renyi", none, partial(best_epsilon, total), partial(best_delta, total))]
        if self.distribution is not None:
            routes.append(_Route("pld", none, self.distribution.epsilon, self.distribution.delta))
        rounds = [event for event in counts if isinstance(event, BoundedRangeEvent)]
        are_planned = len(rounds) == 1 and {*map(type, counts)} <= {BoundedRangeEvent, PureEvent}  # as by a `top_k`
        if self.work and are_planned and (curve := rounds_curve(rounds[0].epsilon, counts[rounds[0]])) is not None:
            beside = basic_of(self.counts) - Fraction(rounds[0].epsilon) * counts[rounds[0]]
            routes.append(_Route("tight", beside, curve.epsilon, curve.delta))
        if self.tight and (curve := tight_curve(counts, work=self.work)) is not None:
            routes.append(_Route("tight", none, curve.epsilon, curve.delta))
        return routes


M = TypeVar("M")


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
        mechanism: a class that takes ``epsilon=`` and the other `arguments`, such as ``sensitivity=``, with an event.
        count: number of runs, >= 1.
        epsilon: total, > 0.
        delta: total, from 0 to below 1.
        tight: also compose by the exact recursion: about a second, for a few percent more epsilon.

    Returns:
        The mechanism; ``compose([it.event] * count, tight=tight).epsilon(delta)`` is at most `epsilon`.

    Raises:
        InvalidParameterError: an argument is out of range, `mechanism` returns nothing with an event, or no epsilon is
            small enough.

    Proof: ``proofs/composition.md``.

    >>> import dpselect as dps
    >>> round(calibrate(dps.ExponentialMechanism, count=10, epsilon=1.0, delta=1e-6, sensitivity=1.0).epsilon, 3)
    0.153
    """
    count = checks.positive_count(count, "count", at_most=sys.maxsize)
    epsilon, delta = checks.positive_epsilon(epsilon), checks.delta_below_one(delta)
    checks.boolean(tight, "tight")
    checks.function(mechanism, "mechanism", expected="a class of mechanisms with an event")

    def event_at(*, epsilon: float) -> Event:
        event = getattr(mechanism(epsilon=epsilon, **arguments), "event", None)
        if not isinstance(event, Event):
            raise InvalidParameterError("mechanism", cast(object, mechanism), "a class of mechanisms with an event")
        return event

    each = _largest(event_at, count=count, epsilon=epsilon, delta=delta, tight=tight)
    return mechanism(epsilon=each, **arguments)


def calibrate_rounds(*, epsilon: float, delta: float, count: int) -> float:
    """The largest epsilon a round, about, that keeps `count` adaptive bounded-range rounds within (`epsilon`, `delta`).

    Raises:
        InvalidParameterError: an argument is out of range, or `epsilon` is too small to be divided by `count`.

    Proof: ``proofs/composition.md``, claims 2 and 5; ``proofs/top_k.md``, claims 2 and 6.

    >>> round(calibrate_rounds(epsilon=1.0, delta=1e-6, count=10), 4)
    0.1533
    """
    count = checks.positive_count(count, "count", at_most=sys.maxsize)
    epsilon, delta = checks.positive_epsilon(epsilon), checks.delta_below_one(delta)
    return _largest_once(BoundedRangeEvent, count=count, epsilon=epsilon, delta=delta, tight=False)


def _largest(event_at: Callable[..., Event], *, count: int, epsilon: float, delta: float, tight: bool) -> float:
    """The largest epsilon found whose event, `count` times, keeps within (`epsilon`, `delta`)."""
    basic = checks.fraction_down(Fraction(epsilon) / count)
    if basic == 0.0:
        raise InvalidParameterError("epsilon", epsilon, f"a number large enough to be divided by {count}")

    def total(each: float, *, work: float = 0.0, tight: bool = False) -> float:
        event = ComposedEvent(event=event_at(epsilon=each), count=count)
        return compose([event], tight=tight, work=work).epsilon(delta)

    if total(basic) > epsilon:
        raise InvalidParameterError("delta", delta, f"a delta of at least the mechanism's own, {count} times")
    if delta == 0.0:
        return basic
    each = max(basic, largest_fitting(total, epsilon, start=basic, close=2.0**-30))
    event = event_at(epsilon=each)
    if isinstance(event, BoundedRangeEvent) and rounds_curve(event.epsilon, count) is not None:
        # A share is left free: another machine's functions may differ in their last digits, by less.
        by_rounds, limit = partial(total, work=TIGHT_WORK), float(Fraction(epsilon) * (1 - Fraction(1, 2**30)))
        each = max(each, largest_fitting(by_rounds, limit, start=each, close=2.0**-10, trials=4))
    if tight:
        tried, close = partial(total, work=TIGHT_WORK / 20.0, tight=True), 2.0**-15
        each = max(each, largest_fitting(tried, epsilon, start=each, close=close))
        while total(each, work=TIGHT_WORK, tight=True) > epsilon:  # a finer grid is usually not worse
            each *= 1.0 - close
    return each


_largest_once = lru_cache(maxsize=512)(_largest)


def planned_epsilon(event: Event, *, delta: float) -> float | None:
    """The planned cost of rounds of one bounded-range mechanism; None if `event` is something else.

    If such groups are nested, they cost the sum, each with its share of `delta`. Beside one of them, events of pure
    differential privacy add their epsilon.

    >>> rounds = ComposedEvent(event=BoundedRangeEvent(epsilon=0.15), count=10)
    >>> planned_epsilon(rounds, delta=1e-6) == compose([rounds]).epsilon(1e-6)
    True
    """
    if isinstance(event, SequenceEvent):
        others = [part for part in event.events if not isinstance(part, PureEvent)]
        planned = planned_epsilon(others[0], delta=delta) if len(others) == 1 else None
        if planned is None:
            return None
        pure = (Fraction(part.epsilon) for part in event.events if isinstance(part, PureEvent))
        return checks.fraction_up(sum(pure, Fraction(planned)))
    if not isinstance(event, ComposedEvent):
        return None
    if isinstance(event.event, BoundedRangeEvent):
        return compose([event]).epsilon(delta)
    inner = planned_epsilon(event.event, delta=checks.fraction_down(Fraction(delta) / event.count))
    return None if inner is None else checks.fraction_up(Fraction(inner) * event.count)
