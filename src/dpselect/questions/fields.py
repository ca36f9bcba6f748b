"""Checks of a certificate's fields: each has its type and range, and none is missing or unknown.

Errors name the field but never quote its value, which may be the answer or something private.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any, NamedTuple, cast

from dpselect.errors import InvalidCertificateError, Shown

Fields = dict[str, Any]
Check = Callable[[object, str], object]

_LARGEST = 2**63 - 1
_MOST_ROWS = 10**9


class AnswerFields(NamedTuple):
    """The checks for the values of an answer, and whether it has an error bound.

    Attributes:
        value: the check of one value.
        length: number of values; None: a single value, not in a list.
        has_bound: whether an error bound is stated.
        most: the largest number of values, in a list that may be shorter; None: `length` says it.
    """

    value: Check
    length: int | None = None
    has_bound: bool = True
    most: int | None = None


def wrong(field: str, expected: str, hint: str = "") -> InvalidCertificateError:
    """The error for a field."""
    return InvalidCertificateError("certificate", Shown(f"<{field}>"), expected, hint)


def object_with(held: object, name: str, checks: dict[str, Check], *, optional: Iterable[str] = ()) -> Fields:
    expected = f"an object with the fields {', '.join(checks)}" if checks else "an object without fields"
    if not isinstance(held, dict):
        raise wrong(name, expected)
    fields = cast(Fields, held)
    if not set(fields) <= set(checks) or not set(checks) - set(optional) <= set(fields):
        raise wrong(name, expected)
    prefix = "" if name == "text" else f"{name}."
    for field, value in fields.items():
        checks[field](value, prefix + field)
    return fields


def text(value: object, name: str, *, empty: bool = False) -> str:
    if not isinstance(value, str) or not (value or empty):
        raise wrong(name, "a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise wrong(name, "a text that UTF-8 can hold") from None
    return value


def any_text(value: object, name: str) -> None:
    text(value, name, empty=True)


def file_name(value: object, name: str) -> None:
    if "/" in text(value, name):
        raise wrong(name, "names of files without folders")


def one_of(*allowed: str) -> Check:
    def check(value: object, name: str) -> None:
        if not isinstance(value, str) or value not in allowed:
            raise wrong(name, f"one of {', '.join(allowed)}")

    return check


def sha256(value: object, name: str) -> None:
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{64}", value):
        raise wrong(name, "64 hexadecimal digits")


def boolean(value: object, name: str) -> None:
    if not isinstance(value, bool):
        raise wrong(name, "true or false")


def whole(least: int, most: int = _LARGEST) -> Check:
    def check(value: object, name: str) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise wrong(name, f"a whole number from {least} to {most}")

    return check


def fraction(value: object, name: str) -> None:
    """Check for a fraction in lowest terms, of at most 3300 bits over 2200 bits, as the common unit of prices is."""
    digits = "[1-9][0-9]{0,1000}"
    if not isinstance(value, str) or not re.fullmatch(f"{digits}(/{digits})?", value) or str(Fraction(value)) != value:
        raise wrong(name, "a fraction > 0 in its lowest terms, as text")


def number(value: object, name: str) -> float:
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(float(value)):
            return float(value)
    except OverflowError:
        pass  # said below, as for all that no double holds
    raise wrong(name, "a finite number")


def share(value: object, name: str) -> None:
    if not isinstance(value, float) or not math.isfinite(value):
        raise wrong(name, "shares, as numbers with a point")


def that(holds: Callable[[float], bool], expected: str) -> Check:
    def check(value: object, name: str) -> None:
        if not holds(number(value, name)):
            raise wrong(name, expected)

    return check


positive = that(lambda number: number > 0.0, "a number > 0")
delta = that(lambda number: 0.0 <= number < 1.0, "a number from 0 to below 1")
probability = that(lambda number: 0.0 < number < 1.0, "a number strictly between 0 and 1")
level = that(lambda number: 0.0 <= number <= 1.0, "a number from 0 to 1")
not_negative = that(lambda number: number >= 0.0, "a number >= 0")
count = whole(1)


def list_of(check: Check, *, empty: bool = True) -> Check:
    def checked(value: object, name: str) -> None:
        if not isinstance(value, list) or not (value or empty):
            raise wrong(name, "a list" if empty else "a list that is not empty")
        for member in cast("list[object]", value):
            check(member, name)

    return checked


def iso_date(value: object, name: str) -> None:
    try:
        if date.fromisoformat(text(value, name)).isoformat() == value:
            return
    except ValueError as error:
        if isinstance(error, InvalidCertificateError):
            raise
    raise wrong(name, "a date as ISO 8601 text")


def utc_time(value: object, name: str) -> None:
    try:
        time = datetime.fromisoformat(text(value, name))
        if time.isoformat(timespec="seconds") == value and time.utcoffset() == timedelta(0):
            return
    except ValueError as error:
        if isinstance(error, InvalidCertificateError):
            raise
    raise wrong(name, "a time in UTC as ISO 8601 text")


def anything(value: object, name: str) -> None:
    """A field whose kind another field states, or that another reader parses."""
    del value, name


def or_null(check: Check) -> Check:
    def checked(value: object, name: str) -> None:
        if value is not None:
            check(value, name)

    return checked


def always(checks: dict[str, Check], *, optional: Iterable[str] = (), one_of: Iterable[str] = ()) -> Check:
    """An object with these fields; of those in `one_of`, which are optional, too, it has exactly one."""

    def check(value: object, name: str) -> None:
        held = object_with(value, name, checks, optional=[*optional, *one_of])
        if one_of and len(set(one_of) & set(held)) != 1:
            raise wrong(name, f"exactly one of the fields {', '.join(one_of)}")

    return check


KINDS: dict[str, Check] = {
    "whole numbers": whole(-_LARGEST - 1),
    "numbers": number,
    "text": text,
    "dates": iso_date,
    "booleans": boolean,
}
_ENDS: dict[str, Check] = {"lower": number, "upper": number}
LISTED: dict[str, Check] = {
    "origin": one_of("caller"),
    "count": count,
    "kind": one_of(*KINDS),
    "range": always(dict.fromkeys(("first", "last", "step"), whole(-_LARGEST - 1))),
}
BOUNDS: dict[str, Check] = {"source": one_of("bounds"), **_ENDS}
GRID: dict[str, Check] = {"source": one_of("grid"), **_ENDS, "step": positive, "count": count}
GROWING: dict[str, Check] = {
    "source": one_of("growing"),
    **_ENDS,
    "step": positive,
    "growth": that(lambda number: number > 1.0, "a number above 1"),
    "count": count,
}
ROWS: dict[str, Check] = {"max_rows_per_unit": whole(1, _MOST_ROWS)}
SUMMED: dict[str, Check] = {
    "sum": any_text,
    "scale": positive,
    "lower": whole(-(2**31), 2**31),
    "upper": whole(-(2**31), 2**31),
}
BINS: dict[str, Check] = {"source": one_of("bins"), **_ENDS, "count": count}


def entry(held: object, name: str) -> object:
    """Of what may be an object."""
    return cast(Fields, held).get(name) if isinstance(held, dict) else None


def is_grid(held: Fields) -> bool:
    """Check the public bounds of a certificate, and say whether there is a grid between them."""
    is_grid = entry(held["candidates"], "source") != "bounds"
    object_with(held["candidates"], "candidates", GRID if is_grid else BOUNDS)
    return is_grid
