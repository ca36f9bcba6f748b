"""The joint cost of many events: the smallest of all bounds proved for them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import Literal

from dpselect.accounting.divergence import Divergences, rho_of
from dpselect.accounting.dp_package import LossDistribution
from dpselect.accounting.events import BoundedRangeEvent, Event, NonAdaptiveEvent, PureEvent, Run
from dpselect.accounting.exact_rounds import rounds_curve, rounds_epsilon
from dpselect.accounting.leaves import Leaves, leaves_of
from dpselect.accounting.non_adaptive import MOST, non_adaptive_delta, non_adaptive_epsilon
from dpselect.accounting.renyi import best_epsilon, best_log_delta
from dpselect.accounting.rounding import fraction_down, fraction_up
from dpselect.accounting.tight import Curve, NotTight, tight_curve
from dpselect.checks import boolean, delta_below_one, target_error

BoundName = Literal["basic", "renyi", "tight", "non-adaptive", "pld"]

_WORDS: dict[BoundName, str] = {
    "basic": "the sum of all epsilons",
    "renyi": "Rényi divergence",
    "tight": "the exact adaptive recursion, rounded up on a grid",
    "non-adaptive": "the exact formula for draws fixed in advance",
    "pld": "privacy loss distributions",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """One way to bound a total.

    Attributes:
        name: ``"basic"`` (the sum), ``"renyi"``, ``"tight"``, ``"non-adaptive"`` or ``"pld"``.
        value: its value, rounded up; infinite if it gives none.
        order: of the divergence, where that is the bound.
        note: why it gives no value.

    >>> Bound(name="renyi", value=2.4, order=8.5).value
    2.4
    """

    name: BoundName
    value: float
    order: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """An epsilon and where it comes from, made by `Composition.explain`; ``print`` it.

    Attributes:
        delta: asked for.
        best: the bound with the smallest epsilon.
        others: the other bounds, the smaller first.

    >>> print(Explanation(delta=1e-6, best=Bound(name="renyi", value=2.4), others=(Bound(name="basic", value=10.0),)))
    epsilon = 2.4 at delta = 1e-06 by Rényi divergence. Others: the sum of all epsilons 10.
    """

    delta: float
    best: Bound
    others: tuple[Bound, ...]

    @property
    def epsilon(self) -> float:
        """The smallest epsilon."""
        return self.best.value

    @property
    def bound(self) -> BoundName:
        """The name of the bound that gave it."""
        return self.best.name

    def __str__(self) -> str:
        if math.isinf(self.epsilon):
            return f"No epsilon holds at delta = {self.delta:.4g}: {self.best.note or 'it is beyond all doubles'}."
        text = f"epsilon = {_up(self.epsilon)} at delta = {self.delta!r} by {_WORDS[self.bound]}."
        finite = [
            f"{_WORDS[bound.name].partition(',')[0]} {_up(bound.value)}" for bound in self.others if not bound.note
        ]
        notes = [
            f" Not by {_WORDS[bound.name].partition(',')[0]}: {bound.note}." for bound in self.others if bound.note
        ]
        return text + (f" Others: {', '.join(finite)}." if finite else "") + "".join(notes)


def _up(value: float) -> str:
    """Four digits, rounded up except for the last bits of a double: a sum of tenths that is 10 is shown as 10."""
    if math.isinf(value) or value == 0.0:
        return f"{value:g}"
    with localcontext(prec=4, rounding=ROUND_CEILING):
        return f"{float(+Decimal(value * (1.0 - 1e-12))):g}"


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
            thousand runs. If it cannot be computed, the other bounds are used, and `Composition.explain` says so. Up to
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
    >>> total.explain(delta=1e-6).bound
    'tight'
    """
    for name, value in (("tight", tight), ("pld", pld)):
        boolean(value, name)
    work = target_error(work, "work", zero_allowed=True)
    leaves = leaves_of(events)
    distribution = LossDistribution(leaves.counts) if pld and leaves.counts else None
    return Composition(leaves=leaves, tight=tight, distribution=distribution, work=work)


@dataclass(frozen=True, eq=False)
class Composition:
    """The total cost of events, made by `compose`. All figures are upper bounds, rounded up.

    Attributes:
        leaves: the number of runs of each single event.
        tight: whether the exact adaptive composition is among the bounds.
        distribution: the privacy loss distribution, with ``pld=True``.
        work: about how many nanoseconds ``tight`` may take.

    >>> from dpselect.accounting import LaplaceProfileEvent
    >>> compose([LaplaceProfileEvent(epsilon=0.5)] * 2).epsilon(delta=0)
    1.0
    """

    leaves: Leaves
    tight: bool = False
    distribution: LossDistribution | None = field(default=None, repr=False)
    work: float = field(default=TIGHT_WORK, repr=False)

    def epsilon(self, delta: float) -> float:
        """The smallest proved epsilon at `delta`, from 0 to below 1; infinite if the events' own deltas exceed it.

        Raises:
            InvalidParameterError: `delta` is out of range.
        """
        return self.explain(delta).epsilon

    def delta(self, epsilon: float) -> float:
        """The smallest proved delta at `epsilon` >= 0; at most 1.

        Raises:
            InvalidParameterError: `epsilon` is negative or not a number.
        """
        if epsilon != math.inf:
            epsilon = target_error(epsilon, "epsilon", zero_allowed=True)
        return min(bound.value for bound in self._deltas(epsilon))

    @property
    def rho(self) -> float:
        """The smallest proved rho of zero-concentrated differential privacy; infinite if an event has a delta."""
        if self.leaves.delta:
            return math.inf
        each = [(rho_of(event), count) for event, count in self.leaves.counts.items()]
        if any(math.isinf(rho) for rho, _ in each):
            return math.inf
        return fraction_up(sum((Fraction(rho) * count for rho, count in each), Fraction(0)))

    def explain(self, delta: float) -> Explanation:
        """`epsilon`, the bound that gives it, and the values of the other bounds.

        Raises:
            InvalidParameterError: `delta` is out of range.

        >>> from dpselect.accounting import BoundedRangeEvent
        >>> print(compose([BoundedRangeEvent(epsilon=0.5)] * 10, tight=True, work=2e8).explain(delta=1e-6))
        epsilon = 3.58 at delta = 1e-06 by the exact adaptive recursion, rounded up on a grid. Others: Rényi divergence
        3.633, the sum of all epsilons 5.
        """
        delta = delta_below_one(delta)
        bounds = sorted(self._epsilons(delta), key=lambda bound: bound.value)
        return Explanation(delta=delta, best=bounds[0], others=tuple(bounds[1:]))

    def _epsilons(self, delta: float) -> list[Bound]:
        left = Fraction(delta) - self.leaves.delta
        if left < 0:
            return [Bound(name="basic", value=math.inf, note="the events' own deltas add up to more")]
        bounds = [Bound(name="basic", value=fraction_up(self.leaves.basic))]
        rest = fraction_down(left)
        if not self.leaves.counts or rest == 0.0:
            return bounds
        value, order = best_epsilon(self._divergences, delta=rest)
        bounds.append(Bound(name="renyi", value=value, order=order))
        if self._group is not None:
            beside = self._beside(self._group.event, self._group.count)
            value = fraction_up(Fraction(non_adaptive_epsilon(self._group, rest)) + beside)
            bounds.append(Bound(name="non-adaptive", value=value))
        if self.distribution is not None:
            bounds.append(Bound(name="pld", value=self.distribution.epsilon(rest)))
        tight: list[float] = []
        if self._rounds is not None:
            rounds, count = self._rounds
            planned = rounds_epsilon(rounds.epsilon, count=count, delta=rest)
            tight.append(fraction_up(Fraction(planned) + self._beside(rounds)))
        if self.tight and isinstance(self._curve, Curve):
            tight.append(self._curve.epsilon(rest))
        if tight:
            bounds.append(Bound(name="tight", value=min(tight)))
        elif self.tight and isinstance(self._curve, NotTight):
            bounds.append(Bound(name="tight", value=math.inf, note=self._curve.reason))
        return bounds

    def _deltas(self, epsilon: float) -> list[Bound]:
        own = self.leaves.delta
        if epsilon >= self.leaves.basic:
            return [Bound(name="basic", value=min(1.0, fraction_up(own)))]
        log_delta, _ = best_log_delta(self._divergences, epsilon=epsilon)
        values: dict[BoundName, float] = {"renyi": math.exp(min(0.0, log_delta)) * (1.0 + 2.0**-40) + 5e-324}
        if self._group is not None and epsilon >= (beside := self._beside(self._group.event, self._group.count)):
            values["non-adaptive"] = non_adaptive_delta(self._group, fraction_down(Fraction(epsilon) - beside))
        if self.distribution is not None:
            values["pld"] = self.distribution.delta(epsilon)
        if self._rounds is not None and epsilon >= (beside := self._beside(self._rounds[0])):
            curve = rounds_curve(self._rounds[0].epsilon, self._rounds[1])
            values["tight"] = 1.0 if curve is None else curve.delta(fraction_down(Fraction(epsilon) - beside))
        if self.tight and isinstance(self._curve, Curve):
            values["tight"] = min(values.get("tight", 1.0), self._curve.delta(epsilon))
        return [Bound(name=name, value=min(1.0, fraction_up(Fraction(v) + own))) for name, v in values.items()]

    @cached_property
    def _divergences(self) -> Divergences:
        return Divergences(self.leaves.counts)

    @cached_property
    def _curve(self) -> Curve | NotTight:
        return tight_curve(self.leaves.counts, work=self.work)

    @cached_property
    def _group(self) -> NonAdaptiveEvent | None:
        """The group whose draws are counted together, if there is only one and it is not too large."""
        groups = self.leaves.groups
        if list(groups.values()) != [1]:
            return None
        only = next(iter(groups))
        return only if only.count <= MOST else None

    @cached_property
    def _rounds(self) -> tuple[BoundedRangeEvent, int] | None:
        """The rounds of one bounded-range mechanism, and their number, if the rest is pure: what a `top_k` plans."""
        rounds = [event for event in self.leaves.counts if isinstance(event, BoundedRangeEvent)]
        if self.work == 0.0 or len(rounds) != 1 or {*map(type, self.leaves.counts)} - {BoundedRangeEvent, PureEvent}:
            return None
        count = self.leaves.counts[rounds[0]]
        return None if rounds_curve(rounds[0].epsilon, count) is None else (rounds[0], count)

    def _beside(self, event: BoundedRangeEvent, count: int | None = None) -> Fraction:
        """The sum of the epsilons of everything but `count` runs of `event`, or all of them."""
        return self.leaves.basic - Fraction(event.epsilon) * (self.leaves.counts[event] if count is None else count)
