r"""Bounded-range rounds planned together: by the exact recursion if there are few, else by Rényi divergences.

Which of the two is used, and on how fine a grid, depends on the number of rounds alone, never on a clock. So planning
and verifying a certificate give the same result.

Proof: ``proofs/composition.md``, claims 2 and 5; ``proofs/top_k.md``, claim 2.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction

from dpselect.accounting.events import BoundedRangeEvent, ComposedEvent, Event, PureEvent, SequenceEvent
from dpselect.accounting.profiles import bounded_range_epsilon, calibrate_bounded_range
from dpselect.accounting.rounding import fraction_up, product_up, quotient_down
from dpselect.accounting.tight import Curve, equal_rounds_curve
from dpselect.checks import delta_below_one, positive_count, positive_epsilon

MOST_EXACT = 100
"""Number of rounds. This many take less than a tenth of a second to plan."""

_PLACES, _COARSEST, _FINEST = 400, 4, 50
_WIDEST, _SMALLEST = 60.0, 1e-200
_TRIALS = 4
_NEARBY = 0.95
_FLATTEST, _STEEPEST = 0.75, 2.5
_ROOM = Fraction(1, 2**30)
"""Share of the total that is left free: the functions of another machine may differ in their last digits, by less."""
_AIM = 1.0 - 2.0**-11


def exact_steps(count: int) -> int | None:
    """Number of grid steps in the range of one of `count` rounds; None if the recursion is not used.

    >>> [exact_steps(count) for count in (1, 2, 10, 32, 100, 101)]
    [None, 50, 40, 12, 4, None]
    """
    return min(_FINEST, max(_COARSEST, _PLACES // count)) if 1 < count <= MOST_EXACT else None


def rounds_epsilon(epsilon: float, *, count: int, delta: float) -> float:
    """Total epsilon, at `delta`, of `count` adaptive rounds of an `epsilon`-bounded-range mechanism, rounded up.

    The smaller of `bounded_range_epsilon` and, for 2 to 100 rounds, the exact recursion on its grid.

    Args:
        epsilon: of each round, > 0.
        count: number of rounds, >= 1.
        delta: from 0 to below 1.

    Raises:
        InvalidParameterError: an argument is out of range.

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

    Never below `calibrate_bounded_range`, and by 2 to 7 percent above it for 10 to 100 rounds at a small `delta`.

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
    return _calibrated(positive_epsilon(epsilon), delta_below_one(delta), positive_count(count, "count"))


@functools.lru_cache(maxsize=256)
def _calibrated(epsilon: float, delta: float, count: int) -> float:
    each = calibrate_bounded_range(epsilon=epsilon, delta=delta, count=count)
    limit = float(Fraction(epsilon) * (1 - _ROOM))
    if not delta or rounds_curve(each, count) is None:
        return each
    tried, total = each, rounds_epsilon(each, count=count, delta=delta)
    # Where a power law reaches the limit: first with the growth of the other bound, then through the last two totals.
    before = _NEARBY * each, bounded_range_epsilon(_NEARBY * each, count=count, delta=delta) * (total / epsilon)
    for _ in range(_TRIALS - 1):
        if total <= 0.0:
            break
        power = _power(before, (tried, total))
        before = tried, total
        tried *= (limit * _AIM / total) ** (1.0 / power)
        if tried <= each:
            break
        total = rounds_epsilon(tried, count=count, delta=delta)
        if total <= limit:
            each = tried
            if total >= limit * (2.0 * _AIM - 1.0):
                break
    return each


def _power(first: tuple[float, float], second: tuple[float, float]) -> float:
    """The exponent of the power law through two points, limited to what a composition can have."""
    if not 0.0 < first[1] < math.inf:
        return _STEEPEST
    return min(max(math.log(second[1] / first[1]) / math.log(second[0] / first[0]), _FLATTEST), _STEEPEST)


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
