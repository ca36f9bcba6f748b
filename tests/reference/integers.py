"""Draws below a ceiling on the whole numbers, in exact fractions. Proof: ``proofs/integer_mechanism.md``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from tests.reference.randomness import Randomness


@dataclass(frozen=True)
class Side:
    """Offsets ``0 .. last`` with weight ``ratio**k``; `ratio` stands for exp(-fall/b)."""

    ratio: Fraction
    last: int | None = None

    @property
    def block(self) -> int:
        """The least block over which the weight halves at least, or the side if that is shorter."""
        size = 1
        while self.ratio**size > Fraction(1, 2) and size - 1 != self.last:
            size += 1
        return size


def propose(left: Side, right: Side, *, most_blocks: int, randomness: Randomness) -> int | None:
    """An offset from the centre, zero from the right only; ``None`` if it has to be tried again.

    `most_blocks` cuts the law off, so that it can be enumerated.
    """
    place = randomness.uniform(right.block + left.block)
    is_right = place < right.block
    side = right if is_right else left
    place -= 0 if is_right else right.block
    if not randomness.coin(side.ratio**place):
        return None
    offset = place
    while randomness.coin(Fraction(1, 2)):
        offset += side.block
        if offset - place == most_blocks * side.block or (side.last is not None and offset > side.last):
            return None
        if not randomness.coin(2 * side.ratio**side.block):
            return None
    if not is_right and offset == 0:
        return None
    return offset if is_right else -offset


def draw(
    left: Side, right: Side, score: Callable[[int], Fraction], *, most_blocks: int, randomness: Randomness
) -> int | None:
    """A proposal, kept with the quotient of ``exp(score/b)`` and ``exp(ceiling/b)``, at most 1.

    `score` gives the former relative to the ceiling's height.
    """
    offset = propose(left, right, most_blocks=most_blocks, randomness=randomness)
    if offset is None:
        return None
    side = right if offset >= 0 else left
    keep = score(offset) / side.ratio ** abs(offset)
    return offset if randomness.coin(min(Fraction(1), keep)) else None
