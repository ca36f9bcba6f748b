"""Public grids: their points are decimals, and every value counts as the nearest one, the lower of two."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from dpselect.errors import InvalidParameterError
from dpselect.grids import Grid, growing_grid
from dpselect.mechanisms.numbers import native_grid
from tests.reference.unit_values import on_grid


def test_points_are_what_a_person_would_write() -> None:
    grid = Grid.dividing(Fraction(0), Fraction(1), step=0.1)
    assert [grid.point(i) for i in range(11)] == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert 3 * 0.1 != 0.3  # control: what multiplying doubles would give
    assert grid.upper == 1


@given(
    st.floats(-1e9, 1e9), st.fractions(Fraction(1, 1000), 1000, max_denominator=1000), st.integers(1, 10**6), st.data()
)
def test_the_nearest_point_is_the_nearest(lower: float, step: Fraction, intervals: int, data: st.DataObject) -> None:
    upper = Fraction(repr(lower)) + intervals * step
    try:
        grid = Grid.dividing(Fraction(repr(lower)), upper, step=step)
    except InvalidParameterError:
        assume(False)
    at = data.draw(st.integers(0, intervals))
    midway = float(grid.lower + (at + Fraction(1, 2)) * step)
    beside = st.sampled_from([midway, float(np.nextafter(midway, -np.inf)), float(np.nextafter(midway, np.inf))])
    value = data.draw(st.floats(lower, float(upper)) | beside)
    (position,) = native_grid(grid).nearest(np.array([value])).tolist()
    near = range(max(position - 2, 0), min(position + 3, grid.count))
    assert on_grid((Fraction(value),), [grid.lower + j * step for j in near])[0] == grid.lower + position * step
    assert native_grid(grid).nearest(np.array([grid.point(at)])).tolist() == [at]
    assert native_grid(grid).point(at) == grid.point(at)


def test_the_finest_grid_still_tells_its_points_apart() -> None:
    ends: list[tuple[Any, Any, Any]] = [
        (Fraction(0), Fraction(2**51), Fraction(1)),
        (Fraction(2**50), Fraction(2**50 + 2**20), Fraction(1, 2)),
        (1 - Fraction(1, 2**20), Fraction(1), Fraction(1, 2**51)),
        (Fraction(2**52) + Fraction(1, 3), Fraction(2**52) + Fraction(601, 3), Fraction(2)),
    ]
    for lower, upper, step in ends:
        grid = Grid.dividing(lower, upper, step=step)
        at = np.array(sorted({0, 1, 2, grid.count // 3, grid.count - 3, grid.count - 2, grid.count - 1}), np.uint64)
        points = np.array([grid.point(int(each)) for each in at])
        assert native_grid(grid).nearest(points).tolist() == at.tolist()
        assert np.all(np.diff(points) > 0)


def test_infinities_count_as_the_ends() -> None:
    grid = native_grid(Grid.dividing(Fraction(-1), Fraction(2), step=0.5))
    assert grid.nearest(np.array([-np.inf, -7.0, -0.75, -0.74, 1.75, 1.76, np.inf])).tolist() == [0, 0, 0, 1, 5, 6, 6]


def test_growing_grids_are_fine_near_their_start() -> None:
    lower, step, points = growing_grid(0, step=1, growth=Fraction(101, 100))
    assert (lower, step, len(points)) == (0, 1, 3080)
    assert points[:3] + points[100:104] == (0.0, 1.0, 2.0, 100.0, 101.0, 103.0, 105.0)
