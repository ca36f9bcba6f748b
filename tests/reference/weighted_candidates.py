"""The exponential mechanism with public weights, exactly. Proof: ``proofs/weighted_candidates.md``."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def law(scores: Sequence[int], weights: Sequence[Fraction], growth: Fraction) -> tuple[Fraction, ...]:
    """Candidate i with probability proportional to ``w_i growth^(s_i)``, growth being e^(1/b).

    >>> law([0, 1], [Fraction(2), Fraction(1)], Fraction(2))
    (Fraction(1, 2), Fraction(1, 2))
    """
    shares = [weight * growth**score for score, weight in zip(scores, weights, strict=True)]
    return tuple(share / sum(shares) for share in shares)


def by_copies(scores: Sequence[int], weights: Sequence[int], growth: Fraction) -> tuple[Fraction, ...]:
    """The same for whole weights without any: so many copies of each candidate, and a copy stands for its original.

    >>> by_copies([0, 1], [2, 1], Fraction(2))
    (Fraction(1, 2), Fraction(1, 2))
    """
    copies = [score for score, weight in zip(scores, weights, strict=True) for _ in range(weight)]
    owners = [place for place, weight in enumerate(weights) for _ in range(weight)]
    of_copies = law(copies, [Fraction(1)] * len(copies), growth)
    found = [Fraction(0)] * len(scores)
    for owner, chance in zip(owners, of_copies, strict=True):
        found[owner] += chance
    return tuple(found)


def failure(scores: Sequence[int], weights: Sequence[Fraction], growth: Fraction, *, distance: int) -> Fraction:
    """Probability of an error of at least `distance`, below the best of those that have a weight."""
    best = max(score for score, weight in zip(scores, weights, strict=True) if weight)
    chances = law(scores, weights, growth)
    return sum((each for each, score in zip(chances, scores, strict=True) if score <= best - distance), Fraction(0))


def odds_against(weights: Sequence[Fraction], best: int) -> Fraction:
    """All other weights over that of the best candidate."""
    return (sum(weights) - weights[best]) / weights[best]


def worst_failure(odds: Fraction, growth: Fraction, *, distance: int) -> Fraction:
    """The largest probability of such an error: all others exactly that far below the best.

    >>> worst_failure(Fraction(3), Fraction(2), distance=1)
    Fraction(3, 5)
    """
    others = odds / growth**distance
    return others / (1 + others)


def pieces_law(shares: Sequence[Fraction], bounds: Sequence[int]) -> tuple[Fraction, ...]:
    """As the product draws: a proposal by whole bounds no less than the shares, accepted with share over bound.

    >>> pieces_law([Fraction(1, 2), Fraction(1)], [1, 3])
    (Fraction(1, 3), Fraction(2, 3))
    """
    assert all(share <= bound for share, bound in zip(shares, bounds, strict=True))
    total = sum(bounds)
    kept = [
        Fraction(bound, total) * (share / bound) if bound else Fraction(0)
        for share, bound in zip(shares, bounds, strict=True)
    ]
    return tuple(each / sum(kept) for each in kept)
