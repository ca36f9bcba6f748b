"""The best regular mechanism on a bounded lattice, all of it written out, in exact fractions.

No symmetry is used and nothing is scaled: one probability for each score vector and candidate, every constraint, and a
textbook simplex method that never rounds. Proof: ``proofs/optimality.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product

Vector = tuple[int, ...]
"""Steps below the best, one for each candidate; at least one of them is 0."""


def lattice(n: int, levels: int) -> list[Vector]:
    """All score vectors.

    >>> lattice(2, 1)
    [(0, 0), (0, 1), (1, 0)]
    """
    return [steps for steps in product(range(levels + 1), repeat=n) if min(steps) == 0]


def risen(steps: Vector, candidate: int) -> Vector:
    """The vector after `candidate` has risen by a step, the best back at 0.

    >>> risen((0, 2), 1), risen((0, 2), 0)
    ((0, 1), (0, 3))
    """
    moved = [step - (position == candidate) for position, step in enumerate(steps)]
    return tuple(step - min(moved) for step in moved)


@cache  # asked for again by the proof page and by other tests
def least_mean_error(n: int, levels: int, *, p: Fraction, leave_out: int = 0) -> Fraction:
    """The optimum, as the mean over the lattice, in steps, for ``exp(-epsilon) = p``.

    Args:
        n: number of candidates.
        levels: number of steps.
        p: rational, between 0 and 1.
        leave_out: how many of the privacy constraints to forget, from the last, for controls.

    >>> least_mean_error(2, 1, p=Fraction(1, 2))
    Fraction(1, 6)
    """
    vectors = lattice(n, levels)
    position = {steps: index for index, steps in enumerate(vectors)}
    pairs = [
        (position[steps] * n + candidate, position[risen(steps, candidate)] * n + candidate)
        for steps in vectors
        for candidate in range(n)
        if risen(steps, candidate) in position
    ]
    pairs = pairs[: len(pairs) - leave_out]
    # The dual: a price for each vector, of either sign and so split in two, and a multiplier for each pair.
    count = 2 * len(vectors) + len(pairs)
    rows = [[Fraction(0)] * count for _ in range(len(vectors) * n)]
    for index, row in enumerate(rows):
        row[index // n], row[len(vectors) + index // n] = Fraction(1), Fraction(-1)
    for column, (lower, higher) in enumerate(pairs, start=2 * len(vectors)):
        rows[lower][column] += 1
        rows[higher][column] -= p
    gains = [Fraction(1)] * len(vectors) + [Fraction(-1)] * len(vectors) + [Fraction(0)] * len(pairs)
    costs = [Fraction(step) for steps in vectors for step in steps]
    return largest(gains, rows, costs) / len(vectors)


def largest(gains: Sequence[Fraction], rows: Sequence[Sequence[Fraction]], limits: Sequence[Fraction]) -> Fraction:
    """The largest ``gains @ x`` with ``rows @ x <= limits`` and ``x >= 0``, for limits >= 0, by Bland's rule.

    >>> largest([Fraction(1), Fraction(1)], [[Fraction(2), Fraction(1)], [Fraction(1), Fraction(3)]], [Fraction(4)] * 2)
    Fraction(12, 5)
    """
    table = [[*row, limit] for row, limit in zip(rows, limits, strict=True)]
    reduced = [-gain for gain in gains] + [Fraction(0)]
    inside = list(range(len(gains), len(gains) + len(table)))
    outside = list(range(len(gains)))
    while True:
        entering = min(
            (column for column in range(len(gains)) if reduced[column] < 0),
            key=lambda column: outside[column],
            default=None,
        )
        if entering is None:
            return reduced[-1]
        _, _, leaving = min(
            (row[-1] / row[entering], inside[index], index) for index, row in enumerate(table) if row[entering] > 0
        )
        pivot = table[leaving][entering]
        row = [entry / pivot for entry in table[leaving]]
        row[entering] = 1 / pivot
        for index, other in enumerate(table):
            if index != leaving and other[entering]:
                _eliminate(other, row, entering)
        _eliminate(reduced, row, entering)
        table[leaving] = row
        inside[leaving], outside[entering] = outside[entering], inside[leaving]


def _eliminate(other: list[Fraction], row: list[Fraction], entering: int) -> None:
    factor = other[entering]
    for column, entry in enumerate(row):
        if entry and column != entering:
            other[column] -= factor * entry
    other[entering] = -factor * row[entering]
