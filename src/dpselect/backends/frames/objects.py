"""Python objects, each read alone: what one is never decides how another is read, and none can make reading fail.

What an object is, is told by its type as the interpreter knows it and by the methods of the built-in types. What it
says of itself (``__class__``, ``__float__``, ``__eq__``, ...) may be anything, and may raise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast
from uuid import UUID

import numpy as np

from dpselect.backends.rows.arrow import Array, text_array

_LONGEST_NUMBER = 1024
"""Bits of a whole number; longer ones, which no double can hold and Python may refuse to write down, are left out."""

_MRO = type.__dict__["__mro__"]


def lineage(value: object) -> tuple[type, ...]:
    """The type of `value` and all it inherits from, as the interpreter knows them."""
    return _MRO.__get__(type(value))


def text_of_strings(values: Iterable[Any]) -> Array:
    """Strings as Arrow text; null for what is no string, or one that UTF-8 cannot hold."""
    return text_array(only_strings(values))


def only_strings(values: Iterable[Any]) -> list[str | None]:
    """Strings as they are; None for what is no string."""
    return [str.__str__(value) if str in lineage(value) else None for value in values]


def written_objects(values: Iterable[Any]) -> list[str | None]:
    """Objects as text: as they would stand in a CSV file, equal numbers alike.

    Strings are themselves; numbers are written in decimal, whole ones without a point and all without zeros at the end,
    whatever their type; dates as ``2026-11-21``; booleans as ``true`` and ``false``; UUIDs as usual. All else is None:
    None, NaN, timestamps, bytes, lists, whole numbers that no double can hold, objects of other types.

    >>> written_objects(["7", 7, 7.0, Decimal("7.00"), 0.5, True, date(2026, 11, 21), None, [7]])
    ['7', '7', '7', '7', '0.5', 'true', '2026-11-21', None, None]
    """
    return [value if type(value) is str else _written(value) for value in values]


def number_of_object(value: object) -> float:
    """The double nearest to a number, an infinity for one that is beyond all doubles; NaN for what is no number.

    >>> number_of_object(Decimal("7.50")), number_of_object(-(10**400)), number_of_object("7")
    (7.5, -inf, nan)
    """
    try:
        return _double(_plain(value))
    except Exception:  # noqa: BLE001 - an object that was never initialised, for example
        return np.nan


def place_of_object(value: object, known: Mapping[object, int]) -> int:
    """What `known` has for the string or number that `value` is; -1 for all else.

    >>> place_of_object(np.float32(1.0), {0: 0, 1: 1}), place_of_object("1", {0: 0, 1: 1})
    (1, -1)
    """
    try:
        plain = _plain(value)
        return -1 if plain is None else known.get(plain, -1)
    except Exception:  # noqa: BLE001 - a decimal that signals, for example
        return -1


def _plain(value: Any) -> bool | int | float | str | Decimal | Fraction | None:
    """A string or number of a built-in type, equal to `value`; None for all else."""
    kind = cast("type[object]", type(value))
    if kind is int or kind is float or kind is str or kind is Decimal or kind is bool or kind is Fraction:
        return value
    kinds = lineage(value)
    if np.bool_ in kinds or (np.number in kinds and np.timedelta64 not in kinds):
        value = np.generic.item(value)
        if type(value) is np.longdouble:  # there is no such built-in type
            with np.errstate(all="ignore"):
                return int(value) if np.isfinite(value) and value.is_integer() else float(value)
        kinds = lineage(value)
    if bool in kinds:
        return cast(bool, value)
    if int in kinds:
        return int.__int__(value)
    if float in kinds:
        return float.__float__(value)
    if str in kinds:
        return str.__str__(value)
    return Decimal(value) if Decimal in kinds else None


def _double(number: bool | int | float | str | Decimal | Fraction | None) -> float:
    if number is None or isinstance(number, str):
        return np.nan
    try:
        return float(number)
    except OverflowError:  # a whole number or a fraction beyond all doubles, and so beyond a bound
        return np.inf if number > 0 else -np.inf


def _written(value: Any) -> str | None:
    if value is None:
        return None
    try:
        plain = _plain(value)
        if plain is not None:
            return _of_plain(plain)
        if date in lineage(value) and datetime not in lineage(value):
            return date.isoformat(value)
        return str(value) if type(value) is UUID else None
    except Exception:  # noqa: BLE001 - see above
        return None


def _of_plain(plain: bool | int | float | str | Decimal | Fraction) -> str | None:
    """The same text for all numbers that are equal, and for no others but a float and the decimal it is shown as."""
    match plain:
        case str():
            return plain
        case bool():
            return "true" if plain else "false"
        case int():
            return str(plain) if plain.bit_length() <= _LONGEST_NUMBER else None
        case float():
            return str(int(plain)) if plain.is_integer() else repr(plain) if plain == plain else None
        case Decimal():
            return _of_decimal(plain)
        case _:
            return None


def _of_decimal(number: Decimal) -> str | None:
    if number.is_nan():
        return None
    double = float(number)
    if Decimal(double) == number:  # exactly, whatever the context's precision
        return _of_plain(double)
    if number.adjusted() >= _LONGEST_NUMBER:
        return None
    if number == number.to_integral_value():
        return _of_plain(int(number))
    sign, digits, exponent = number.as_tuple()
    zeros = len(digits) - len(bytes(digits).rstrip(b"\0"))
    return str(Decimal((sign, digits[: len(digits) - zeros], cast(int, exponent) + zeros)))
