"""The rule score of a feature, and all its neighbours by brute force.

Proof: ``proofs/feature_scores.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product

Row = tuple[tuple[int, ...], int | None]
"""The cell that each feature has, and the position of the class; None: a class that is not listed."""

Scores = tuple[int, ...]


def place(value: Fraction | None, *, lower: Fraction, upper: Fraction, count: int) -> int:
    """The bin of a value: from 0 for those below the first inner edge; `count` for a missing one.

    >>> [place(Fraction(x), lower=Fraction(0), upper=Fraction(10), count=2) for x in (-3, 4, 5, 10, 99)]
    [0, 0, 1, 1, 1]
    >>> place(None, lower=Fraction(0), upper=Fraction(10), count=2)
    2
    """
    if value is None:
        return count
    inner = (lower + step * (upper - lower) / count for step in range(1, count))
    return sum(edge <= value for edge in inner)


def right_by(rule: Sequence[int], rows: Iterable[Row], *, feature: int, weights: Sequence[int]) -> int:
    """What the rows count for about whom `rule`, a class for each cell of `feature`, is right."""
    return sum(weights[label] for cells, label in rows if label is not None and rule[cells[feature]] == label)


def score_by_rules(rows: Sequence[Row], *, feature: int, cells: int, weights: Sequence[int]) -> int:
    """The best of all rules, one after the other: the definition.

    >>> score_by_rules([((0,), 0), ((0,), 0), ((0,), 1), ((1,), 1)], feature=0, cells=2, weights=(1, 1))
    3
    """
    rules = product(range(len(weights)), repeat=cells)
    return max(right_by(rule, rows, feature=feature, weights=weights) for rule in rules)


def score(rows: Iterable[Row], *, feature: int, cells: int, weights: Sequence[int]) -> int:
    """The same cell by cell: of each the class that weighs most."""
    table = [[0] * len(weights) for _ in range(cells)]
    for held, label in rows:
        if label is not None:
            table[held[feature]][label] += weights[label]
    return sum(map(max, table))


def scores(rows: Sequence[Row], *, cells: int, features: int, weights: Sequence[int]) -> Scores:
    """Of every feature.

    >>> scores([((0, 0), 0), ((0, 1), 1)], cells=2, features=2, weights=(1, 1))
    (1, 2)
    """
    return tuple(score(rows, feature=each, cells=cells, weights=weights) for each in range(features))


def universe(*, cells: int, features: int, classes: int) -> list[Row]:
    """Every row there can be, also those of no listed class."""
    labels = [None, *range(classes)]
    return [(held, label) for held in product(range(cells), repeat=features) for label in labels]


def add_remove_pairs(rows: Sequence[Row], *, most: int) -> Iterator[tuple[list[Row], list[Row]]]:
    """Every ordered pair of tables of which one has one row more, of up to `most` rows; order does not matter."""
    for size in range(most):
        for smaller in combinations_with_replacement(rows, size):
            for row in rows:
                yield list(smaller), [*smaller, row]
                yield [*smaller, row], list(smaller)


def replace_one_pairs(rows: Sequence[Row], *, most: int) -> Iterator[tuple[list[Row], list[Row]]]:
    """Every ordered pair of tables of up to `most` rows that differ in one of them."""
    for size in range(most):
        for common in combinations_with_replacement(rows, size):
            for first, second in product(rows, repeat=2):
                yield [*common, first], [*common, second]


def movements(
    pairs: Iterable[tuple[list[Row], list[Row]]], *, cells: int, features: int, weights: Sequence[int]
) -> set[Scores]:
    """Every vector of score changes from the first to the second of a pair."""
    found: set[Scores] = set()
    for first, second in pairs:
        before, after = (scores(rows, cells=cells, features=features, weights=weights) for rows in (first, second))
        found.add(tuple(b - a for a, b in zip(before, after, strict=True)))
    return found
