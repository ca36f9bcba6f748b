"""Above-threshold streams with exponential noise, in exact fractions. Proof: ``proofs/above_threshold.md``.

Leads (query less threshold) are whole numbers of a unit in which b2 is 1 / ln 2, and b1 = b2 / ``root`` for a whole
number. For v = exp(-rho / b2), a uniform number to the power 1 / ``root``, a lead of l is above with probability
min(1, 2^l v).
So every law is an integral of a polynomial between powers of two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise, product

Answers = tuple[int, ...]
"""-1 for each no, and for each yes the number of whole units that its gap has, up to the largest that is told apart."""

Linear = tuple[Fraction, Fraction]
"""A constant and a coefficient of v."""


def above(lead: int, v: Fraction) -> Linear:
    """min(1, 2^lead v) where v lies below the cell that ends at `v`, of which no power of two is inside."""
    return (Fraction(0), Fraction(2) ** lead) if Fraction(2) ** lead * v <= 1 else (Fraction(1), Fraction(0))


def law(
    leads: Sequence[int], *, positives: int = 1, root: int = 1, gaps: int = 0, fresh: bool = False
) -> dict[Answers, Fraction]:
    """Probability of every sequence of answers to all `leads`, or up to the last yes that is paid for.

    Args:
        leads: of the queries.
        positives: the stream ends after so many.
        root: b2 / b1.
        gaps: so many whole units of a gap are told apart.
        fresh: draw a new offset after every no: a control that is not private.

    >>> law([0])
    {(-1,): Fraction(1, 2), (0,): Fraction(1, 2)}
    """
    ends = sorted(
        {
            Fraction(0),
            Fraction(1),
            *(Fraction(2) ** -k for lead in leads for k in range(lead, lead - gaps - 1, -1) if k > 0),
        }
    )
    if fresh:
        return _with_fresh_offsets(leads, positives=positives, root=root)
    found: dict[Answers, Fraction] = {}
    for answers in _sequences(len(leads), positives=positives, gaps=gaps):
        chance = Fraction(0)
        for start, end in pairwise(ends):
            polynomial = [Fraction(root)] if root == 1 else [*[Fraction(0)] * (root - 1), Fraction(root)]
            for lead, answer in zip(leads, answers, strict=False):
                polynomial = _times(polynomial, _one(lead, answer, end, gaps))
            chance += sum(
                (
                    each * (end ** (power + 1) - start ** (power + 1)) / (power + 1)
                    for power, each in enumerate(polynomial)
                ),
                Fraction(0),
            )
        found[answers] = chance
    return found


def _one(lead: int, answer: int, end: Fraction, gaps: int) -> Linear:
    """Probability of one answer. A gap of g units or more is a number that is g units lower and above."""
    if answer < 0:
        constant, slope = above(lead, end)
        return 1 - constant, -slope
    first = above(lead - answer, end)
    if answer == gaps:
        return first
    second = above(lead - answer - 1, end)
    return first[0] - second[0], first[1] - second[1]


def _times(polynomial: list[Fraction], factor: Linear) -> list[Fraction]:
    grown = [*(factor[0] * each for each in polynomial), Fraction(0)]
    for power, each in enumerate(polynomial):
        grown[power + 1] += factor[1] * each
    return grown


def _sequences(queries: int, *, positives: int, gaps: int) -> Iterator[Answers]:
    for answers in product(range(-1, gaps + 1), repeat=queries):
        said = [place for place, answer in enumerate(answers) if answer >= 0]
        if len(said) < positives or (len(said) == positives and said[-1] == queries - 1):
            yield answers
    for length in range(positives, queries):
        for answers in product(range(-1, gaps + 1), repeat=length):
            if answers[-1] >= 0 and sum(answer >= 0 for answer in answers) == positives:
                yield answers


def _with_fresh_offsets(leads: Sequence[int], *, positives: int, root: int) -> dict[Answers, Fraction]:
    found: dict[Answers, Fraction] = {}
    for answers in _sequences(len(leads), positives=positives, gaps=0):
        chance = Fraction(1)
        for lead, answer in zip(leads, answers, strict=False):
            chance *= law([lead], root=root)[(answer,)]
        found[answers] = chance
    return found


@cache
def _known(leads: tuple[int, ...], positives: int, root: int, gaps: int) -> dict[Answers, Fraction]:
    return law(leads, positives=positives, root=root, gaps=gaps)


def extremes(before: tuple[int, ...], after: tuple[int, ...], *how: int) -> tuple[Fraction, Fraction]:
    """The smallest and the largest ratio of the probabilities of one sequence of answers."""
    here, there = _known(before, *how), _known(after, *how)
    ratios = [here[answers] / there[answers] for answers in here if here[answers] or there[answers]]
    return min(ratios), max(ratios)


def moved(kind: str, queries: int, size: int = 1, level: int = 0) -> Iterator[tuple[int, ...]]:
    """All changes of so many queries when a unit is added, each of 0 to `size` units less `level`.

    >>> list(moved("suffix", 2))
    [(0, 0), (0, 1), (1, 1)]
    """
    for changes in product(range(-size, size + 1) if kind == "any" else range(size + 1), repeat=queries):
        if kind == "suffix" and any(later < earlier for earlier, later in pairwise(changes)):
            continue
        if kind == "interval" and sum(later != earlier for earlier, later in pairwise((0, *changes, 0))) > 2:
            continue
        yield tuple(change - level for change in changes)


def worst_losses(
    kind: str,
    *,
    queries: int,
    highest: int,
    positives: int = 1,
    root: int = 1,
    gaps: int = 0,
    size: int = 1,
    level: int = 0,
) -> tuple[Fraction, Fraction]:
    """2 to the largest loss below and above, over all leads from ``-highest`` to `highest` and all moves."""
    below = above_one = Fraction(1)
    for leads in product(range(-highest, highest + 1), repeat=queries):
        for changes in moved(kind, queries, size, level):
            after = tuple(lead + change for lead, change in zip(leads, changes, strict=True))
            low, high = extremes(leads, after, positives, root, gaps)
            below, above_one = max(below, 1 / low), max(above_one, high)
    return below, above_one


def claimed(kind: str, *, positives: int, root: int, size: int = 1, level: int = 0) -> tuple[int, int]:
    """What is claimed of both, as logarithms to the base 2: ``size`` answers cost 1 each, and the offset ``root``."""
    offset, answer = root * size, size
    if kind == "any":
        return offset + 2 * positives * answer, offset + 2 * positives * answer
    if kind == "suffix":
        rise = size - level
        return (
            level * root + positives * answer,
            max(positives * level, rise * root + (positives - 1) * answer),
        )
    return positives * answer, offset + positives * answer
