"""Optimal partition selection in exact fractions: its recursion, its closed form, and how its coins are tossed.

``growth`` stands for e^epsilon, and is rational here. Proof: ``proofs/partition_selection.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from tests.reference.randomness import Randomness

Law = dict[tuple[bool, ...], Fraction]
"""Of which values are named."""


def probabilities(growth: Fraction, delta: Fraction, most: int) -> list[Fraction]:
    """The probability that a value is named, at 0, 1, ..., `most` units: by the recursion.

    >>> [str(each) for each in probabilities(Fraction(2), Fraction(1, 10), 5)]
    ['0', '1/10', '3/10', '7/10', '9/10', '1']
    """
    found = [Fraction(0)]
    while len(found) <= most:
        last = found[-1]
        found.append(min(growth * last + delta, 1 - (1 - last - delta) / growth, Fraction(1)))
    return found


def in_closed_form(growth: Fraction, delta: Fraction, count: int) -> Fraction:
    """The same by the formulas of the product."""

    def first(number: int) -> Fraction:
        return delta * (growth**number - 1) / (growth - 1)

    turn = 1
    while growth**turn <= 1 + (1 / delta - 1) * (growth - 1) / (growth + 1):
        turn += 1
    if count <= turn:
        return first(count)
    kept = 1 / growth ** (count - turn)
    return 1 - max(Fraction(0), kept * (1 - first(turn)) - delta * (1 - kept) / (growth - 1))


def law(chances: Sequence[Fraction]) -> Law:
    """Of independent coins with these chances of heads.

    >>> {named: str(chance) for named, chance in law([Fraction(1, 3)]).items()}
    {(False,): '2/3', (True,): '1/3'}
    """
    found: Law = {}
    for named in product((False, True), repeat=len(chances)):
        probability = Fraction(1)
        for chance, is_named in zip(chances, named, strict=True):
            probability *= chance if is_named else 1 - chance
        found[named] = probability
    return found


def failure(one: Law, other: Law, growth: Fraction) -> Fraction:
    """The smallest delta at which no event of `one` is more than `growth` times as likely as in `other`, plus delta.

    >>> failure({(True,): Fraction(1)}, {(True,): Fraction(1, 4), (False,): Fraction(3, 4)}, Fraction(3))
    Fraction(1, 4)
    """
    zero = Fraction(0)
    return sum((max(zero, chance - growth * other.get(outcome, zero)) for outcome, chance in one.items()), zero)


def lazy_heads(
    chance: Fraction, sizes: Sequence[int], *, base: int, rounds: int, randomness: Randomness
) -> tuple[int, ...]:
    """How many of several coins show heads, for each of `sizes`, from bounds of `chance` and digits of that base.

    Bounds are one apart at each level, as wide as they can be. After so many rounds the coins that are still undecided
    take one toss of the exact chance, which the product never needs.
    """
    found: list[int] = []
    for size in sizes:
        heads, start, end, scale = 0, 0, 1, 1
        for _ in range(rounds):
            scale, start, end = scale * base, start * base, end * base
            low = min(max((chance * scale).__floor__(), start), end)
            high = min(max((chance * scale).__ceil__(), start), end)
            cells = [low - start, high - low, end - high]
            drawn = [randomness.choose(cells) for _ in range(size)]
            heads, size = heads + drawn.count(0), drawn.count(1)
            start, end = low, high
        inside = (chance * scale - start) / (end - start) if end > start else Fraction(0)
        heads += sum(randomness.coin(inside) for _ in range(size))
        found.append(heads)
    return tuple(found)


def named_by_number(heads: int, size: int, randomness: Randomness) -> tuple[bool, ...]:
    """Which of the values of one count are named, if it is known how many: each set is equally likely."""
    left, named = list(range(size)), [False] * size
    for _ in range(heads):
        named[left.pop(randomness.uniform(len(left)))] = True
    return tuple(named)
