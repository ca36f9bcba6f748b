"""Public grids as the core reads them."""

from __future__ import annotations

import math
from fractions import Fraction

from dpselect._native import _core
from dpselect.grids import Grid


def native_grid(grid: Grid) -> _core.Grid:
    """The same points."""
    denominator = math.lcm(grid.lower.denominator, grid.step.denominator)
    start, step = int(grid.lower * denominator), int(grid.step * denominator)
    return _core.Grid(_bytes(start, signed=True), _bytes(step), _bytes(denominator), grid.count)


def _bytes(number: int, *, signed: bool = False) -> bytes:
    return number.to_bytes(number.bit_length() // 8 + 1, "little", signed=signed)


def native_fraction(number: Fraction) -> tuple[bytes, bytes]:
    """Numerator in two's complement and denominator, as the core reads them.

    >>> [int.from_bytes(part, "little", signed=True) for part in native_fraction(Fraction(-1, 3))]
    [-1, 3]
    """
    return _bytes(number.numerator, signed=True), _bytes(number.denominator)
