"""Quantiles by halving against a law that knows no halving: a product over levels, integrated over earlier answers.

``tests/reference/halving.py`` says between which earlier answers each level lies. Draws are sorted into cells; where
the middle answer lies inside its cell matters to the others, and is integrated over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from tests.laws.fed import node_scale
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference import halving
from tests.slow import SLOW

DRAWS = 15_000 if SLOW else 6000
TOP = 4
"""Everything lies between 0 and this, in cells of length 1."""

Masses = dict[tuple[int, ...], float]
Scale = Callable[[Fraction], Any]

PLACES, SHARES = np.polynomial.legendre.leggauss(6)


def line_law(values: Sequence[float], *, levels: Sequence[Fraction], scale: Scale) -> Masses:
    """Probability of the cells of the answers, if they are real numbers from 0 to `TOP`."""
    turns = halving.turns(len(levels))
    masses: Masses = {}

    def follow(place: int, found: dict[int, float], cells: dict[int, int], reached: float) -> None:
        if place == len(turns):
            answers = tuple(cells[level] for level in range(len(levels)))
            masses[answers] = masses.get(answers, 0.0) + reached
            return
        turn = turns[place]
        low, high = found.get(turn.below, 0.0), found.get(turn.above, float(TOP))
        is_asked_again = any(turn.place in (later.below, later.above) for later in turns[place:])
        own = [
            value
            for value in values
            if (low <= value or turn.below < 0) and (value < high or turn.above == len(levels))
        ]
        for start, end, height in pieces(own, low, high, level=halving.share_of(turn, levels), scale=scale):
            for at, length in nodes(start, end) if is_asked_again else [((start + end) / 2, end - start)]:
                follow(
                    place + 1, {**found, turn.place: at}, {**cells, turn.place: int(start)}, reached * height * length
                )

    follow(0, {}, {}, 1.0)
    return masses


def nodes(start: float, end: float) -> Iterator[tuple[float, float]]:
    """Points that stand for an interval, and of how much of it each of them stands."""
    half = (end - start) / 2
    yield from zip((start + half + half * PLACES).tolist(), (half * SHARES).tolist(), strict=True)


def pieces(
    own: Sequence[float], low: float, high: float, *, level: Fraction, scale: Scale
) -> list[tuple[float, float, float]]:
    """Between `low` and `high`, cut at values and at ends of cells, with the density in each."""
    inner = [float(cell) for cell in range(TOP) if low < cell < high]
    cuts = sorted({low, high, *inner, *(value for value in own if low < value < high)})
    wanted, unit = float(level) * len(own), float(scale(level))
    weights = [
        math.exp(-abs(sum(value < (start + end) / 2 for value in own) - wanted) / unit) for start, end in pairwise(cuts)
    ]
    total = sum(weight * (end - start) for weight, (start, end) in zip(weights, pairwise(cuts), strict=True))
    return [(start, end, weight / total) for weight, (start, end) in zip(weights, pairwise(cuts), strict=True)]


def grid_law(points: Sequence[int], *, levels: Sequence[Fraction], scale: Scale) -> Masses:
    """Of answers on a grid of `TOP` points: each value is anywhere in its point's cell, two in one cell in any order.

    The product spreads values over 2^32 places of a cell; real numbers differ from that by less than can be seen.
    """
    masses: Masses = {}
    for spread in product(*(spreads(point, points.count(point)) for point in sorted(set(points)))):
        values = [value for part, _ in spread for value in part]
        chance = math.prod(share for _, share in spread)
        for cells, mass in line_law(values, levels=levels, scale=scale).items():
            masses[cells] = masses.get(cells, 0.0) + chance * mass
    return masses


def spreads(point: int, times: int) -> list[tuple[list[float], float]]:
    """Where one value of a cell lies, or two, the second below the first."""
    if times == 1:
        return [([at], share) for at, share in nodes(point, point + 1)]
    assert times == 2
    return [
        ([point + high, point + high * part], 2 * high * share * other)
        for (high, share), (part, other) in product(nodes(0, 1), nodes(0, 1))
    ]


def drawn(mechanism: dps.mechanisms.QuantilesMechanism, values: Sequence[float]) -> Masses:
    counts: Masses = {}
    for _ in range(DRAWS):
        cells = tuple(int(answer) for answer in mechanism.draw(np.array(values)))
        counts[cells] = counts.get(cells, 0) + 1
    return counts


def fit(counts: Masses, law: Masses) -> float:
    assert sum(law.values()) == pytest.approx(1.0, abs=1e-3)
    cells = list(combinations_with_replacement(range(TOP), len(next(iter(counts)))))
    assert set(counts) <= set(cells)
    seen, hoped = (np.array([each.get(cell, 0) for cell in cells], dtype=float) for each in (counts, law))
    return p_value(seen, hoped / hoped.sum())


def fractions(levels: Sequence[float]) -> list[Fraction]:
    return [Fraction(level) for level in sorted(levels)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("levels", "neighbours"),
    [
        ((0, 1), "add_remove"),
        ((0, 0.5, 1), "add_remove"),
        ((0.25, 0.5, 0.75), "replace_one"),
        ((0, 0.25, 0.75, 1), "add_remove"),
    ],
)
def test_on_the_line(levels: Any, neighbours: Any) -> None:
    values = [0.5, 1.0, 1.0, 2.25, 3.0, 3.5]
    mechanism = dps.mechanisms.QuantilesMechanism(
        epsilon=2.0, levels=levels, bounds=(0, TOP), method="halving", neighbours=neighbours
    )
    counts, scale, exact = drawn(mechanism, values), node_scale(mechanism), fractions(levels)
    assert fit(counts, line_law(values, levels=exact, scale=scale)) > NEVER
    assert fit(counts, line_law(values, levels=exact, scale=lambda level: scale(level) / 2)) < NEVER  # control


@pytest.mark.slow
@pytest.mark.parametrize("levels", [(0.25, 0.5), (0, 1)])
def test_equal_values_on_a_grid_are_shared_out(levels: Any) -> None:
    points = [1, 1, 2]
    mechanism = dps.mechanisms.QuantilesMechanism(
        epsilon=6.0, levels=levels, bounds=(0, TOP - 1), step=1, method="halving"
    )
    counts, scale, exact = drawn(mechanism, points), node_scale(mechanism), fractions(levels)
    assert fit(counts, grid_law(points, levels=exact, scale=scale)) > NEVER
    ends = [point + 0.5 for point in points]  # control: all in the middle of their cells
    assert fit(counts, line_law(ends, levels=exact, scale=scale)) < NEVER


def test_densities_add_up_to_the_cells() -> None:
    values, exact = [Fraction(1), Fraction(2), Fraction(2)], fractions((0.25, 0.5))

    def scale(level: Fraction) -> Fraction:
        return max(level, 1 - level)

    law = line_law([float(value) for value in values], levels=exact, scale=scale)
    bounds = (Fraction(0), Fraction(TOP))
    for cell in ((0, 2), (1, 3)):
        mass = 0.0
        for (first, one), (second, other) in product(nodes(cell[0], cell[0] + 1), nodes(cell[1], cell[1] + 1)):
            answers = [Fraction(first), Fraction(second)]
            mass += one * other * float(halving.density(values, answers, levels=exact, bounds=bounds, scale=scale))
        assert mass == pytest.approx(law[cell], rel=1e-6)


@pytest.mark.parametrize("levels", [(0.25, 0.5), (0, 1)])
def test_fine_grids_come_near_the_line(levels: Any) -> None:
    """Both laws are about the same values: the exact one on places, the other by integration."""
    values, exact = [1, 3], fractions(levels)

    def scale(level: Fraction) -> Fraction:
        return max(level, 1 - level)

    line = line_law([float(value) + 0.5 for value in values], levels=exact, scale=scale)
    apart: list[float] = []
    for parts in (3, 9):  # odd, so that a value is in the middle of its cell
        places = [value * parts + parts // 2 for value in values]
        fine = halving.grid_law(places, TOP * parts, parts=1, levels=exact, scale=scale)
        law: Masses = {}
        for answers, chance in fine.items():
            cells = tuple(answer // parts for answer in answers)
            law[cells] = law.get(cells, 0.0) + float(chance)
        apart.append(max(abs(law[cells] - line[cells]) for cells in law))
    assert apart[1] < apart[0] / 2 < 0.05
