"""Numbers with bounded contributions, the rank score, and the law of a quantile, in exact fractions.

Proof: ``proofs/unit_values.md``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product

from tests.reference.exponential import law as normalised

Number = int | Fraction
Contribution = tuple[Number | None, ...]
"""The numbers in one unit's rows; None where there is none."""

Data = Mapping[str | None, Contribution]
"""Rows by unit; those of None belong to nobody."""

Values = tuple[Number, ...]
"""Kept values in increasing order."""


def choices(contribution: Contribution, *, most: int, bounds: tuple[Number, Number]) -> list[Values]:
    """What may be kept of one unit, each equally likely: `most` of its numbers, or all if there are no more.

    >>> choices((3, None, 300), most=1, bounds=(0, 120)), choices((None,), most=1, bounds=(0, 120))
    ([(3,), (120,)], [()])
    """
    lower, upper = bounds
    numbers = [max(lower, min(upper, number)) for number in contribution if number is not None]
    return list(combinations(numbers, min(most, len(numbers))))


def kept_values(data: Data, *, most: int, bounds: tuple[Number, Number]) -> dict[Values, Fraction]:
    """The law of all that is kept of a data set: every unit chooses for itself.

    >>> kept_values({"ann": (1, 2), "bob": (9,), None: (5,)}, most=1, bounds=(0, 8))
    {(1, 8): Fraction(1, 2), (2, 8): Fraction(1, 2)}
    """
    units = [choices(numbers, most=most, bounds=bounds) for unit, numbers in data.items() if unit is not None]
    kept = [tuple(sorted(number for part in chosen for number in part)) for chosen in product(*units)]
    return {values: Fraction(times, len(kept)) for values, times in Counter(kept).items()}


def rank_score(at: Number, values: Values, *, level: Fraction) -> Fraction:
    """Minus the distance between the number of values below `at` and the wanted one.

    >>> rank_score(3, (1, 2, 5, 9), level=Fraction(1, 4))
    Fraction(-1, 1)
    """
    return -abs(sum(value < at for value in values) - level * len(values))


def grid_score(at: Number, values: Values, *, level: Fraction) -> Fraction:
    """Minus the distance of the wanted rank from the ranks that `at` has, from values below it to values up to it.

    >>> grid_score(2, (1, 2, 2, 9), level=Fraction(1, 2)), grid_score(1, (1, 2, 2, 9), level=Fraction(1, 2))
    (Fraction(0, 1), Fraction(-1, 1))
    """
    wanted = level * len(values)
    below, up_to = sum(value < at for value in values), sum(value <= at for value in values)
    return -max(Fraction(0), below - wanted, wanted - up_to)


def on_grid(values: Values, grid: Sequence[Number]) -> Values:
    """Each value as the nearest of the grid's points, the lower of two that are as near.

    >>> on_grid((1, 4, 5), [0, 3, 6])
    (0, 3, 6)
    """
    return tuple(min(grid, key=lambda point: abs(point - value)) for value in values)


def cell_scores(values: Values, grid: Sequence[Number], *, level: Fraction) -> tuple[Fraction, ...]:
    """The score inside each cell between two points of `grid`, if every value is one of these points."""
    return tuple(rank_score(Fraction(a + b) / 2, values, level=level) for a, b in pairwise(grid))


def point_scores(values: Values, grid: Sequence[Number], *, level: Fraction) -> tuple[Fraction, ...]:
    """The score of each of the grid's points."""
    return tuple(grid_score(point, on_grid(values, grid), level=level) for point in grid)


def add_remove_pairs(units: Sequence[str], contributions: Sequence[Contribution]) -> Iterator[tuple[Data, Data]]:
    """Every data set in which each of `units` has one of `contributions`, and the same without one of the units."""
    for chosen in product(contributions, repeat=len(units)):
        larger = dict(zip(units, chosen, strict=True))
        for unit in units:
            yield larger, {other: numbers for other, numbers in larger.items() if other != unit}


def movements(
    pairs: Iterator[tuple[Data, Data]],
    grid: Sequence[Number],
    *,
    level: Fraction,
    most: int,
    cells: bool = False,
    bounded: bool = True,
) -> set[tuple[Fraction, ...]]:
    """Every vector of score changes when a unit is taken away, the choices of all other units being the same.

    Not `bounded`: the unit that is taken away keeps all its rows, as if contributions were not bounded.
    """
    scores = cell_scores if cells else point_scores
    bounds = grid[0], grid[-1]
    result: set[tuple[Fraction, ...]] = set()
    for larger, smaller in pairs:
        (unit,) = set(larger) - set(smaller)
        for others in kept_values(smaller, most=most, bounds=bounds):
            before = scores(others, grid, level=level)
            for own in choices(larger[unit], most=most if bounded else len(larger[unit]), bounds=bounds):
                after = scores(tuple(sorted([*others, *own])), grid, level=level)
                result.add(tuple(a - b for a, b in zip(after, before, strict=True)))
    return result


def replaced_movements(
    units: Sequence[str],
    contributions: Sequence[Contribution],
    grid: Sequence[Number],
    *,
    level: Fraction,
    most: int,
    cells: bool = False,
) -> set[tuple[Fraction, ...]]:
    """Every vector of score changes when all rows of a unit are replaced, the choices of all others being the same."""
    scores = cell_scores if cells else point_scores
    bounds = grid[0], grid[-1]
    options = {own for each in contributions for own in choices(each, most=most, bounds=bounds)}
    result: set[tuple[Fraction, ...]] = set()
    for chosen in product(contributions, repeat=len(units) - 1):
        for others in kept_values(dict(zip(units, chosen, strict=False)), most=most, bounds=bounds):
            laws = [scores(tuple(sorted([*others, *own])), grid, level=level) for own in options]
            result |= {tuple(b - a for a, b in zip(*pair, strict=True)) for pair in product(laws, laws)}
    return result


def released_law(
    data: Data, grid: Sequence[Number], *, level: Fraction, most: int, root: Fraction, cells: bool = False
) -> tuple[Fraction, ...]:
    """The law of the whole release: rows are chosen, then a point of the grid (or a cell, equally wide) is drawn.

    The weight of a score is ``root ** (d * score)`` with d the denominator of `level`, so that all of it is rational:
    the scale is ``1 / (d ln root)``.
    """
    scores = cell_scores if cells else point_scores
    total = [Fraction(0)] * (len(grid) - 1 if cells else len(grid))
    for values, probability in kept_values(data, most=most, bounds=(grid[0], grid[-1])).items():
        exponents = [level.denominator * score for score in scores(values, grid, level=level)]
        weights = normalised([root ** int(exponent - max(exponents)) for exponent in exponents])
        total = [sum_ + probability * weight for sum_, weight in zip(total, weights, strict=True)]
    return tuple(total)


def rank_range(level: Fraction, *, most: int) -> Fraction:
    """How far one unit that is added moves two rank scores apart: twice the sensitivity, or once at the extremes.

    >>> rank_range(Fraction(1, 4), most=1), rank_range(Fraction(1), most=2)
    (Fraction(3, 2), Fraction(2, 1))
    """
    return most * max(level, 1 - level) * (1 if level in (0, 1) else 2)


def exp_epsilon(root: Fraction, *, level: Fraction, most: int) -> Fraction:
    """``e ** epsilon`` of a release whose scale is ``1 / (d ln root)``, from ``scale = w / epsilon``."""
    return root ** int(rank_range(level, most=most) * level.denominator)


def worst_ratio(first: Sequence[Fraction], second: Sequence[Fraction]) -> Fraction:
    """The largest ratio of the probabilities of an outcome, in either direction."""
    return max(max(a / b, b / a) for a, b in zip(first, second, strict=True))
