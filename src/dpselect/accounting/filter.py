"""A limit that holds even if each event is chosen in view of earlier results."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dpselect.accounting.events import Event, Run
from dpselect.accounting.renyi import epsilons
from dpselect.accounting.rounding import fraction_down, fraction_up
from dpselect.accounting.running import Locked, Running, nothing
from dpselect.checks import delta_below_one, positive_epsilon
from dpselect.errors import LimitExceededError

_OTHER_ORDERS = np.array([0.25, 0.5, 2.0, 4.0, 16.0])
_MAIN_SHARE = 0.75


class Filter(Locked):
    r"""Admits events one by one as long as their total stays within (`epsilon`, `delta`), however they are chosen.

    The mechanisms, their epsilons and when to stop may all depend on earlier results: everything admitted is
    (`epsilon`, `delta`)-DP together. This is proved for the sum of all epsilons and for Rényi divergences at orders
    fixed here from the limits alone. The exact recursion (``tight=True``) is *not* proved for adaptively chosen
    epsilons, and is not used.

    The limit holds for all threads of one process that share the filter. It does not hold across processes: a copy, a
    pickle or a fork counts separately and does not know what the others spend. For these use `dpselect.Ledger`.

    Args:
        epsilon: limit, > 0.
        delta: limit, from 0 to below 1. With 0 the filter compares only exact sums of epsilons.
        set_aside: the part of `delta` reserved for events with their own delta; the filter uses the rest.

    Raises:
        InvalidParameterError: an argument is out of range.

    Proof: ``proofs/composition.md``, claim 10. Sources: Feldman & Zrnic (2021), Lécuyer (2021).

    >>> from dpselect.accounting import BoundedRangeEvent
    >>> limit, count = Filter(epsilon=1.0, delta=1e-6), 0
    >>> while limit.admits(BoundedRangeEvent(epsilon=0.05)):
    ...     limit.spend(BoundedRangeEvent(epsilon=0.05))
    ...     count += 1
    >>> count > 20                                       # 20 would reach 1.0 in sum
    True
    """

    def __init__(self, *, epsilon: float, delta: float, set_aside: float = 0.0) -> None:
        super().__init__()
        self.epsilon = positive_epsilon(epsilon)
        self.delta = delta_below_one(delta)
        self.set_aside = min(delta_below_one(set_aside, "set_aside"), self.delta)
        own = fraction_down(Fraction(self.delta) - Fraction(self.set_aside))
        orders, shares = _orders(self.epsilon, own)
        self._allowed = np.array(
            [_allowance(order, epsilon=self.epsilon, delta=share) for order, share in zip(orders, shares, strict=True)]
        )
        self._spent = nothing(orders)

    def admits(self, event: Event | Run) -> bool:
        """Whether `event` may run next; spends nothing. With several threads only `spend` decides: see what it raises.

        Raises:
            InvalidParameterError: `event` is not an event, or is a run for another unit or relation than the earlier
                ones.
        """
        return self._holds(self._spent.after(event))

    def spend(self, event: Event | Run) -> None:
        """Add `event`, before it runs.

        Raises:
            LimitExceededError: it does not fit; nothing was added.
            InvalidParameterError: as for `admits`.
        """
        with self._lock:
            after = self._spent.after(event)
            if not self._holds(after):
                raise LimitExceededError(self.epsilon, self.delta, self.basic)
            self._spent = after

    @property
    def basic(self) -> float:
        """The sum of all epsilons so far, rounded up."""
        return fraction_up(self._spent.basic)

    @property
    def share(self) -> float:
        """The part of the limit that is used, from 0 to 1, by the bound that has the most left."""
        spent = self._spent  # one state, even if other threads add events meanwhile
        routes = zip(spent.divergences, self._allowed, strict=True)
        by_order = (float(used / allowed) for used, allowed in routes if allowed > 0.0)
        return min(float(spent.basic / Fraction(self.epsilon)), *by_order, 1.0)

    def _holds(self, spent: Running) -> bool:
        if spent.delta > Fraction(self.set_aside):
            return False
        return spent.basic <= Fraction(self.epsilon) or bool(np.any(spent.divergences <= self._allowed))


def _orders(epsilon: float, delta: float) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], list[float]]:
    """The order that is best for many small events within the limits, with most of delta, and some orders around it."""
    if delta == 0.0:
        return np.empty(0), []
    log = -math.log(delta)
    rho = (epsilon / (math.sqrt(log + epsilon) + math.sqrt(log))) ** 2  # rho + 2 sqrt(rho log) = epsilon
    main = min(max(math.sqrt(log / rho), 1e-3) if rho > 0.0 else 1e9, 1e9)
    multiples = np.concatenate([[1.0], _OTHER_ORDERS])
    rest = delta * (1.0 - _MAIN_SHARE) * (1.0 - 2.0**-40) / len(_OTHER_ORDERS)
    return 1.0 + main * multiples, [delta * _MAIN_SHARE, *[rest] * len(_OTHER_ORDERS)]


def _allowance(order: float, *, epsilon: float, delta: float) -> float:
    """The largest divergence at `order` that gives at most `epsilon` at `delta`, rounded down; -1 if none does."""
    if delta == 0.0:
        return -1.0
    orders = np.array([order])
    at_limit = float(epsilons(np.array([epsilon]), orders, delta=delta)[0])
    room = 2.0**-40 * (epsilon + abs(at_limit - epsilon))
    allowed = epsilon - (at_limit - epsilon) - room  # what the conversion adds is independent of the divergence
    fits = allowed > 0.0 and epsilons(np.array([allowed]), orders, delta=delta)[0] <= epsilon
    return allowed if fits else -1.0
