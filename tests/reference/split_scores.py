"""Scores of splits in exact fractions, and all tables one row apart."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

Table = tuple[tuple[int, ...], ...]
"""Of one split: for each child how many rows of each class it has."""


def most_frequent(table: Table) -> Fraction:
    """The rows that have the most frequent class of their child."""
    return Fraction(sum(max(child) for child in table))


def gini(table: Table) -> Fraction:
    """Minus the sum of N_j - sum N_jc^2 / N_j."""
    return -sum(
        (sum(child) - Fraction(sum(n * n for n in child), sum(child)) for child in table if any(child)), Fraction()
    )


def entropy(table: Table) -> float:
    """Minus the sum of N_jc log2(N_j / N_jc), in doubles."""
    return -sum(n * math.log2(sum(child) / n) for child in table for n in child if n)


def tables(children: int, classes: int, most: int) -> Iterator[Table]:
    """All with up to `most` rows of each class in each child."""
    for cells in itertools.product(range(most + 1), repeat=children * classes):
        yield tuple(cells[place * classes : (place + 1) * classes] for place in range(children))


def one_more(table: Table, label: int) -> Iterator[Table]:
    """All tables with one more row of a class, in any child."""
    for place, child in enumerate(table):
        grown = tuple(n + (each == label) for each, n in enumerate(child))
        yield (*table[:place], grown, *table[place + 1 :])
