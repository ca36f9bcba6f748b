"""Numbers as sentences and tables show them."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal


def as_text(value: object) -> str:
    """Every digit of it (a rounded epsilon would promise more than was kept), but 37 for 37.0.

    >>> as_text(0.1 + 0.2), as_text(37.0), as_text("37.0")
    ('0.30000000000000004', '37', '37.0')
    """
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def counted(count: int, noun: str) -> str:
    """How many there are.

    >>> counted(1, "row"), counted(1000, "price")
    ('1 row', '1,000 prices')
    """
    return f"{count:,} {noun}{'s' if count > 1 else ''}"


def rounded_up(bound: float) -> str:
    """A bound with three digits, rounded so that it still holds.

    >>> rounded_up(0.0123401), rounded_up(12340.0), rounded_up(2.0)
    ('0.0124', '12400', '2')
    """
    return f"{Context(prec=3, rounding=ROUND_CEILING).create_decimal(Decimal(bound)).normalize():f}"
