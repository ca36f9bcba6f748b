r"""Bounded-range rounds planned together: by the exact recursion if there are few, else by Rényi divergences.

Which of the two is used, and on how fine a grid, depends on the number of rounds alone, never on a clock. So planning
and verifying a certificate give the same result.

Proof: ``proofs/composition.md``, claims 2 and 5; ``proofs/top_k.md``, claim 2.
"""

from __future__ import annotations

import functools
import math
import sys
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting.events import BoundedRangeEvent, ComposedEvent, Event, PureEvent, SequenceEvent
from dpselect.accounting.profiles import bounded_range_renyi
from dpselect.accounting.renyi import best_epsilon, largest_fitting
from dpselect.accounting.rounding import fraction_up, product_up, quotient_down
from dpselect.accounting.tight import Curve, equal_rounds_curve
from dpselect.checks import delta_below_one, positive_count, positive_epsilon
from dpselect.errors import InvalidParameterError

MOST_EXACT = 100
"""Number of rounds. This many take less than a tenth of a second to plan."""

_PLACES, _COARSEST, _FINEST = 400, 4, 50
_WIDEST, _SMALLEST = 60.0, 1e-200
_TRIALS = 4
_CLOSE, _CLOSE_EXACT = 2.0**-30, 2.0**-10
_ROOM = Fraction(1, 2**30)
"""Share of the total that is left free: the functions of another machine may differ in their last digits, by less."""


def exact_steps(count: int) -> int | None:
    """Number of grid steps in the range of one of `count` rounds; None if the recursion is not used.

    >>> [exact_steps(count) for count in (1, 2, 10, 32, 100, 101)]
    [None, 50, 40, 12, 4, None]
    """
    return min(_FINEST, max(_COARSEST, _PLACES // count)) if 1 < count <= MOST_EXACT else None


def bounded_range_epsilon(epsilon: float, *, count: int, delta: float) -> float:
    """Total epsilon, at `delta`, of `count` adaptive runs of an `epsilon`-bounded-range mechanism, rounded up.

    The smaller of basic composition and the Rényi bound at its best order.

    Args:
        epsilon: of each run, > 0.
        count: number of runs, >= 1.
        delta: from 0 (pure privacy: basic composition) to below 1.

    Raises:
        InvalidParameterError: an argument is out of range.

    Proof: ``proofs/top_k.md``.

    >>> bounded_range_epsilon(0.125, count=80, delta=0.0)
    10.0
    >>> round(bounded_range_epsilon(0.1, count=100, delta=1e-6), 2)
    2.4
    """
    epsilon, delta = positive_epsilon(epsilon), delta_below_one(delta)
    count = positive_count(count, "count", at_most=sys.maxsize)
    basic = product_up(epsilon, count)
    if delta == 0.0:
        return basic

    def total(orders: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):  # for an epsilon near the largest double, infinite is correct
            return count * bounded_range_renyi(epsilon, orders) * (1.0 + 2.0**-50)

    return min(basic, best_epsilon(total, delta))


def rounds_epsilon(epsilon: float, *, count: int, delta: float) -> float:
    """Total epsilon, at `delta`, of `count` adaptive rounds of an `epsilon`-bounded-range mechanism, rounded up.

    The smaller of `bounded_range_epsilon` and, for 2 to 100 rounds, the exact recursion on its grid. Arguments and
    errors are the same.

    Proof: ``proofs/composition.md``, claim 5.

    >>> bounded_range_epsilon(0.15, count=10, delta=1e-6) > rounds_epsilon(0.15, count=10, delta=1e-6) > 0.97
    True
    """
    closed = bounded_range_epsilon(epsilon, count=count, delta=delta)
    curve = rounds_curve(epsilon, count) if delta else None
    return closed if curve is None else min(closed, curve.epsilon(delta))


@functools.lru_cache(maxsize=256)
def rounds_curve(epsilon: float, count: int) -> Curve | None:
    """The exact recursion for `count` rounds on its grid; None if it is not used, or no grid can hold the range.

    Charging a plan and checking a certificate both need the curve that the plan ended with.
    """
    steps = exact_steps(count)
    is_held = _SMALLEST <= epsilon <= _WIDEST
    return equal_rounds_curve(epsilon, count=count, steps=steps) if steps is not None and is_held else None


def calibrate_rounds(*, epsilon: float, delta: float, count: int) -> float:
    """The largest epsilon a round, about, that keeps `count` adaptive bounded-range rounds within (`epsilon`, `delta`).

    Never below ``epsilon / count``, nor about what `bounded_range_epsilon` allows, and by 2 to 7 percent above that for
    10 to 100 rounds at a small `delta`.

    Args:
        epsilon: total, > 0.
        delta: total, from 0 to below 1.
        count: number of rounds, >= 1.

    Returns:
        Epsilon of each round; `rounds_epsilon` of it is at most `epsilon`.

    Raises:
        InvalidParameterError: an argument is out of range, or `epsilon` is too small to be divided by `count`.

    Proof: ``proofs/composition.md``, claim 5.

    >>> round(calibrate_rounds(epsilon=1.0, delta=1e-6, count=10), 4)
    0.1533
    >>> calibrate_rounds(epsilon=1.0, delta=0.0, count=4)
    0.25
    """
    count = positive_count(count, "count", at_most=sys.maxsize)
    return _calibrated(positive_epsilon(epsilon), delta_below_one(delta), count)


@functools.lru_cache(maxsize=512)
def _calibrated(epsilon: float, delta: float, count: int) -> float:
    basic = quotient_down(epsilon, count)
    if basic == 0.0:
        raise InvalidParameterError("epsilon", epsilon, f"a number large enough to be divided by {count}")
    if delta == 0.0:
        return basic
    logarithm = -math.log(delta)  # where small bounded ranges reach the limit
    start = math.sqrt(8.0 / count) * (math.sqrt(logarithm + epsilon) - math.sqrt(logarithm))
    total = functools.partial(bounded_range_epsilon, count=count, delta=delta)
    each = max(basic, largest_fitting(total, epsilon, start=max(basic, start), close=_CLOSE))
    if rounds_curve(each, count) is None:
        return each
    total = functools.partial(rounds_epsilon, count=count, delta=delta)
    limit = float(Fraction(epsilon) * (1 - _ROOM))
    return max(each, largest_fitting(total, limit, start=each, close=_CLOSE_EXACT, trials=_TRIALS))


def planned_epsilon(event: Event, *, delta: float) -> float | None:
    """The planned cost of rounds of one bounded-range mechanism; None if `event` is something else.

    If such groups are nested, they cost the sum, each with its share of `delta`. Beside one of them, events of pure
    differential privacy add their epsilon.

    >>> rounds = ComposedEvent(event=BoundedRangeEvent(epsilon=0.15), count=10)
    >>> planned_epsilon(rounds, delta=1e-6) == rounds_epsilon(0.15, count=10, delta=1e-6)
    True
    """
    if isinstance(event, SequenceEvent):
        others = [part for part in event.events if not isinstance(part, PureEvent)]
        planned = planned_epsilon(others[0], delta=delta) if len(others) == 1 else None
        if planned is None:
            return None
        pure = (Fraction(part.epsilon) for part in event.events if isinstance(part, PureEvent))
        return fraction_up(sum(pure, Fraction(planned)))
    if not isinstance(event, ComposedEvent):
        return None
    if isinstance(event.event, BoundedRangeEvent):
        return rounds_epsilon(event.event.epsilon, count=event.count, delta=delta)
    inner = planned_epsilon(event.event, delta=quotient_down(delta, event.count))
    return None if inner is None else product_up(inner, event.count)
