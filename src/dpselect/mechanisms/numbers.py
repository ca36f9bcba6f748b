"""Numbers of mechanisms: the scale of noise, exact values, and whole numbers and fractions as the core reads them."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.checks import exact_number
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown
from dpselect.grids import Grid

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@lru_cache(maxsize=256)  # a draw with a gap asks for it each time
def scale_of(epsilon: float, sensitivity: float, *, factor: Literal[1, 2]) -> float:
    """``factor * sensitivity / epsilon``; infinite or 0 if a double cannot hold it.

    >>> scale_of(0.5, 1.0, factor=2)
    4.0
    """
    numerator, numerator_exponent = math.frexp(sensitivity)
    denominator, denominator_exponent = math.frexp(epsilon)
    try:
        return math.ldexp(numerator / denominator, numerator_exponent - denominator_exponent + factor - 1)
    except OverflowError:
        return math.inf


def native_grid(grid: Grid) -> _core.Grid:
    """The same points."""
    below = math.lcm(grid.lower.denominator, grid.step.denominator)
    start, step = native_whole(int(grid.lower * below), signed=True), native_whole(int(grid.step * below))
    return _core.Grid(start, step, native_whole(below), grid.count)


def native_whole(number: int, *, signed: bool = False) -> bytes:
    """A whole number as the core reads it."""
    return number.to_bytes(number.bit_length() // 8 + 1, "little", signed=signed)


def native_fraction(number: Fraction) -> tuple[bytes, bytes]:
    """Numerator in two's complement and denominator, as the core reads them.

    >>> [int.from_bytes(part, "little", signed=True) for part in native_fraction(Fraction(-1, 3))]
    [-1, 3]
    """
    return native_whole(number.numerator, signed=True), native_whole(number.denominator)


def exact_value(
    value: object, error: type[InvalidParameterError] = InvalidDataError, *, name: str = "value", hint: str = ""
) -> Fraction:
    """A number of the data, exactly; or an error that does not show it, nor holds one that does."""
    try:
        return exact_number(value, name)
    except InvalidParameterError:
        pass
    got = Shown("<not a finite number, or one beyond all doubles>")
    raise error(name, got, "a finite number, below 2^1024 in size", hint)


def shortest(number: Fraction) -> float | Fraction:
    """The float that is written like this decimal, if there is one."""
    return float(number) if Fraction(repr(float(number))) == number else number
