"""The laws in float64 that the tests of tables rely on, against the exact ones."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from tests import rank_laws
from tests.reference.unit_values import released_law

GRID = (0, 1, 2, 3, 4)
DATA = [(), (2,), (0, 0), (4, 4, 4), (0, 1, 1, 3), (1, 1, 1, 1, 2, 4)]


@pytest.mark.parametrize("values", DATA)
@pytest.mark.parametrize("level", [Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(1)])
def test_laws_equal_the_exact_ones(values: tuple[int, ...], level: Fraction) -> None:
    root = Fraction(3, 2)
    scale = 1.0 / (level.denominator * math.log(root))
    data = {str(i): (value,) for i, value in enumerate(values)}
    numbers = np.array(values, np.float64)
    exact = released_law(data, GRID, level=level, most=1, root=root)
    law = rank_laws.grid_law(numbers, np.array(GRID, np.float64), level=float(level), scale=scale)
    assert law == pytest.approx([float(each) for each in exact], rel=1e-12)

    exact = released_law(data, GRID, level=level, most=1, root=root, cells=True)
    edges, probabilities = rank_laws.interval_law(numbers, level=float(level), bounds=(0.0, 4.0), scale=scale)
    assert probabilities.sum() == pytest.approx(1.0)
    cells = [rank_laws.probability_between(edges, probabilities, a, a + 1) for a in GRID[:-1]]
    assert cells == pytest.approx([float(each) for each in exact], rel=1e-12)
