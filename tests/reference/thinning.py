"""Permute-and-flip drawn by two routes, dense and sparse, and the switch between them.

Proof: ``proofs/exact_sampling.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from fractions import Fraction

from tests.reference.randomness import Randomness

Groups = Sequence[Sequence[int]]
"""A partition of the candidates; how it is chosen matters for time only."""

Switch = Callable[[tuple[int, ...]], bool]
"""Whether to leave the dense route, from the candidates visited so far (all of which showed tails) and nothing else."""


def heads_by_thinning(
    flip_probabilities: Sequence[Fraction],
    *,
    groups: Groups,
    bounds: Sequence[Fraction],
    tails: Collection[int],
    randomness: Randomness,
) -> Iterator[int]:
    """The candidates that show heads, each found by a proposal of its group's bound ``q >= p`` kept at rate ``p / q``.

    `tails` are candidates already known to show tails: their coins are not flipped again.
    """
    for group, bound in zip(groups, bounds, strict=True):
        for candidate in group:
            kept = min(Fraction(1), flip_probabilities[candidate] / bound)  # binds only for an invalid bound
            if randomness.coin(bound) and candidate not in tails and randomness.coin(kept):
                yield candidate


def keep_one_uniformly(heads: Iterator[int], *, randomness: Randomness) -> int | None:
    """A uniform choice from a stream of unknown length: the ``h``-th replaces the one kept with probability ``1/h``."""
    kept: int | None = None
    for seen, candidate in enumerate(heads, start=1):
        if randomness.coin(Fraction(1, seen)):
            kept = candidate
    return kept


def permute_and_flip_by_two_routes(
    flip_probabilities: Sequence[Fraction],
    *,
    groups: Groups,
    bounds: Sequence[Fraction],
    switch: Switch,
    randomness: Randomness,
) -> int | None:
    """Dense until `switch`, then sparse. ``None`` only if no coin shows heads, so never if one is certain to.

    Dense: visit uniformly without repetition and return the first heads. Sparse: a uniform choice among all heads of
    the candidates not visited.

    >>> from tests.reference.randomness import as_vector, exact_law
    >>> p = [Fraction(1), Fraction(1, 2)]
    >>> law = exact_law(lambda randomness: permute_and_flip_by_two_routes(
    ...     p, groups=[[0], [1]], bounds=[Fraction(1), Fraction(2, 3)],
    ...     switch=lambda visited: len(visited) == 1, randomness=randomness))
    >>> as_vector(law, count=2)
    (Fraction(3, 4), Fraction(1, 4))
    """
    unvisited = list(range(len(flip_probabilities)))
    visited: tuple[int, ...] = ()
    while unvisited and not switch(visited):
        candidate = unvisited.pop(randomness.uniform(len(unvisited)))
        if randomness.coin(flip_probabilities[candidate]):
            return candidate
        visited = (*visited, candidate)
    heads = heads_by_thinning(flip_probabilities, groups=groups, bounds=bounds, tails=visited, randomness=randomness)
    return keep_one_uniformly(heads, randomness=randomness)
