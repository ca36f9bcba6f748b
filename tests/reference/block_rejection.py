"""The exponential mechanism drawn from block maxima and rejection. Proof: ``proofs/exact_sampling.md``."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

from tests.reference.randomness import Randomness, exact_law, repeated_until_accepted

Blocks = Sequence[Sequence[int]]
"""A partition of the candidates; how it is chosen matters for time only."""


def tightest_weights(flip_probabilities: Sequence[Fraction], *, blocks: Blocks, unit: int) -> tuple[int, ...]:
    """The least integers with ``weight / unit`` at least every flip probability in the block; any larger will do.

    >>> tightest_weights([Fraction(1), Fraction(1, 3), Fraction(1, 100)], blocks=[[0], [1, 2]], unit=16)
    (16, 6)
    """
    return tuple(ceil(unit * max(flip_probabilities[i] for i in block)) for block in blocks)


def propose_once(
    flip_probabilities: Sequence[Fraction],
    *,
    blocks: Blocks,
    weights: Sequence[int],
    unit: int,
    randomness: Randomness,
) -> int | None:
    """One round: a block by size times weight, a candidate of it uniformly, and a coin; ``None`` if it shows tails.

    The coin compares a uniform ``V`` with ``p_i``: heads if ``V * weight / unit < p_i``. Were the weight no upper
    bound, that would be heads always and not more: hence the minimum, and the wrong law that follows.
    """
    block = randomness.choose([len(members) * weight for members, weight in zip(blocks, weights, strict=True)])
    candidate = blocks[block][randomness.uniform(len(blocks[block]))]
    heads = min(Fraction(1), flip_probabilities[candidate] * unit / weights[block])
    return candidate if randomness.coin(heads) else None


def round_law(
    flip_probabilities: Sequence[Fraction], *, blocks: Blocks, weights: Sequence[int], unit: int
) -> dict[int | None, Fraction]:
    """The exact law of one round."""
    return exact_law(
        lambda randomness: propose_once(
            flip_probabilities, blocks=blocks, weights=weights, unit=unit, randomness=randomness
        )
    )


def law(
    flip_probabilities: Sequence[Fraction], *, blocks: Blocks, weights: Sequence[int], unit: int
) -> tuple[Fraction, ...]:
    """The law of rounds until one accepts.

    >>> law([Fraction(1), Fraction(1, 3), Fraction(1, 6)], blocks=[[0, 1], [2]], weights=[9, 5], unit=8)
    (Fraction(2, 3), Fraction(2, 9), Fraction(1, 9))
    """
    one = round_law(flip_probabilities, blocks=blocks, weights=weights, unit=unit)
    return repeated_until_accepted(one, count=len(flip_probabilities))


def expected_rounds(
    flip_probabilities: Sequence[Fraction], *, blocks: Blocks, weights: Sequence[int], unit: int
) -> Fraction:
    """Mean number of rounds: what the bounds add up to, over what the flip probabilities add up to."""
    proposed = sum(len(members) * weight for members, weight in zip(blocks, weights, strict=True))
    return Fraction(proposed, unit) / sum(flip_probabilities)
