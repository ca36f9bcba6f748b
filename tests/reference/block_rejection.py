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
    own: Sequence[int],
    unit: int,
    randomness: Randomness,
) -> int | None:
    """One round: a block by size times weight, a candidate of it uniformly, a place below the weight, and a coin.

    The candidate keeps as many places as its `own` bound says. The coin compares a uniform ``V`` behind the place with
    ``p_i``: heads if ``place + V < p_i * unit``, which is certain at most places. Were a bound too small, places would
    be missing: hence the wrong law that follows. ``None`` if the candidate is refused.
    """
    block = randomness.choose([len(members) * weight for members, weight in zip(blocks, weights, strict=True)])
    candidate = blocks[block][randomness.uniform(len(blocks[block]))]
    place = randomness.uniform(weights[block])
    if place >= own[candidate]:
        return None
    heads = min(Fraction(1), max(Fraction(0), flip_probabilities[candidate] * unit - place))
    return candidate if randomness.coin(heads) else None


def round_law(
    flip_probabilities: Sequence[Fraction],
    *,
    blocks: Blocks,
    weights: Sequence[int],
    unit: int,
    own: Sequence[int] | None = None,
) -> dict[int | None, Fraction]:
    """The exact law of one round; without `own` every candidate has its block's bound."""
    of_blocks = {i: weight for block, weight in zip(blocks, weights, strict=True) for i in block}
    bounds = [of_blocks[i] for i in range(len(flip_probabilities))] if own is None else own
    return exact_law(
        lambda randomness: propose_once(
            flip_probabilities, blocks=blocks, weights=weights, own=bounds, unit=unit, randomness=randomness
        )
    )


def law(
    flip_probabilities: Sequence[Fraction],
    *,
    blocks: Blocks,
    weights: Sequence[int],
    unit: int,
    own: Sequence[int] | None = None,
) -> tuple[Fraction, ...]:
    """The law of rounds until one accepts.

    >>> law([Fraction(1), Fraction(1, 3), Fraction(1, 6)], blocks=[[0, 1], [2]], weights=[9, 5], unit=8)
    (Fraction(2, 3), Fraction(2, 9), Fraction(1, 9))
    """
    one = round_law(flip_probabilities, blocks=blocks, weights=weights, unit=unit, own=own)
    return repeated_until_accepted(one, count=len(flip_probabilities))


def expected_rounds(
    flip_probabilities: Sequence[Fraction], *, blocks: Blocks, weights: Sequence[int], unit: int
) -> Fraction:
    """Mean number of rounds: what the bounds add up to, over what the flip probabilities add up to."""
    proposed = sum(len(members) * weight for members, weight in zip(blocks, weights, strict=True))
    return Fraction(proposed, unit) / sum(flip_probabilities)


def law_after_uniform_tries(
    flip_probabilities: Sequence[Fraction], *, tries: int, blocks: Blocks, weights: Sequence[int], unit: int
) -> tuple[Fraction, ...]:
    """The law of `tries` uniform tries, each accepted with the candidate's own probability, and rounds if all fail.

    >>> law_after_uniform_tries([Fraction(1), Fraction(1, 3)], tries=2, blocks=[[0], [1]], weights=[8, 3], unit=8)
    (Fraction(3, 4), Fraction(1, 4))
    """
    count = len(flip_probabilities)
    accepted = [p / count for p in flip_probabilities]
    all_fail = (1 - sum(accepted)) ** tries
    some_succeeds = sum(((1 - sum(accepted)) ** failed for failed in range(tries)), Fraction(0))
    rounds = law(flip_probabilities, blocks=blocks, weights=weights, unit=unit)
    return tuple(some_succeeds * one + all_fail * rest for one, rest in zip(accepted, rounds, strict=True))


def weight_bound(octaves: Fraction, *, bits: int, fraction_bits: int = 20, most: int = 62) -> int:
    """The integer bound of ``2^-octaves`` in units of ``2^-bits``, as the core computes it.

    Halvings are counted in steps of ``2^-fraction_bits``, rounded to nearest after one step was taken off; what is left
    of a halving goes along the chord ``1 - f/2``; the nearest integer to that, and one more.

    >>> weight_bound(Fraction(0), bits=8), weight_bound(Fraction(3, 2), bits=8), weight_bound(Fraction(99), bits=8)
    (257, 97, 1)
    """
    steps = round(min(octaves, Fraction(most)) * 2**fraction_bits - 1)
    whole, part = divmod(Fraction(steps, 2**fraction_bits), 1)
    height = (1 - part / 2) * Fraction(2) ** (bits - int(whole))
    return round(height) + 1
