"""The public set of possible answers: all numbers between two bounds, or a grid between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpselect.arguments import finite_bounds
from dpselect.grids import Grid


@dataclass(frozen=True, slots=True)
class PublicDomain:
    """All numbers from `lower` to `upper`, or a grid of them.

    Attributes:
        lower: smallest answer; smaller values count as this.
        upper: largest answer; larger values count as this.
        grid: the answers ``lower, lower + step, ..., upper``, and each value counts as the nearest; None: no grid.

    >>> PublicDomain.given((0, 120), step=1).grid.count
    121
    """

    lower: float
    upper: float
    grid: Grid | None = None

    @classmethod
    def given(cls, bounds: object, *, step: object = None) -> PublicDomain:
        """The domain given by `bounds` and `step`.

        Args:
            bounds: two finite numbers, the smaller first.
            step: a number that divides their distance, with both read as decimals.

        Raises:
            InvalidParameterError: `bounds` or `step` is invalid.

        >>> PublicDomain.given((0, 1), step=0.1).grid.point(3)
        0.3
        """
        lower, upper = finite_bounds(bounds)
        grid = None if step is None else Grid.dividing(lower, upper, step=step)
        return cls(float(lower), float(upper), grid)

    @property
    def arguments(self) -> dict[str, Any]:
        """`bounds` and `step` of a mechanism that draws from it, exactly as they were given."""
        if self.grid is None:
            return {"bounds": (self.lower, self.upper)}
        return {"bounds": (self.grid.lower, self.grid.upper), "step": self.grid.step}

    def description(self) -> dict[str, Any]:
        """The candidates in a certificate."""
        bounds = {"lower": self.lower, "upper": self.upper}
        if self.grid is None:
            return {"source": "bounds", **bounds}
        return {"source": "grid", **bounds, "step": float(self.grid.step), "count": self.grid.count}
