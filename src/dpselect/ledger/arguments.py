"""The checks of what callers give a ledger."""

from __future__ import annotations

import math
import re
import sys
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from numbers import Rational

from dpselect.errors import InvalidParameterError, Shown
from dpselect.server_urls import HIDDEN, is_login

_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
"""What every reader of it takes for the same number: no underscores, blanks, or digits of other scripts."""
_LARGEST = Fraction(sys.float_info.max)
"""A larger limit promises nothing, and could not be shown as a number."""

_LONGEST = 1000
_MOST_NOTE = 10_000


def exact_fraction(value: object, name: str, *, zero: bool = False, below_one: bool = False) -> Fraction:
    """A limit, exactly: a float is the double it is, a decimal or a fraction what it says; text is read as a decimal.

    So a limit of 0.3 is a little below three tenths, and three times 0.1, each a little above a tenth, is too much.

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
    """Of few enough digits to be read back."""
    return exact if max(exact.numerator.bit_length(), exact.denominator.bit_length()) < 4000 else None


def short_text(value: object, name: str, *, empty: bool = False) -> str:
    """A name: printable, not too long."""
    most = _MOST_NOTE if empty else _LONGEST
    if not isinstance(value, str) or not (empty or value) or len(value) > most or not (value.isprintable()):
        got = Shown(f"<text of length {len(value)}>") if isinstance(value, str) else value
        raise InvalidParameterError(name, got, f"a printable text of {0 if empty else 1} to {most} characters")
    if is_login(value):
        hint = "It is kept for good, and receipts show some of it. Is it the ledger, or the table, in the wrong place?"
        raise InvalidParameterError(name, Shown(HIDDEN), "a text without a password", hint)
    return value


def any_text(value: object, name: str) -> str:
    """A text of any length that every database can hold."""
    if not isinstance(value, str):
        raise InvalidParameterError(name, value, "a text")
    try:
        if b"\0" not in value.encode():
            return value
    except UnicodeEncodeError:
        pass  # said below, as of the other text that PostgreSQL refuses
    raise InvalidParameterError(name, Shown("<text>"), "a text that UTF-8 can hold, without NUL characters")


def hash_text(value: object, name: str) -> str:
    """A SHA-256 as text."""
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{64}", value):
        raise InvalidParameterError(name, value, "a hash of 64 hexadecimal digits")
    return value


def moment(value: object, name: str) -> datetime:
    """A time that everybody takes for the same."""
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise InvalidParameterError(name, value, "a datetime with a time zone")
    return value


def seconds(value: object) -> float:
    """A time to wait."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e6:
        raise InvalidParameterError("wait", value, "a number of seconds, from 0 to below a million")
    return float(value)
