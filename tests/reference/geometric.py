"""The two-sided geometric law in exact fractions, and how it is drawn. Proof: ``proofs/geometric_mechanism.md``."""

from __future__ import annotations

from fractions import Fraction

from tests.reference.randomness import Randomness


def magnitude(ratio: Fraction, *, block: int, most_blocks: int, randomness: Randomness) -> int | None:
    """A whole number k with weight ``ratio**k``, by blocks; ``None`` if it has to be tried again.

    `ratio` stands for exp(-1/b). The product counts blocks without end; `most_blocks` cuts the law off, so that it can
    be enumerated.
    """
    place = randomness.uniform(block)
    if not randomness.coin(ratio**place):
        return None
    blocks = 0
    while randomness.coin(ratio**block):
        blocks += 1
        if blocks == most_blocks:
            return None
    return place + block * blocks


def noise(ratio: Fraction, *, block: int, most_blocks: int, randomness: Randomness) -> int | None:
    """Both signs; zero with a minus is tried again."""
    is_negative = randomness.coin(Fraction(1, 2))
    size = magnitude(ratio, block=block, most_blocks=most_blocks, randomness=randomness)
    if size is None or (is_negative and size == 0):
        return None
    return -size if is_negative else size


def law(ratio: Fraction, offset: int) -> Fraction:
    """Probability of the noise `offset`.

    >>> law(Fraction(1, 2), 0), law(Fraction(1, 2), -3)
    (Fraction(1, 3), Fraction(1, 24))
    """
    return (1 - ratio) / (1 + ratio) * ratio ** abs(offset)


def noise_up_to(ratio: Fraction, offset: int) -> Fraction:
    """Probability of noise not above `offset`: the sum of `law`.

    >>> noise_up_to(Fraction(1, 2), -1), noise_up_to(Fraction(1, 2), 0)
    (Fraction(1, 3), Fraction(2, 3))
    """
    return ratio**-offset / (1 + ratio) if offset < 0 else 1 - ratio ** (offset + 1) / (1 + ratio)


def clamped_law(ratio: Fraction, value: int, *, lower: int, upper: int) -> dict[int, Fraction]:
    """The law of ``value + noise`` moved into the bounds.

    >>> clamped_law(Fraction(1, 2), 0, lower=0, upper=2)
    {0: Fraction(2, 3), 1: Fraction(1, 6), 2: Fraction(1, 6)}
    """
    inner = {point: law(ratio, point - value) for point in range(lower + 1, upper)}
    below, above = noise_up_to(ratio, lower - value), noise_up_to(ratio, value - upper)
    return {lower: below, **inner, upper: above}


def restricted_law(ratio: Fraction, value: int, *, lower: int, upper: int) -> dict[int, Fraction]:
    """The exponential mechanism with score ``-|y - value|`` on the range alone: its normaliser depends on `value`.

    >>> restricted_law(Fraction(1, 2), 0, lower=0, upper=2)
    {0: Fraction(4, 7), 1: Fraction(2, 7), 2: Fraction(1, 7)}
    """
    weights = {point: ratio ** abs(point - value) for point in range(lower, upper + 1)}
    total = sum(weights.values())
    return {point: weight / total for point, weight in weights.items()}


def off_lattice_total(root: Fraction, *, halves: int) -> Fraction:
    """The sum over all whole y of ``exp(-|y - f|/b)`` for ``f = halves / 2``, `root` standing for exp(-1/(2b)).

    >>> off_lattice_total(Fraction(1, 2), halves=0), off_lattice_total(Fraction(1, 2), halves=1)
    (Fraction(5, 3), Fraction(4, 3))
    """
    ratio = root**2
    return (1 + ratio) / (1 - ratio) if halves % 2 == 0 else 2 * root / (1 - ratio)
