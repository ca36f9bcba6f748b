"""The most common candidates with their counts, in exact fractions: by noise once, and selected first and counted then.

Proof: ``proofs/noisy_order.md``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import lcm, prod

from tests.reference.counting import Counts
from tests.reference.geometric import clamped_law
from tests.reference.geometric import law as noise_law
from tests.reference.permute_and_flip import law_by_heads
from tests.reference.top_k import exponential_noise_once, peeled

Order = tuple[int, ...]
Released = tuple[Order, Counts]
"""Positions of the selected candidates, best first, and a noisy count for each."""


def ranked(noisy: Sequence[int], *, k: int) -> Released:
    """The k largest with their numbers; of equal ones the earlier is the better.

    >>> ranked([3, 5, 5, -1], k=3)
    ((1, 2, 0), (5, 5, 3))
    """
    order = tuple(sorted(range(len(noisy)), key=lambda place: -noisy[place])[:k])
    return order, tuple(noisy[place] for place in order)


@cache
def _noisy(count: int, ratio: Fraction, reach: int) -> dict[int, Fraction]:
    return clamped_law(ratio, count, lower=-reach, upper=reach)


def once_law(counts: Mapping[Counts, Fraction], *, k: int, ratio: Fraction, reach: int) -> dict[Released, Fraction]:
    """Law of order and counts with noise once on all counts, moved into ``-reach..reach``.

    Args:
        counts: the law of the exact counts, by the choice of each unit's candidates.
        k: number of candidates to select.
        ratio: exp(-1/b).
        reach: of the noisy counts, so that there are finitely many.

    >>> once_law({(1, 0): Fraction(1)}, k=1, ratio=Fraction(1, 2), reach=1)[(0,), (1,)]
    Fraction(2, 3)
    """
    law: defaultdict[Released, Fraction] = defaultdict(Fraction)
    for exact, chance in counts.items():
        each = [_noisy(count, ratio, reach) for count in exact]
        for noisy in product(range(-reach, reach + 1), repeat=len(exact)):
            law[ranked(noisy, k=k)] += chance * prod(of[number] for of, number in zip(each, noisy, strict=True))
    return law


def noise_once_law(
    counts: Mapping[Counts, Fraction], *, k: int, noise: Mapping[int, Fraction], reach: int
) -> dict[Released, Fraction]:
    """The same with any noise, such as the discrete Gaussian.

    >>> from tests.reference.discrete_gaussian import law as gaussian_noise
    >>> noise = gaussian_noise(Fraction(1, 2), reach=4)
    >>> law = noise_once_law({(1, 0): Fraction(1)}, k=1, noise=noise, reach=1)
    >>> max(law, key=lambda each: law[each]), sum(law.values())
    (((0,), (1,)), Fraction(1, 1))
    """
    law: defaultdict[Released, Fraction] = defaultdict(Fraction)
    for exact, chance in counts.items():
        each = [_moved_into(noise, count, reach) for count in exact]
        for noisy in product(range(-reach, reach + 1), repeat=len(exact)):
            law[ranked(noisy, k=k)] += chance * prod(of[number] for of, number in zip(each, noisy, strict=True))
    return law


def _moved_into(noise: Mapping[int, Fraction], count: int, reach: int) -> dict[int, Fraction]:
    law = dict.fromkeys(range(-reach, reach + 1), Fraction(0))
    for offset, chance in noise.items():
        law[min(max(count + offset, -reach), reach)] += chance
    return law


def hockey_stick(one: Mapping[Released, Fraction], other: Mapping[Released, Fraction], growth: Fraction) -> Fraction:
    """By how much the bound ``growth * other`` is exceeded in all, in the worse direction.

    In integers, over one denominator for all.

    >>> one, other = {((0,), (1,)): Fraction(2, 3)}, {((0,), (1,)): Fraction(1, 6)}
    >>> hockey_stick(one, other, Fraction(3, 2))
    Fraction(5, 12)
    """
    whole = lcm(*(chance.denominator for law in (one, other) for chance in law.values()))
    here, there = (
        {each: chance.numerator * (whole // chance.denominator) for each, chance in law.items()} for law in (one, other)
    )

    def above(first: Mapping[Released, int], second: Mapping[Released, int]) -> int:
        return sum(
            max(chance * growth.denominator - growth.numerator * second.get(each, 0), 0)
            for each, chance in first.items()
        )

    return Fraction(max(above(here, there), above(there, here)), whole * growth.denominator)


def counted_law(
    counts: Mapping[Counts, Fraction], *, k: int, flip_ratio: Fraction, ratio: Fraction, reach: int
) -> dict[Released, Fraction]:
    """Law of candidates peeled by permute-and-flip and of their counts with noise of its own.

    Args:
        counts: the law of the exact counts.
        k: number of candidates to select.
        flip_ratio: exp(-1/b) of the selection.
        ratio: exp(-1/b) of the noise of the counts.
        reach: of the noisy counts.
    """
    law: defaultdict[Released, Fraction] = defaultdict(Fraction)
    for exact, chance in counts.items():
        flips = [flip_ratio ** (max(exact) - count) for count in exact]
        for order, selected in peeled(law_by_heads, flips, k=k).items():
            each = [_noisy(exact[place], ratio, reach) for place in order]
            for noisy in product(range(-reach, reach + 1), repeat=k):
                law[order, noisy] += (
                    chance * selected * prod(of[number] for of, number in zip(each, noisy, strict=True))
                )
    return law


def exponential_order_law(exact: Counts, *, k: int, ratio: Fraction) -> dict[Order, Fraction]:
    """Law of the order with exponential noise once: the control, which does not profit from few values per unit."""
    return exponential_noise_once([ratio ** (max(exact) - count) for count in exact], k=k)


def worst_ratio(one: Mapping[Released, Fraction], other: Mapping[Released, Fraction]) -> Fraction:
    """The largest ratio of the probabilities of an outcome, whichever of the two is larger."""
    return max(max(one[each] / other[each], other[each] / one[each]) for each in one)


def difference_above(ratio: Fraction, bound: int) -> Fraction:
    """Probability that the difference of two noises is above `bound` >= -1, in closed form.

    >>> from tests.reference.geometric import noise_up_to
    >>> ratio = Fraction(1, 2)
    >>> inside = sum(
    ...     noise_law(ratio, one) * noise_up_to(ratio, one + 3) for one in range(-60, 61)
    ... )  # noise of the other at most 3 more
    >>> abs(1 - inside - difference_above(ratio, 3)) < Fraction(1, 10**15)
    True
    """
    m = bound + 1
    return ratio**m * (m * (1 - ratio) + (1 + ratio + 2 * ratio**2) / (1 + ratio)) / (1 + ratio) ** 2


def geometric_noise(ratio: Fraction, reach: int) -> dict[int, Fraction]:
    """Law of geometric noise up to `reach`."""
    return {offset: noise_law(ratio, offset) for offset in range(-reach, reach + 1)}


def order_error_above(exact: Counts, bound: int, *, k: int, noise: Mapping[int, Fraction]) -> Fraction:
    """Probability that a selected count is more than `bound` below the best one left when it was selected."""
    chance, reach = Fraction(0), max(noise)
    each = [noise for _ in exact]
    for offsets in product(range(-reach, reach + 1), repeat=len(exact)):
        order, _ = ranked([count + offset for count, offset in zip(exact, offsets, strict=True)], k=k)
        left = list(exact)
        for place in order:
            if max(left) - exact[place] > bound:
                chance += prod(of[offset] for of, offset in zip(each, offsets, strict=True))
                break
            left[place] = min(exact)
    return chance


def count_error_above(exact: Counts, bound: int, *, k: int, noise: Mapping[int, Fraction]) -> Fraction:
    """Probability that one of the released counts is more than `bound` away from the true one."""
    chance, reach = Fraction(0), max(noise)
    for offsets in product(range(-reach, reach + 1), repeat=len(exact)):
        order, _ = ranked([count + offset for count, offset in zip(exact, offsets, strict=True)], k=k)
        if any(abs(offsets[place]) > bound for place in order):
            chance += prod(noise[offset] for offset in offsets)
    return chance
