"""Quick fractions are Python's own fractions: the same numbers in lowest terms, the same types, the same errors."""

from __future__ import annotations

import operator
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests import quick_fractions

OPERATORS: list[Callable[..., Any]] = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.pow),
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
]
NUMBERS: list[Any] = [
    *(Fraction(a, b) for a, b in product((-7, -6, -1, 0, 1, 4, 9, 2**70 + 2), (1, 2, 6, 35, 2**65))),
    *(-(2**80), -3, 0, 1, 2, 12, True, 0.5, -2.0, float("inf"), float("nan"), 1j, "1", None, Decimal(1)),
]


def results(apply: Callable[..., Any]) -> list[str]:
    """Of all pairs of numbers, a fraction among them: types, what they look like, and errors."""
    found: list[str] = []
    for pair in product(NUMBERS, repeat=2):
        if not any(isinstance(each, Fraction) for each in pair) or (apply is operator.pow and too_large(*pair)):
            continue
        try:
            result = apply(*pair)
            found.append(f"{type(result).__name__} {result!r}")
        except (ArithmeticError, TypeError, ValueError) as error:
            found.append(type(error).__name__)
    return found


def too_large(base: Any, power: Any) -> bool:
    return isinstance(power, int | Fraction) and abs(power) > 100


def printed(*, quick: bool) -> list[str]:
    """In a process of its own, where nothing has been replaced yet."""
    block = "with quick_fractions.quick_fractions():" if quick else "if True:"
    program = (
        "from tests import quick_fractions\n"
        "from tests.test_quick_fractions import NUMBERS, OPERATORS, Fraction, results\n"
        f"{block}\n"
        "    for apply in OPERATORS: print(*results(apply), sep='|')\n"
        "    own = [each for each in NUMBERS if isinstance(each, Fraction)]\n"
        "    print([(-each, abs(each), float(each), hash(each), sum([each, each])) for each in own])\n"
        "    print(Fraction.__add__.__module__)\n"
    )
    root = Path(quick_fractions.__file__).parents[1]
    command = [sys.executable, "-c", program]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True, timeout=120).stdout.split("\n")


def test_all_results_are_pythons_own() -> None:
    *own, python, _ = printed(quick=False)
    *quick, ours, _ = printed(quick=True)
    assert (python, ours) == ("fractions", "tests.quick_fractions")
    assert quick == own
    assert len(own) == len(OPERATORS) + 1
    assert all(len(line.split("|")) > 2000 for line in own[:-1])


@pytest.mark.parametrize("name", ["_sum", "_product"])
def test_terms_that_are_not_the_lowest_would_be_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Control."""
    monkeypatch.setattr(quick_fractions, "gcd", lambda *_: 1)
    worked_out = getattr(quick_fractions, name)(1, 6, 3, 2)
    assert worked_out._denominator == 12
    assert repr(worked_out) not in (repr(Fraction(5, 3)), repr(Fraction(1, 4)))
