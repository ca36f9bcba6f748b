"""Python objects as the text that stands for them, each alone: what one is never decides how another is read."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from typing import Any, cast
from uuid import UUID

import numpy as np

from dpselect.backends.rows.arrow import Array, text_array

_LONGEST_NUMBER = 1024
"""Bits of a whole number; longer ones, which Python may refuse to write down, are left out. Digits of a decimal: longer
ones, which no candidate equals, keep their exponent."""


def text_of_strings(values: Iterable[Any]) -> Array:
    """Strings as Arrow text; null for what is no string, or one that UTF-8 cannot hold."""
    return text_array([value if isinstance(value, str) else None for value in values])


def text_of_objects(values: Iterable[Any]) -> Array:
    """Objects as Arrow text: as they would stand in a CSV file.

    Strings are themselves; whole numbers, floats and decimals are written in decimal; dates as ``2026-11-21``; booleans
    as ``true`` and ``false``; UUIDs as usual. All else is null: None, timestamps, bytes, lists, objects of other types.

    >>> text_of_objects(["7", 7, 0.5, True, date(2026, 11, 21), None, [7]]).to_pylist()
    ['7', '7', '0.5', 'true', '2026-11-21', None, None]
    """
    return text_array([value if type(value) is str else _written(value) for value in values])


def _written(value: Any) -> str | None:
    """By the methods of the built-in types: those of a type derived from them could say anything, or fail."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, np.integer | np.floating):
        number = cast("np.number[Any]", value)
        value = int(number) if number.dtype.kind in "iu" else float(number)
    if isinstance(value, int):
        return int.__repr__(value) if int.bit_length(value) <= _LONGEST_NUMBER else None
    if isinstance(value, float):
        return float.__repr__(value)
    if isinstance(value, Decimal):
        is_short = abs(Decimal.adjusted(value)) <= _LONGEST_NUMBER
        return Decimal.__format__(value, "f") if is_short else Decimal.__str__(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        return date.isoformat(value)
    return str(value) if type(value) is UUID else None
