"""Checks of what goes into a chart; their errors name the argument and never quote a number of a curve or a bar."""

from __future__ import annotations

import math
from typing import cast

import numpy as np
from numpy.typing import NDArray

from dpselect.errors import InvalidParameterError


def text(name: str, value: object, expected: str) -> str:
    """`value`, if it is a text that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidParameterError(name, value, expected)
    return value


def is_number(value: object) -> bool:
    """Whether `value` is one finite number.

    >>> is_number(np.float32(2)), is_number(float("nan")), is_number(True), is_number("2")
    (True, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        return math.isfinite(cast(float, value))
    except OverflowError:
        return False


def vector(name: str, values: object, expected: str) -> NDArray[np.float64]:
    """`values` as an array of doubles, if they are a one-dimensional array-like of numbers."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):  # the text of the library's own error may quote the values
        raise InvalidParameterError(name, values, expected) from None
    if array.ndim != 1 or array.dtype.kind not in "fiu":
        raise InvalidParameterError(name, values, expected)
    return array.astype(np.float64)
