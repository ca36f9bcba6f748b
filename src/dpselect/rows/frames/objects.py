"""Reads Python objects one by one: no object affects how another is read, and none can make reading fail.

Objects are read by their actual type and by the methods of built-in types. An object's own attributes and methods
(``__class__``, ``__float__``, ``__eq__``, ...) are not trusted: they may do anything, and may raise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any, cast
from uuid import UUID

import numpy as np

Number = bool | int | float | Decimal | Fraction

_PLAIN = frozenset({bool, int, float, str, Decimal, Fraction})
_EXACTLY: dict[type, Callable[[Any], Any]] = {
    int: int.__int__,
    float: float.__float__,
    str: str.__str__,
    Decimal: Decimal,
}
"""Converts a value of a subclass to an equal value of the built-in type."""


def only_strings(values: Iterable[Any]) -> list[str | None]:
    """Strings as they are; None for anything else."""
    return [str.__str__(value) if issubclass(type(value), str) else None for value in values]


def text_of_objects(values: Iterable[Any]) -> list[str | None]:
    """Objects as text: strings as they are, other values as in a CSV file. Equal numbers give equal text.

    A whole number of any type is its digits; any other number is the shortest decimal of the nearest double. Dates are
    ``2026-11-21``, booleans ``true`` and ``false``, UUIDs as usual. Everything else is None: None, NaN, numbers beyond
    all doubles, timestamps, bytes, lists, objects of other types.

    >>> text_of_objects(["7", 7, 7.0, Decimal("7.00"), 0.5, True, date(2026, 11, 21), None, [7]])
    ['7', '7', '7', '7', '0.5', 'true', '2026-11-21', None, None]
    """
    return [value if type(value) is str else _text(value) for value in values]


def number_of_object(value: object) -> float:
    """The double nearest to a number, an infinity if the number is beyond all doubles; NaN for anything else.

    >>> number_of_object(Decimal("7.50")), number_of_object(-(10**400)), number_of_object("7")
    (7.5, -inf, nan)
    """
    try:
        plain = _plain(value)
        return np.nan if plain is None or isinstance(plain, str) else _double(plain)
    except Exception:  # noqa: BLE001 - an object that was never initialised, for example
        return np.nan


def place_of_object(value: object, known: Mapping[object, int]) -> int:
    """The place in `known` of the string or number `value`; -1 if it has none.

    >>> place_of_object(np.float32(1.0), {0: 0, 1: 1}), place_of_object("1", {0: 0, 1: 1})
    (1, -1)
    """
    try:
        return known.get(_plain(value), -1)
    except Exception:  # noqa: BLE001 - a decimal that signals, for example
        return -1


def _plain(value: Any) -> str | Number | None:
    """A string or number of a built-in type that equals `value`; None for anything else."""
    kind = cast("type[Any]", type(value))
    if kind in _PLAIN:
        return value
    if kind is np.longdouble:  # there is no such built-in type
        with np.errstate(all="ignore"):
            return int(value) if np.isfinite(value) and value.is_integer() else float(value)
    if issubclass(kind, (np.bool_, np.number)) and not issubclass(kind, np.timedelta64):
        return _plain(np.generic.item(value))
    return next((exactly(value) for base, exactly in _EXACTLY.items() if issubclass(kind, base)), None)


def _double(number: Number) -> float:
    try:
        return float(number)
    except OverflowError:  # a number beyond all doubles, and so beyond any bound
        return np.inf if number > 0 else -np.inf


def _text(value: Any) -> str | None:
    if value is None:
        return None
    try:
        plain = _plain(value)
        if plain is None:
            is_date = issubclass(type(value), date) and not issubclass(type(value), datetime)
            return date.isoformat(value) if is_date else str(value) if type(value) is UUID else None
        if isinstance(plain, str):
            return plain
        if isinstance(plain, bool):
            return "true" if plain else "false"
        return _digits(plain)
    except Exception:  # noqa: BLE001 - see above
        return None


def _digits(number: Number) -> str | None:
    double = _double(number)
    if not isfinite(double):  # checked first, because writing its digits may take very long
        return None
    whole = int(number)
    return str(whole) if whole == number else repr(double)
