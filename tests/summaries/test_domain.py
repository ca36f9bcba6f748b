"""The public numbers an answer may be: which bounds and steps are refused."""

from __future__ import annotations

import decimal
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpselect.errors import InvalidParameterError
from tests.drawn_answers import planned

LARGEST = 1.7976931348623157e308


def domain_of(bounds: Any, step: Any = None) -> Any:
    """What a median of numbers between these bounds may be."""
    return planned("median", bounds=bounds, step=step, continuous=step is None, epsilon=1.0).domain


@pytest.mark.parametrize(
    "bounds", [(0, 120), [0, 120], (0.0, np.float32(120)), (np.int8(0), Fraction(120)), (-0.0, decimal.Decimal(120))]
)
def test_bounds(bounds: Any) -> None:
    domain = domain_of(bounds)
    assert (domain.lower, domain.upper, domain.grid) == (0.0, 120.0, None)
    assert domain.description() == {"source": "bounds", "lower": 0.0, "upper": 120.0}


@pytest.mark.parametrize(
    "bounds",
    [
        (120, 0),
        (5, 5),
        (0.0, -0.0),
        (math.nan, 1),
        (0, math.nan),
        (-math.inf, 0),
        (0, math.inf),
        (0, 10**400),
        (2**53, 2**53 + 1),
        (0, True),
        (None, 1),
        ("0", "120"),
        (0, 1j),
        (0, decimal.Decimal("NaN")),
        (0,),
        (0, 1, 2),
        (),
        "01",
        b"01",
        7,
        {0, 120},
        {0: 1, 120: 2},
        range(5),
        np.zeros((2, 2)),
        np.array(["0", "1"]),
        iter((0, 1)),
    ],
)
def test_bounds_that_are_refused(bounds: Any) -> None:
    for step in (None, 1):
        with pytest.raises(InvalidParameterError, match=r"^bounds="):
            domain_of(bounds, step=step)


def test_a_column_given_as_bounds_is_not_repeated() -> None:
    for bounds in ([41.25, 52.5, 17.75], np.array([41.25, 52.5, 17.75]), {"ann": 41.25, "bob": 52.5}):
        with pytest.raises(InvalidParameterError) as caught:
            domain_of(bounds)
        assert not {"41.25", "52.5", "17.75", "ann"} & set(str(caught.value).replace(",", " ").split())
        assert "bounds=<" in str(caught.value)


@pytest.mark.parametrize(
    ("bounds", "step", "points"),
    [
        ((0, 120), 1, 121),
        ((0, 120), 120, 2),
        ((0, 1), 0.1, 11),
        ((0.1, 0.3), 0.1, 3),
        ((0, 1), Fraction(1, 3), 4),
        ((-1, 1), np.float64(0.25), 9),
        ((-1e300, 1e300), 1e299, 21),
        ((1e-300, 3e-300), 1e-300, 3),
        ((-LARGEST, LARGEST), LARGEST, 3),
        ((0, 2**50), 1, 2**50 + 1),
    ],
)
def test_steps(bounds: Any, step: Any, points: int) -> None:
    domain = domain_of(bounds, step=step)
    assert domain.grid is not None
    assert domain.grid.count == points
    assert domain.description() == {
        "source": "grid",
        "lower": float(bounds[0]),
        "upper": float(bounds[1]),
        "step": float(step),
        "count": points,
    }
    assert (domain.grid.point(0), domain.grid.point(points - 1)) == (float(bounds[0]), float(bounds[1]))
    assert (float(domain.grid.upper), domain.arguments["step"]) == (float(bounds[1]), domain.grid.step)


@pytest.mark.parametrize(
    ("bounds", "step"),
    [
        ((0, 120), 7),
        ((0, 120), 240),
        ((0, 1), 0.3),
        ((0, 1), 1 / 3),
        ((0, 120), 0),
        ((0, 120), -1),
        ((0, 120), math.nan),
        ((0, 120), math.inf),
        ((0, 120), True),
        ((0, 120), "1"),
        ((0, 120), [1]),
        ((0, 2**53), 1),
        ((0, 1), 2.5e-16),
        ((2**60, 2**60 + 2**20), 1),
        ((1e16, 1e16 + 100), 2),
    ],
)
def test_steps_that_are_refused(bounds: Any, step: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"^step="):
        domain_of(bounds, step=step)
