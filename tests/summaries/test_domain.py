"""The public numbers an answer may be: which bounds and steps are refused, and which point is nearest."""

from __future__ import annotations

import decimal
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpselect.errors import InvalidParameterError
from dpselect.summaries import PublicDomain
from dpselect.summaries.domain import MOST_POINTS

LARGEST = 1.7976931348623157e308


@pytest.mark.parametrize(
    "bounds",
    [(0, 120), [0, 120], (0.0, np.float32(120)), (np.int8(0), Fraction(120)), (-0.0, decimal.Decimal(120))],
)
def test_bounds(bounds: Any) -> None:
    domain = PublicDomain.given(bounds)
    assert (domain.lower, domain.upper, domain.step, domain.points) == (0.0, 120.0, None, None)
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
        None,
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
            PublicDomain.given(bounds, step=step)


def test_a_column_given_as_bounds_is_not_repeated() -> None:
    for bounds in ([41.25, 52.5, 17.75], np.array([41.25, 52.5, 17.75]), {"ann": 41.25, "bob": 52.5}):
        with pytest.raises(InvalidParameterError) as caught:
            PublicDomain.given(bounds)
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
        ((0, 2**40 - 1), 1, 2**40),
    ],
)
def test_steps(bounds: Any, step: Any, points: int) -> None:
    domain = PublicDomain.given(bounds, step=step)
    assert domain.points == points
    assert domain.description() == {
        "source": "grid",
        "lower": float(bounds[0]),
        "upper": float(bounds[1]),
        "step": float(step),
        "count": points,
    }
    assert (domain.point(0), domain.point(points - 1)) == (float(bounds[0]), float(bounds[1]))
    first = [domain.point(i) for i in range(min(points, 50))]
    assert first == sorted(set(first))
    assert domain.nearest(np.array(first)).tolist() == list(range(len(first)))


def test_points_are_what_a_person_would_write() -> None:
    domain = PublicDomain.given((0, 1), step=0.1)
    assert [domain.point(i) for i in range(11)] == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert 3 * 0.1 != 0.3  # control: what multiplying doubles would give


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
        ((0, 2**40), 1),
        ((0, 1), 1e-15),
        ((2**60, 2**60 + 2**20), 1),
        ((1e16, 1e16 + 100), 4),
    ],
)
def test_steps_that_are_refused(bounds: Any, step: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"^step="):
        PublicDomain.given(bounds, step=step)


@given(
    st.floats(-1e9, 1e9), st.fractions(Fraction(1, 1000), 1000, max_denominator=1000), st.integers(1, 10**6), st.data()
)
def test_the_nearest_point_is_the_nearest(lower: float, step: Fraction, intervals: int, data: Any) -> None:
    upper = Fraction(repr(lower)) + intervals * step
    try:
        domain = PublicDomain.given((lower, upper), step=step)
    except InvalidParameterError:
        assume(False)
    value = data.draw(st.floats(domain.lower, domain.upper))
    (position,) = domain.nearest(np.array([value]))
    assert position == int(position)
    assert 0 <= position < intervals + 1
    away = abs(Fraction(value) - (Fraction(repr(lower)) + int(position) * step))
    assert away <= step * (Fraction(1, 2) + Fraction(1, 4))  # exactly so only as far as doubles can tell
    at = data.draw(st.integers(0, intervals))
    assert domain.nearest(np.array([domain.point(at)])).tolist() == [at]


def test_the_finest_grid_still_tells_its_points_apart() -> None:
    grids: list[tuple[Any, Any]] = [
        ((0, MOST_POINTS - 1), 1),
        ((2**50, 2**50 + 2**20), 2),
        ((Fraction(1) - Fraction(1, 2**20), 1), Fraction(1, 2**49)),
    ]
    for bounds, step in grids:
        domain = PublicDomain.given(bounds, step=step)
        assert domain.points is not None
        for at in {0, 1, 2, domain.points // 3, domain.points - 2, domain.points - 1}:
            assert domain.nearest(np.array([domain.point(at)])).tolist() == [at]
