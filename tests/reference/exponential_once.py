"""The ``k`` largest scores after exponential noise once, drawn through heads and in stages; and gaps. All exact.

Everywhere ``rates[i]`` is ``exp((score_i - level) / scale)`` for some level, so that candidate ``i`` comes at a time
that is uniform on ``[0, 1 / rates[i]]``, and the larger noisy score comes first. Proofs:
``proofs/exponential_once.md`` and ``proofs/free_gap.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from math import factorial, prod

from tests.reference.races import Order, uniform_race

OrderLaw = Callable[[Sequence[Fraction]], dict[Order, Fraction]]


def law_by_heads(rates: Sequence[Fraction], *, k: int) -> dict[Order, Fraction]:
    """Times are measured from the ``k``-th largest score: by time 1 all have come who are not below it.

    The others flip coins.

    >>> law_by_heads([Fraction(1), Fraction(1), Fraction(1, 2)], k=2)[0, 1]
    Fraction(1, 3)
    """
    level = sorted(rates, reverse=True)[k - 1]
    p = [rate / level for rate in rates]
    sure = [i for i, p_i in enumerate(p) if p_i >= 1]
    unsure = [i for i, p_i in enumerate(p) if p_i < 1]
    law: dict[Order, Fraction] = dict.fromkeys(permutations(range(len(p)), k), Fraction(0))
    for coins in product([True, False], repeat=len(unsure)):
        chance = prod(
            (p[i] if is_head else 1 - p[i] for i, is_head in zip(unsure, coins, strict=True)), start=Fraction(1)
        )
        heads = sorted(sure + [i for i, is_head in zip(unsure, coins, strict=True) if is_head])
        # Given that it came by time 1, the time of an unsure one is uniform there, as if it were at the level.
        for order, share in uniform_race([max(p[i], Fraction(1)) for i in heads], finishers=k).items():
            law[tuple(heads[place] for place in order)] += chance * share
    return law


def law_by_stages(rates: Sequence[Fraction], *, k: int, cuts: Sequence[Fraction]) -> dict[Order, Fraction]:
    """Stage after stage of the time, from cut to cut, until ``k`` have come; in a stage every order is equally likely.

    At the last cut, 1, all with rate 1 have come, and nobody's rate is larger.

    >>> cuts = [Fraction(0), Fraction(1, 4), Fraction(1)]
    >>> law_by_stages([Fraction(1), Fraction(1), Fraction(1, 2)], k=2, cuts=cuts)[0, 1]
    Fraction(1, 3)
    """
    law: dict[Order, Fraction] = dict.fromkeys(permutations(range(len(rates)), k), Fraction(0))
    reached: dict[Order, Fraction] = {(): Fraction(1)}
    for start, end in pairwise(cuts):
        longer: dict[Order, Fraction] = {}
        for came, chance in reached.items():
            left = [i for i in range(len(rates)) if i not in came]
            coins = {i: rates[i] * (end - start) / (1 - rates[i] * start) for i in left}
            for comers in _subsets(left):
                share = chance * prod((coins[i] if i in comers else 1 - coins[i] for i in left), start=Fraction(1))
                for order in permutations(comers):
                    after = came + order
                    if len(after) >= k:
                        law[after[:k]] += share / factorial(len(order))
                    elif share:
                        longer[after] = longer.get(after, Fraction(0)) + share / factorial(len(order))
        reached = longer
    return law


def _subsets(of: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for size in range(len(of) + 1):
        yield from combinations(of, size)


def gap_tail(law: OrderLaw, rates: Sequence[Fraction], order: Order, shrink: Sequence[Fraction]) -> Fraction:
    """The chance of `order` with gaps of at least ``a_1, a_2, ...``, where ``shrink[r] = exp(-a_(r+1) / scale)``.

    The r-th is ahead of the next by a_r, for every r, if and only if the same order comes with scores that are lower by
    ``a_r + ... + a_k``.

    >>> from tests.reference.permute_and_flip import law_by_heads as flip
    >>> by_flips = lambda p: {(i,): chance for i, chance in enumerate(flip(tuple(p)))}
    >>> gap_tail(by_flips, [Fraction(1), Fraction(1)], (0,), [Fraction(1, 4)])
    Fraction(1, 8)
    """
    lowered = list(rates)
    for place, i in enumerate(order):
        lowered[i] *= prod(shrink[place:], start=Fraction(1))
    return law(lowered)[order]


def gap_cells(
    law: OrderLaw, rates: Sequence[Fraction], *, step: Fraction, most: int
) -> dict[tuple[Order, Order], Fraction]:
    """The joint law of the order and the gaps in whole steps, those of `most` and more together; ``step`` is exp(-h /
    scale)."""
    cells: dict[tuple[Order, Order], Fraction] = {}
    for order in law(rates):
        k = len(order)
        tails = {
            steps: gap_tail(law, rates, order, [step**s for s in steps]) for steps in product(range(most + 1), repeat=k)
        }
        for steps in tails:
            chance = Fraction(0)
            for more in product([0, 1], repeat=k):
                beyond = tuple(s + m for s, m in zip(steps, more, strict=True))
                if max(beyond) <= most:
                    chance += (-1) ** sum(more) * tails[beyond]
            cells[order, steps] = chance
    return cells
