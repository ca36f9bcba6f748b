"""A privacy profile on a grid: delta at every epsilon, from above."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting.rounding import fraction_up, product_up

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    r"""Upper bounds on delta at the epsilons ``start * step``, ``(start + 1) * step``, ...

    The last is 0, and so is delta beyond. Between them delta is convex in :math:`e^\varepsilon`, so it is below the
    chord.

    Attributes:
        step: distance of the grid, as exactly the double it is.
        start: place of the first value.
        values: shape ``(n,)``, never negative.
    """

    step: float
    start: int
    values: FloatArray

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon >= 0 at which the curve is at most `delta`, rounded up."""
        place = int(np.argmax(self.values <= delta))
        index = self.start + place
        if place == 0 or index <= 0:
            return product_up(self.step, max(index, 0))
        above, below = float(self.values[place - 1]), float(self.values[place])
        share = min(1.0, (above - delta + 2.0**-50 * above) / (above - below))
        inside = math.log1p(share * math.expm1(self.step)) * (1.0 + 2.0**-46) + 2.0**-50 * self.step
        exact = Fraction(self.step) * (index - 1) + Fraction(inside)
        return max(0.0, min(fraction_up(exact), product_up(self.step, index)))

    def delta(self, epsilon: float) -> float:
        """Delta at `epsilon` >= 0, rounded up; never above 1."""
        place = Fraction(epsilon) / Fraction(self.step) - self.start if math.isfinite(epsilon) else Fraction(10**18)
        index = math.floor(place)
        if index >= len(self.values) - 1:
            return 0.0
        left = Fraction(epsilon) - Fraction(self.step) * (self.start + index)
        share = max(0.0, math.expm1(float(left)) / math.expm1(self.step) * (1.0 - 2.0**-48))
        value = float(self.values[index]) * (1.0 - share) + float(self.values[index + 1]) * share
        return min(1.0, value * (1.0 + 2.0**-46))
