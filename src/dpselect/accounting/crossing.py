"""Where an increasing function crosses a limit, evaluated in few places: each of them takes as long as a small plan."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

_STEPS = 12
_MOST_GROWTH = 600.0
"""Of a logarithm in one step."""


def largest_fitting(
    function: Callable[[float], float],
    limit: float,
    bisected: Callable[[Callable[[float], bool]], float],
    *,
    start: float,
    width: float,
    most: float = sys.float_info.max,
) -> float:
    """What `bisected` finds when it asks where `function` is at most `limit`; the function itself is asked less often.

    Rounding may let the function fall a little in places. So what is found without having been asked is asked at the
    end, and if the function is above the limit there, `bisected` asks the function alone.

    Args:
        function: increasing, but for rounding; of numbers > 0.
        limit: > 0.
        bisected: takes whether a place fits; returns one that does, or 0.0.
        start: where to look first, > 0.
        width: see `Crossing.approach`.
        most: the largest place at which the function may be evaluated.

    >>> def square_root(fits):
    ...     low, high = 0.0, 2.0
    ...     for _ in range(50):
    ...         middle = (low + high) / 2.0
    ...         low, high = (middle, high) if fits(middle) else (low, middle)
    ...     return low
    >>> largest_fitting(lambda x: x * x, 2.0, square_root, start=1.0, width=1e-9) == square_root(lambda x: x * x <= 2.0)
    True
    """
    crossing = Crossing(function, limit, most)
    crossing.approach(start, width=width)
    found = bisected(crossing.fits)
    if found in (0.0, crossing.good) or function(found) <= limit:
        return found
    return bisected(lambda place: function(place) <= limit)


@dataclass(slots=True)
class Crossing:
    """Whether an increasing function is at most a limit; evaluated only between the places where that is known.

    Elsewhere the answer follows from the function's increase.

    Attributes:
        function: increasing, but for rounding; of numbers > 0.
        limit: > 0.
        most: the largest place at which the function may be evaluated.
        good: the largest place known where the function is at most the limit.
        bad: the smallest place known where it is not.

    >>> asked = []
    >>> crossing = Crossing(lambda x: asked.append(x) or x * x, 2.0)
    >>> crossing.approach(1.0, width=1e-9)
    >>> crossing.good < math.sqrt(2.0) <= crossing.bad, crossing.bad / crossing.good < 1.0 + 1e-8, len(asked) < 12
    (True, True, True)
    """

    function: Callable[[float], float]
    limit: float
    most: float = sys.float_info.max
    good: float = field(default=0.0, init=False)
    bad: float = field(default=math.inf, init=False)

    def fits(self, place: float) -> bool:
        """Whether the function is at most the limit there."""
        if self.good < place < self.bad:
            self._value(place)
        return place <= self.good

    def approach(self, start: float, *, width: float) -> None:
        """Learn two places, about `width` apart relative to themselves, between which the function crosses the limit.

        Each place is where a power law through the last two values reaches the limit. Where none fits, less is known.

        Args:
            start: where to look first, > 0.
            width: how far apart they may be at least.
        """
        place, value, power = start, self._value(start), 1.0
        for _ in range(_STEPS):
            if not 0.0 < value < math.inf:
                return
            growth = (math.log(self.limit) - math.log(value)) / power
            further = place * math.exp(min(max(growth, -_MOST_GROWTH), _MOST_GROWTH))
            if not 0.0 < further <= self.most or abs(further - place) <= place * width / 4.0:
                break
            before, place = (place, value), further
            value = self._value(place)
            if not 0.0 < value < math.inf:
                return
            power = min(max(math.log(value / before[1]) / math.log(place / before[0]), 0.25), 4.0)
        for near in (place * (1.0 - width), place * (1.0 + width)):
            if 0.0 < near <= self.most:
                self.fits(near)

    def _value(self, place: float) -> float:
        value = self.function(place)
        if value <= self.limit:
            self.good = max(self.good, place)
        else:
            self.bad = min(self.bad, place)
        return value
