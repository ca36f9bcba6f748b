"""Selection with a sensitivity for each score, exactly. Proof: ``proofs/different_sensitivities.md``.

Exponents are kept as fractions, so that laws are those of permute-and-flip on ``exp`` of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

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
