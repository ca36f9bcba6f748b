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


def _made(numerator: int, denominator: int) -> Fraction:
    """In lowest terms already."""
    made: Any = object.__new__(Fraction)
    made._numerator, made._denominator = numerator, denominator
    return made


def _added(a: Any, b: Any) -> Fraction:
    """As in Knuth's second volume, 4.5.1, and in `fractions`."""
    na, da, nb, db = a._numerator, a._denominator, b._numerator, b._denominator
    common = gcd(da, db)
    if common == 1:
        return _made(na * db + da * nb, da * db)
    part = da // common
    total = na * (db // common) + nb * part
    left = gcd(total, common)
    return _made(total // left, part * (db // left))


def _subtracted(a: Any, b: Any) -> Fraction:
    return _added(a, _made(-b._numerator, b._denominator))


def _multiplied(a: Any, b: Any) -> Fraction:
    na, da, nb, db = a._numerator, a._denominator, b._numerator, b._denominator
    one, other = gcd(na, db), gcd(nb, da)
    if one != 1:
        na, db = na // one, db // one
    if other != 1:
        nb, da = nb // other, da // other
    return _made(na * nb, da * db)


def _divided(a: Any, b: Any) -> Fraction:
    if b._numerator == 0:
        raise ZeroDivisionError(f"Fraction({a._numerator * b._denominator}, 0)")
    sign = 1 if b._numerator > 0 else -1
    return _multiplied(a, _made(sign * b._denominator, sign * b._numerator))


def _forward(work_out: Operator, own: Operator) -> Operator:
    def apply(a: Any, b: Any) -> Any:
        if type(b) is Fraction:
            return work_out(a, b)
        return work_out(a, _made(b, 1)) if type(b) is int else own(a, b)

    return apply


def _reverse(work_out: Operator, own: Operator) -> Operator:
    def apply(b: Any, a: Any) -> Any:
        return work_out(_made(a, 1), b) if type(a) is int else own(b, a)

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


_ARITHMETIC: dict[str, Operator] = {"add": _added, "sub": _subtracted, "mul": _multiplied, "truediv": _divided}


def operators() -> dict[str, Callable[..., Any]]:
    """The quick ones by name, with Python's own for what they leave to it."""
    found: dict[str, Callable[..., Any]] = {}
    for name, work_out in _ARITHMETIC.items():
        found[f"__{name}__"] = _forward(work_out, getattr(Fraction, f"__{name}__"))
        found[f"__r{name}__"] = _reverse(work_out, getattr(Fraction, f"__r{name}__"))
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
