"""Whole numbers as callers hold them, accepted by their type, so that no refusal depends on a value."""

from __future__ import annotations

from numbers import Integral
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from dpselect.errors import InvalidDataError, InvalidParameterError, InvalidScoresError, Shown, describe
from dpselect.mechanisms.score_vectors import ScoresLike, native_scores

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_HINT = "Round first, and give the sensitivity of the rounded numbers."


def whole_value(value: object) -> int:
    """`value` as an int, if its type is one of whole numbers.

    >>> whole_value(np.int8(-3))
    -3
    """
    if not _is_whole(value):
        raise InvalidDataError(
            "value", Shown(f"<{type(value).__name__}>"), "a whole number (of an integer type)", _HINT
        )
    return int(cast(Any, value))


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.timedelta64)


def whole_values(values: ScoresLike) -> npt.NDArray[np.int64]:
    """`values` as contiguous 64-bit integers; those outside that range become its nearer end.

    >>> whole_values(np.array([3, 2**64 - 1], dtype=np.uint64))
    array([                  3, 9223372036854775807])
    """
    expected = "a one-dimensional array of integers"
    if isinstance(cast(object, values), list | tuple):
        members = cast("list[Any]", values)
        if members and all(map(_is_whole, members)):
            return np.array([min(max(int(each), _SMALLEST), _LARGEST) for each in members], dtype=np.int64)
    try:
        vector = native_scores(values)
    except InvalidScoresError as refused:
        problem = InvalidDataError("values", refused.got, expected)
    else:
        if vector.dtype.kind in "iu" or vector.size == 0:
            fits = np.minimum(vector, np.uint64(_LARGEST)) if vector.dtype == np.uint64 else vector
            return np.ascontiguousarray(fits, dtype=np.int64)
        problem = InvalidDataError("values", Shown(f"<numbers of type {vector.dtype}>"), expected, _HINT)
    raise problem


def offsets_from(value: int, points: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """``points - value`` as doubles, subtracted exactly."""
    at = np.asarray(points)
    is_small = at.dtype.kind in "iu" and (at.size == 0 or max(-int(at.min()), int(at.max())) < 2**62)
    if is_small and abs(value) < 2**62:
        return (at.astype(np.int64) - value).astype(np.float64)
    apart = [min(max(each - value, -(2**1000)), 2**1000) for each in whole_points(at).ravel()]
    return np.array(apart, dtype=np.float64).reshape(at.shape)


def whole_points(points: npt.ArrayLike) -> npt.NDArray[Any]:
    """`points` as an array of Python integers.

    >>> whole_points([2**70, 3]).tolist() == [2**70, 3]
    True
    """
    at = np.asarray(points)
    members: list[Any] = at.astype(object).ravel().tolist()
    if not all(map(_is_whole, members)):
        raise InvalidParameterError("points", Shown(describe(points)), "whole numbers")
    return np.array([int(each) for each in members], dtype=object).reshape(at.shape)
