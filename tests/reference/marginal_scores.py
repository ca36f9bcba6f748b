"""Scores of marginals and of parents in exact fractions, and all tables in which one row is replaced."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

Table = tuple[tuple[int, ...], ...]


def independence_distance(table: Table) -> Fraction:
    """R of PrivBayes: half the l1 distance between the shares and the product of their sums."""
    rows = sum(map(sum, table))
    sums = [sum(row) for row in table], [sum(column) for column in zip(*table, strict=True)]
    return (
        sum(
            (
                abs(Fraction(n, rows) - Fraction(sums[0][i] * sums[1][j], rows * rows))
                for i, row in enumerate(table)
                for j, n in enumerate(row)
            ),
            Fraction(),
        )
        / 2
    )


def certainty_distance(table: Table) -> Fraction:
    """F of PrivBayes by trying every assignment of the parents' values to the child's two values."""
    rows = sum(map(sum, table))
    best = None
    for assigned in itertools.product((0, 1), repeat=len(table[0])):
        right = [sum(table[value][place] for place, to in enumerate(assigned) if to == value) for value in (0, 1)]
        missing = sum((max(Fraction(1, 2) - Fraction(n, rows), Fraction()) for n in right), Fraction())
        best = missing if best is None else min(best, missing)
    assert best is not None
    return -best


def mutual_information(table: Table) -> float:
    """In bits, in doubles."""
    rows = sum(map(sum, table))
    sums = [sum(row) for row in table], [sum(column) for column in zip(*table, strict=True)]
    return sum(
        n / rows * math.log2(n * rows / (sums[0][i] * sums[1][j]))
        for i, row in enumerate(table)
        for j, n in enumerate(row)
        if n
    )


def tables(shape: tuple[int, int], rows: int) -> Iterator[Table]:
    """All of a number of rows."""
    cells = shape[0] * shape[1]
    for bars in itertools.combinations(range(rows + cells - 1), cells - 1):
        ends = (-1, *bars, rows + cells - 1)
        counts = [right - left - 1 for left, right in itertools.pairwise(ends)]
        yield tuple(tuple(counts[i * shape[1] : (i + 1) * shape[1]]) for i in range(shape[0]))


def replaced(table: Table) -> Iterator[Table]:
    """All tables in which one row has moved to another cell."""
    cells = [(i, j) for i, row in enumerate(table) for j in range(len(row))]
    for origin, target in itertools.permutations(cells, 2):
        if table[origin[0]][origin[1]]:
            moved = [list(row) for row in table]
            moved[origin[0]][origin[1]] -= 1
            moved[target[0]][target[1]] += 1
            yield tuple(map(tuple, moved))
