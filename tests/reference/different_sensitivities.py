"""Selection with a sensitivity for each score, exactly. Proof: ``proofs/different_sensitivities.md``.

Exponents are kept as fractions, so that laws are those of permute-and-flip on ``exp`` of them, or sums of such.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import chain, combinations

Numbers = Sequence[Fraction]
Distance = Callable[[Fraction, Fraction], Fraction]


def plus(one: Fraction, other: Fraction) -> Fraction:
    """How sensitivities are taken together if scores move any way."""
    return one + other


def larger(one: Fraction, other: Fraction) -> Fraction:
    """The same if all scores move the same way."""
    return max(one, other)


def generalized_scores(scores: Numbers, sensitivities: Numbers, *, shift: Fraction, together: Distance) -> Numbers:
    """``u_i = min_j (r_i - r_j) / d_ij`` with ``r = s - t D``: how far ahead of everybody, in units of both.

    >>> ones = [Fraction(1)] * 2
    >>> [str(u) for u in generalized_scores([Fraction(4), Fraction(1)], ones, shift=Fraction(9), together=plus)]
    ['0', '-3/2']
    """
    heights = [score - shift * each for score, each in zip(scores, sensitivities, strict=True)]
    return [
        min((own - other) / together(mine, others) for other, others in zip(heights, sensitivities, strict=True))
        for own, mine in zip(heights, sensitivities, strict=True)
    ]


def by_hull(scores: Numbers, sensitivities: Numbers, *, shift: Fraction) -> Numbers:
    """The same with sums, as the product computes it: -u_i is the slope of the steepest line from ``(-D_i, s_i - 2 t
    D_i)`` to the upper hull of the points ``(D_j, s_j)``, less t."""
    hull: list[tuple[Fraction, Fraction]] = []
    for point in sorted(zip(sensitivities, scores, strict=True)):
        while hull and hull[-1][0] == point[0]:
            hull.pop()
        while len(hull) > 1 and not _is_corner(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    found = list[Fraction]()
    for score, own in zip(scores, sensitivities, strict=True):
        slopes = [(height - score + 2 * shift * own) / (own + other) for other, height in hull]
        peak = slopes.index(max(slopes))
        assert slopes[: peak + 1] == sorted(slopes[: peak + 1]), "ever steeper up to the peak"
        assert slopes[peak:] == sorted(slopes[peak:], reverse=True), "and less steep behind it"
        found.append(shift - slopes[peak])
    return found


def _is_corner(
    one: tuple[Fraction, Fraction], middle: tuple[Fraction, Fraction], other: tuple[Fraction, Fraction]
) -> bool:
    return (middle[1] - one[1]) * (other[0] - one[0]) > (other[1] - one[1]) * (middle[0] - one[0])


def own_scale_law(flip_probabilities: Numbers, rates: Numbers) -> tuple[Fraction, ...]:
    """The law of the largest of ``s_i + b_i E_i``, with ``p_i = exp(-(s* - s_i)/b_i)`` and rates ``1/b_i``.

    The integral of ``p_i rate_i exp(-rate_i z)`` times the product over j of ``1 - p_j exp(-rate_j z)``, multiplied
    out.

    >>> own_scale_law([Fraction(1), Fraction(1, 2)], [Fraction(1), Fraction(1)])
    (Fraction(3, 4), Fraction(1, 4))
    """
    found = list[Fraction]()
    for i, (own, rate) in enumerate(zip(flip_probabilities, rates, strict=True)):
        others = [j for j in range(len(rates)) if j != i]
        total = Fraction(0)
        for subset in chain.from_iterable(combinations(others, size) for size in range(len(others) + 1)):
            chance = Fraction(1)
            for j in subset:
                chance *= -flip_probabilities[j]
            total += chance * own * rate / (rate + sum((rates[j] for j in subset), Fraction(0)))
        found.append(total)
    return tuple(found)


def upper_half(above_a_step: Fraction) -> Fraction:
    """Chance that a memoryless time below two steps is above one, if q is that it is above one: by coins, q / (1 + q).

    A fair coin, tails ends it; then a coin of q, heads ends it the other way; otherwise again.

    >>> upper_half(Fraction(1, 3))
    Fraction(1, 4)
    """
    one_round = above_a_step / 2
    again = (1 - above_a_step) / 2
    return one_round / (1 - again)
