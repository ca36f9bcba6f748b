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
"""-1 for each no and 0 for each yes."""

Linear = tuple[Fraction, Fraction]
"""A constant and a coefficient of v."""


def above(lead: int, v: Fraction) -> Linear:
    """min(1, 2^lead v) where v lies below the cell that ends at `v`, of which no power of two is inside."""
    return (Fraction(0), Fraction(2) ** lead) if Fraction(2) ** lead * v <= 1 else (Fraction(1), Fraction(0))


def law(leads: Sequence[int], *, positives: int = 1, root: int = 1, fresh: bool = False) -> dict[Answers, Fraction]:
    """Probability of every sequence of answers to all `leads`, or up to the last yes that is paid for.

    Args:
        leads: of the queries.
        positives: the stream ends after so many.
        root: b2 / b1.
        fresh: draw a new offset after every no: a control that is not private.

    >>> law([0])
    {(-1,): Fraction(1, 2), (0,): Fraction(1, 2)}
    """
    ends = sorted({Fraction(0), Fraction(1), *(Fraction(2) ** -lead for lead in leads if lead > 0)})
    if fresh:
        return _with_fresh_offsets(leads, positives=positives, root=root)
    found: dict[Answers, Fraction] = {}
    for answers in _sequences(len(leads), positives=positives):
        chance = Fraction(0)
        for start, end in pairwise(ends):
            polynomial = [Fraction(root)] if root == 1 else [*[Fraction(0)] * (root - 1), Fraction(root)]
            for lead, answer in zip(leads, answers, strict=False):
                polynomial = _times(polynomial, _one(lead, answer, end))
            chance += sum(
                (
                    each * (end ** (power + 1) - start ** (power + 1)) / (power + 1)
                    for power, each in enumerate(polynomial)
                ),
                Fraction(0),
            )
        found[answers] = chance
    return found


def _one(lead: int, answer: int, end: Fraction) -> Linear:
    """Probability of one answer."""
    constant, slope = above(lead, end)
    return (1 - constant, -slope) if answer < 0 else (constant, slope)


def _times(polynomial: list[Fraction], factor: Linear) -> list[Fraction]:
    grown = [*(factor[0] * each for each in polynomial), Fraction(0)]
    for power, each in enumerate(polynomial):
        grown[power + 1] += factor[1] * each
    return grown


def _sequences(queries: int, *, positives: int) -> Iterator[Answers]:
    for answers in product((-1, 0), repeat=queries):
        said = [place for place, answer in enumerate(answers) if answer >= 0]
        if len(said) < positives or (len(said) == positives and said[-1] == queries - 1):
            yield answers
    for length in range(positives, queries):
        for answers in product((-1, 0), repeat=length):
            if answers[-1] >= 0 and sum(answer >= 0 for answer in answers) == positives:
                yield answers


def _with_fresh_offsets(leads: Sequence[int], *, positives: int, root: int) -> dict[Answers, Fraction]:
    found: dict[Answers, Fraction] = {}
    for answers in _sequences(len(leads), positives=positives):
        chance = Fraction(1)
        for lead, answer in zip(leads, answers, strict=False):
            chance *= law([lead], root=root)[(answer,)]
        found[answers] = chance
    return found


@cache
def _known(leads: tuple[int, ...], positives: int, root: int) -> dict[Answers, Fraction]:
    return law(leads, positives=positives, root=root)


def extremes(before: tuple[int, ...], after: tuple[int, ...], *how: int) -> tuple[Fraction, Fraction]:
    """The smallest and the largest ratio of the probabilities of one sequence of answers."""
    here, there = _known(before, *how), _known(after, *how)
    ratios = [here[answers] / there[answers] for answers in here if here[answers] or there[answers]]
    return min(ratios), max(ratios)


def moved(kind: str, queries: int) -> Iterator[tuple[int, ...]]:
    """All changes of so many queries when a unit is added, each of at most one unit.

    >>> list(moved("up", 1)), list(moved("any", 1))
    ([(0,), (1,)], [(-1,), (0,), (1,)])
    """
    yield from product((-1, 0, 1) if kind == "any" else (0, 1), repeat=queries)


def worst_losses(
    kind: str, *, queries: int, highest: int, positives: int = 1, root: int = 1
) -> tuple[Fraction, Fraction]:
    """2 to the largest loss below and above, over all leads from ``-highest`` to `highest` and all moves."""
    below = above_one = Fraction(1)
    for leads in product(range(-highest, highest + 1), repeat=queries):
        for changes in moved(kind, queries):
            after = tuple(lead + change for lead, change in zip(leads, changes, strict=True))
            low, high = extremes(leads, after, positives, root)
            below, above_one = max(below, 1 / low), max(above_one, high)
    return below, above_one


def claimed(kind: str, *, positives: int, root: int) -> tuple[int, int]:
    """What is claimed of both, as logarithms to the base 2: an answer costs 1, and the offset `root`."""
    if kind == "any":
        return root + 2 * positives, root + 2 * positives
    return positives, root + positives
