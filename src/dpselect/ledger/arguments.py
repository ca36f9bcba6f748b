"""Checks of the arguments that callers give a ledger."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any, cast

from dpselect.checks import members_in_order
from dpselect.errors import InvalidParameterError, Shown
from dpselect.server_urls import HIDDEN, is_login

_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
"""A decimal that every reader understands alike: no underscores, no blanks, no digits of other scripts."""
_LARGEST = Fraction(sys.float_info.max)
"""A larger limit promises nothing, and could not be shown as a number."""

_LONGEST = 1000
_MOST_NOTE = 10_000


def exact_fraction(value: object, name: str, *, zero: bool = False, below_one: bool = False) -> Fraction:
    """A limit as an exact fraction. Floats, decimals and fractions keep their exact values; text is read as a decimal.

    So the float 0.3 is a little below three tenths, and three charges of 0.1, each a little above a tenth, exceed it.

    >>> exact_fraction(0.3, "epsilon") < 3 * Fraction(0.1), exact_fraction("0.3", "epsilon")
    (True, Fraction(3, 10))
    """
    least = "from 0" if zero else "> 0"
    expected = f"a number {least} to below 1" if below_one else f"a finite number {least.replace('from', '>=')}"
    exact = _exact(value)
    if exact is None or not 0 <= exact <= _LARGEST or (exact == 0 and not zero) or (below_one and exact >= 1):
        raise InvalidParameterError(name, Shown(repr(value)) if isinstance(value, Decimal) else value, expected)
    return exact


def _exact(value: object) -> Fraction | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        try:
            value = Decimal(value) if len(value) <= 100 and _DECIMAL.fullmatch(value) else None
        except ArithmeticError:
            return None
    if isinstance(value, Decimal):
        few = value.is_finite() and -400 < value.adjusted() < 309 and len(value.as_tuple().digits) <= _LONGEST
        return _short(Fraction(value)) if few else None
    if isinstance(value, float):
        return Fraction(value) if math.isfinite(value) else None
    if isinstance(value, Rational):
        return _short(Fraction(int(value.numerator), int(value.denominator)))
    return None


def _short(exact: Fraction) -> Fraction | None:
    """`exact`, or None if it has too many digits to be read back."""
    return exact if max(exact.numerator.bit_length(), exact.denominator.bit_length()) < 4000 else None


def short_text(value: object, name: str, *, empty: bool = False) -> str:
    """Check a name or a note: printable, and not too long."""
    most = _MOST_NOTE if empty else _LONGEST
    if not isinstance(value, str) or not (empty or value) or len(value) > most or not (value.isprintable()):
        got = Shown(f"<text of length {len(value)}>") if isinstance(value, str) else value
        raise InvalidParameterError(name, got, f"a printable text of {0 if empty else 1} to {most} characters")
    if is_login(value):
        hint = "It is stored for ever, and receipts show parts of it. Did you pass the ledger, or the table, here?"
        raise InvalidParameterError(name, Shown(HIDDEN), "a text without a password", hint)
    return value


def any_text(value: object, name: str) -> str:
    """Check a text of any length: one that every database can hold."""
    if not isinstance(value, str):
        raise InvalidParameterError(name, value, "a text")
    try:
        if b"\0" not in value.encode():
            return value
    except UnicodeEncodeError:
        pass  # refused below, like the other texts that PostgreSQL refuses
    raise InvalidParameterError(name, Shown("<text>"), "a text that UTF-8 can hold, without NUL characters")


def hash_text(value: object, name: str) -> str:
    """Check a SHA-256 hash in hexadecimal digits."""
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{64}", value):
        raise InvalidParameterError(name, value, "a hash of 64 hexadecimal digits")
    return value


def moment(value: object, name: str) -> datetime:
    """Check a time: it needs a time zone, so that it means the same everywhere."""
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise InvalidParameterError(name, value, "a datetime with a time zone")
    return value


def seconds(value: object) -> float:
    """Check a waiting time in seconds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e6:
        raise InvalidParameterError("wait", value, "a number of seconds, from 0 to below a million")
    return float(value)


def tuples_of(value: object, name: str, size: int) -> Sequence[Any]:
    """Check a list of tuples of one size."""
    expected = f"a list of tuples of {size}"
    held: Sequence[Any] = members_in_order(value, name, expected=expected)
    if not all(isinstance(each, (tuple, list)) and len(cast("Sequence[object]", each)) == size for each in held):
        raise InvalidParameterError(name, Shown("<other members>"), expected)
    return held
