"""Fractions that are worked out as in Python's own module, with fewer steps around the arithmetic.

Laws in exact fractions are a fifth of the time of `make test`, most of which Python 3.11 spends on finding out what it
was given. Here two fractions, or a fraction and an integer, go straight to the integers; all else goes to Python's own
operators, as does everything in `make test-slow`. `tests/test_quick_fractions.py` compares both.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from math import gcd
from typing import Any

import pytest

Operator = Callable[[Any, Any], Any]
_new: Any = object.__new__


def _made(numerator: int, denominator: int) -> Any:
    """In lowest terms already."""
    made = _new(Fraction)
    made._numerator, made._denominator = numerator, denominator
    return made


def _sum(na: int, da: int, nb: int, db: int) -> Any:
    """As in Knuth's second volume, 4.5.1, and in `fractions`."""
    made = _new(Fraction)
    common = gcd(da, db)
    if common == 1:
        made._numerator, made._denominator = na * db + da * nb, da * db
        return made
    part = da // common
    total = na * (db // common) + nb * part
    left = gcd(total, common)
    made._numerator, made._denominator = total // left, part * (db // left)
    return made


def _product(na: int, da: int, nb: int, db: int) -> Any:
    made = _new(Fraction)
    one, other = gcd(na, db), gcd(nb, da)
    made._numerator, made._denominator = (na // one) * (nb // other), (da // other) * (db // one)
    return made


def _quotient(na: int, da: int, nb: int, db: int) -> Any:
    if nb == 0:
        raise ZeroDivisionError(f"Fraction({na * db}, 0)")
    return _product(na, da, db, nb) if nb > 0 else _product(na, da, -db, -nb)


def _plus(own: Operator) -> Operator:
    def apply(a: Any, b: Any) -> Any:
        if type(b) is Fraction:
            return _sum(a._numerator, a._denominator, b._numerator, b._denominator)
        return _made(a._numerator + b * a._denominator, a._denominator) if type(b) is int else own(a, b)

    return apply


def _minus(own: Operator) -> Operator:
    def apply(a: Any, b: Any) -> Any:
        if type(b) is Fraction:
            return _sum(a._numerator, a._denominator, -b._numerator, b._denominator)
        return _made(a._numerator - b * a._denominator, a._denominator) if type(b) is int else own(a, b)

    return apply


def _from(own: Operator) -> Operator:
    def apply(b: Any, a: Any) -> Any:
        return _made(a * b._denominator - b._numerator, b._denominator) if type(a) is int else own(b, a)

    return apply


def _times(own: Operator) -> Operator:
    def apply(a: Any, b: Any) -> Any:
        if type(b) is Fraction:
            return _product(a._numerator, a._denominator, b._numerator, b._denominator)
        return _product(a._numerator, a._denominator, b, 1) if type(b) is int else own(a, b)

    return apply


def _divided(own: Operator) -> Operator:
    def apply(a: Any, b: Any) -> Any:
        if type(b) is Fraction:
            return _quotient(a._numerator, a._denominator, b._numerator, b._denominator)
        return _quotient(a._numerator, a._denominator, b, 1) if type(b) is int else own(a, b)

    return apply


def _dividing(own: Operator) -> Operator:
    def apply(b: Any, a: Any) -> Any:
        return _quotient(a, 1, b._numerator, b._denominator) if type(a) is int else own(b, a)

    return apply


def _compared(compare: Operator, own: Operator) -> Operator:
    def apply(a: Any, b: Any) -> Any:
        if type(b) is Fraction:
            return compare(a._numerator * b._denominator, b._numerator * a._denominator)
        return compare(a._numerator, b * a._denominator) if type(b) is int else own(a, b)

    return apply


def _equal(own: Operator) -> Operator:
    def apply(a: Any, b: Any) -> Any:
        if type(b) is Fraction:
            return a._numerator == b._numerator and a._denominator == b._denominator
        return own(a, b)

    return apply


def _power(own: Operator) -> Operator:
    def apply(a: Any, b: Any) -> Any:
        return _made(a._numerator**b, a._denominator**b) if type(b) is int and b >= 0 else own(a, b)

    return apply


_ARITHMETIC = {
    "__add__": _plus,
    "__radd__": _plus,
    "__sub__": _minus,
    "__rsub__": _from,
    "__mul__": _times,
    "__rmul__": _times,
    "__truediv__": _divided,
    "__rtruediv__": _dividing,
}


def operators() -> dict[str, Callable[..., Any]]:
    """The quick ones by name, with Python's own for what they leave to it."""
    found: dict[str, Callable[..., Any]] = {
        name: work_out(getattr(Fraction, name)) for name, work_out in _ARITHMETIC.items()
    }
    for name in ("lt", "le", "gt", "ge"):
        found[f"__{name}__"] = _compared(getattr(operator, name), getattr(Fraction, f"__{name}__"))
    found["__eq__"] = _equal(Fraction.__eq__)
    found["__pow__"] = _power(Fraction.__pow__)
    found["__neg__"] = lambda a: _made(-a._numerator, a._denominator)
    found["__abs__"] = lambda a: _made(abs(a._numerator), a._denominator)
    found["__float__"] = lambda a: a._numerator / a._denominator
    return found


@contextmanager
def quick_fractions() -> Iterator[None]:
    """Until the block ends, all fractions are quick."""
    with pytest.MonkeyPatch.context() as patch:
        for name, apply in operators().items():
            patch.setattr(Fraction, name, apply)
        yield
