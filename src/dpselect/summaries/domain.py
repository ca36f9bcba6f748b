"""The public set of numbers an answer may be: everything between two bounds, or a grid between them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect.arguments import decimal_fraction, finite_bounds
from dpselect.errors import InvalidParameterError

MOST_POINTS = 1 << 40
"""A finer grid is refused: beyond, a double could not tell for sure which point a value is nearest to."""

_FINEST_STEP = 8.0
"""In units of the last place of the larger bound: points and values stay apart after rounding, with room to spare."""


@dataclass(frozen=True, slots=True)
class PublicDomain:
    """All numbers from `lower` to `upper`, or with a `step` the grid ``lower, lower + step, ..., upper``.

    Attributes:
        lower: smallest answer; smaller values count as this.
        upper: largest answer; larger values count as this.
        step: distance of the grid's points, exactly as it was written (0.1 is a tenth); None: no grid.
        points: how many points the grid has; None: no grid.

    >>> PublicDomain.given((0, 120), step=1).points
    121
    """

    lower: float
    upper: float
    step: Fraction | None = None
    points: int | None = None

    @classmethod
    def given(cls, bounds: object, *, step: object = None) -> PublicDomain:
        """`bounds` and `step` as the caller gave them.

        Args:
            bounds: two finite numbers, the smaller first.
            step: a number that divides their distance, reading both as the decimal numbers they are written as.

        Raises:
            InvalidParameterError: not such bounds, or not such a step.

        >>> PublicDomain.given((0, 1), step=0.1).point(3)
        0.3
        """
        lower, upper = finite_bounds(bounds)
        if step is None:
            return cls(float(lower), float(upper))
        return cls(float(lower), float(upper), *_grid(lower, upper, step))

    def point(self, position: int) -> float:
        """The grid's point at `position`, counted from 0, as the nearest double."""
        assert self.step is not None
        return min(self.upper, float(Fraction(repr(self.lower)) + position * self.step))

    def nearest(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Position of the grid's point nearest to each of `values`, as whole numbers in float64.

        Decided for each value alone. A value that is one of the grid's points, as a double, has that point's position.
        """
        assert self.step is not None
        assert self.points is not None
        # Halves, so that the distance between huge bounds does not overflow.
        positions = values * 0.5
        positions -= self.lower * 0.5
        positions /= float(self.step) * 0.5
        np.rint(positions, out=positions)
        return np.clip(positions, 0.0, self.points - 1.0, out=positions)

    def description(self) -> dict[str, Any]:
        """What a certificate says of the candidates."""
        bounds = {"lower": self.lower, "upper": self.upper}
        if self.step is None:
            return {"source": "bounds", **bounds}
        return {"source": "grid", **bounds, "step": float(self.step), "count": self.points}


def _grid(lower: Fraction, upper: Fraction, step: object) -> tuple[Fraction, int]:
    """Step and number of points."""
    expected = "a finite number > 0, or None"
    exact = decimal_fraction(step, "step", expected=expected)
    if exact <= 0:
        raise InvalidParameterError("step", step, expected)
    intervals = (upper - lower) / exact
    if intervals.denominator != 1:
        expected = "a number that divides the distance of the bounds"
        raise InvalidParameterError("step", step, expected, "Then the upper bound is a point of the grid, too.")
    if intervals >= MOST_POINTS:
        raise InvalidParameterError("step", step, "a grid of at most 2^40 points", "Without a step there is no grid.")
    if exact < _FINEST_STEP * math.ulp(max(abs(float(lower)), abs(float(upper)))):
        raise InvalidParameterError("step", step, "a step that doubles of the bounds' size can tell apart")
    return exact, intervals.numerator + 1
