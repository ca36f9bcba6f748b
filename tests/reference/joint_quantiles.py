"""Several quantiles by one exponential mechanism, in exact fractions. Proof: ``proofs/joint_quantiles.md``.

`decay` is what the density is multiplied with for each ``1 / denominator`` of a value in a wrong group, where
``denominator`` is the least common one of the levels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, groupby, pairwise, product

Levels = Sequence[Fraction]


def gaps(levels: Levels) -> list[Fraction]:
    """The shares of the values that each group should have.

    >>> gaps([Fraction(1, 4), Fraction(1, 2)])
    [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)]
    """
    return [high - low for low, high in pairwise([Fraction(0), *levels, Fraction(1)])]


def score(ranks: Sequence[int], count: int, *, levels: Levels) -> Fraction:
    """Minus the number of values in a wrong group, if ``ranks[j]`` of `count` values lie below answer j.

    >>> levels = [Fraction(1, 4), Fraction(1, 2)]
    >>> score([1, 2], 4, levels=levels), score([0, 3], 4, levels=levels)
    (Fraction(0, 1), Fraction(-2, 1))
    """
    sizes = [high - low for low, high in pairwise([0, *ranks, count])]
    return -sum((abs(size - gap * count) for size, gap in zip(sizes, gaps(levels), strict=True)), Fraction(0)) / 2


def score_range(levels: Levels, *, most: int = 1) -> Fraction:
    """How far a unit of up to `most` values that is added moves two scores apart.

    >>> [str(score_range([Fraction(part, 4) for part in parts])) for parts in ((0, 4), (0, 2, 4), (2,), (0, 1))]
    ['1', '3/2', '1', '7/4']
    """
    shares = gaps(levels)
    return most * (2 - min(shares) - min(share for share in shares if share > 0))


def movements(cells: int, count: int, *, levels: Levels, most: int) -> Iterator[tuple[Fraction, ...]]:
    """How all scores change, for every data set of up to `count` values and every unit of up to `most` that is added.

    Values lie on the ends of unit cells, both bounds included, answers within the cells.
    """
    answers = list(combinations_with_replacement(range(cells), len(levels)))

    def scores(values: Sequence[int]) -> list[Fraction]:
        ranks = [sum(value <= cell for value in values) for cell in range(cells)]
        return [score([ranks[cell] for cell in answer], len(values), levels=levels) for answer in answers]

    for size in range(count + 1):
        for values in combinations_with_replacement(range(cells + 1), size):
            before = scores(values)
            for more in range(1, most + 1):
                for own in combinations_with_replacement(range(cells + 1), more):
                    after = scores([*values, *own])
                    yield tuple(a - b for a, b in zip(after, before, strict=True))


def path_law(ends: Sequence[Fraction], *, levels: Levels, decay: Fraction) -> dict[tuple[int, ...], Fraction]:
    """Probability of the gaps that the answers lie in, where the sorted values and both bounds are `ends`.

    >>> law = path_law([Fraction(0), Fraction(1), Fraction(3)], levels=[Fraction(1, 2)], decay=Fraction(1, 2))
    >>> law == {(0,): Fraction(1, 3), (1,): Fraction(2, 3)}
    True
    """
    count = len(ends) - 2
    masses = {
        path: weight(path, ends, levels=levels, decay=decay)
        for path in combinations_with_replacement(range(count + 1), len(levels))
    }
    total = sum(masses.values())
    return {path: mass / total for path, mass in masses.items()}


def weight(path: Sequence[int], ends: Sequence[Fraction], *, levels: Levels, decay: Fraction) -> Fraction:
    """What a path is worth: the volume of its answers, times their density."""
    return volume(path, ends) * density(path, len(ends) - 2, levels=levels, decay=decay)


def volume(path: Sequence[int], ends: Sequence[Fraction]) -> Fraction:
    """Of all increasing answers in the gaps of `path`."""
    runs = [(gap, len(list(run))) for gap, run in groupby(path)]
    return math.prod(((ends[gap + 1] - ends[gap]) ** k / math.factorial(k) for gap, k in runs), start=Fraction(1))


def density(path: Sequence[int], count: int, *, levels: Levels, decay: Fraction) -> Fraction:
    """``decay`` to the power of the score in steps."""
    steps = -score(path, count, levels=levels) * 2 * math.lcm(*(level.denominator for level in levels))
    assert steps.denominator == 1
    return decay ** int(steps)


def answer_law(
    values: Sequence[Fraction], *, levels: Levels, pieces: Sequence[Fraction], decay: Fraction
) -> dict[tuple[int, ...], Fraction]:
    """Density, per volume, of increasing answers in each choice of `pieces`, whose ends hold all values."""
    ends = [pieces[0], *sorted(min(max(value, pieces[0]), pieces[-1]) for value in values), pieces[-1]]
    count = len(values)
    law = path_law(ends, levels=levels, decay=decay)
    normal = sum(volume(path, ends) * density(path, count, levels=levels, decay=decay) for path in law)
    ranks = [sum(value <= start for value in ends[1:-1]) for start in pieces[:-1]]
    return {
        choice: density([ranks[piece] for piece in choice], count, levels=levels, decay=decay) / normal
        for choice in combinations_with_replacement(range(len(pieces) - 1), len(levels))
        if all(pieces[piece] < pieces[piece + 1] for piece in choice)
    }


def spread_law(
    values: Sequence[int], cells: int, *, parts: int, levels: Levels, decay: Fraction
) -> dict[tuple[int, ...], Fraction]:
    """Probability of the cells of the answers, where each value goes to one of the parts of its cell at random.

    >>> law = spread_law([1], 3, parts=2, levels=[Fraction(1, 2)], decay=Fraction(1, 9))
    >>> law == {(0,): Fraction(1, 3), (1,): Fraction(1, 3), (2,): Fraction(1, 3)}
    True
    """
    law: dict[tuple[int, ...], Fraction] = {}
    unit = range(cells * parts + 1)
    for offsets in product(range(parts), repeat=len(values)):
        spread = [Fraction(value * parts + offset) for value, offset in zip(values, offsets, strict=True)]
        one = answer_law(spread, levels=levels, pieces=[Fraction(end) for end in unit], decay=decay)
        for choice, height in one.items():
            answers = tuple(piece // parts for piece in choice)
            mass = height * volume(choice, [Fraction(end) for end in unit])
            law[answers] = law.get(answers, Fraction(0)) + mass / parts ** len(values)
    return law
