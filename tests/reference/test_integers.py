"""Proposals on the whole numbers have the ceiling's law, and what is kept has the score's."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from tests.reference.integers import Side, draw, propose
from tests.reference.randomness import exact_law, repeated_until_accepted

SIDES = [
    Side(Fraction(1, 3)),
    Side(Fraction(2, 3)),
    Side(Fraction(9, 10), last=2),
    Side(Fraction(1), last=3),
    Side(Fraction(1, 3), last=0),
]
MOST = 3


def reached(side: Side) -> int:
    """The last offset that a law cut off after `MOST` blocks has."""
    end = MOST * side.block - 1
    return end if side.last is None else min(end, side.last)


def normalised(weights: dict[int, Fraction]) -> dict[int, Fraction]:
    return {offset: weight / sum(weights.values()) for offset, weight in weights.items()}


def ceiling_law(left: Side, right: Side) -> dict[int, Fraction]:
    weights = {-k: left.ratio**k for k in range(reached(left), 0, -1)}
    return normalised({**weights, **{k: right.ratio**k for k in range(reached(right) + 1)}})


@pytest.mark.parametrize(("left", "right"), list(product(SIDES, SIDES)))
def test_proposals_have_the_ceilings_law(left: Side, right: Side) -> None:
    tries = exact_law(lambda randomness: propose(left, right, most_blocks=MOST, randomness=randomness))
    kept = {offset: chance for offset, chance in tries.items() if offset is not None and chance > 0}
    assert normalised(kept) == ceiling_law(left, right)


def test_blocks_halve_at_least() -> None:
    assert [side.block for side in SIDES] == [1, 2, 3, 4, 1]


@pytest.mark.parametrize("above", [Fraction(1), Fraction(5)])
def test_what_is_kept_has_the_law_of_the_score_under_its_ceiling(above: Fraction) -> None:
    left, right = Side(Fraction(1, 3)), Side(Fraction(2, 3))

    def score(offset: int) -> Fraction:
        ceiling = (right if offset >= 0 else left).ratio ** abs(offset)
        return ceiling * (above if offset == 1 else Fraction(1, 2 + abs(offset)))

    law = exact_law(lambda randomness: draw(left, right, score, most_blocks=MOST, randomness=randomness))
    capped = {o: min(score(o), c) for o, c in unnormalised(left, right).items()}
    count = reached(left) + reached(right) + 1
    shifted = {None if o is None else o + reached(left): chance for o, chance in law.items()}
    drawn = repeated_until_accepted(shifted, count=count)
    assert dict(zip(capped, drawn, strict=True)) == normalised(capped)


def unnormalised(left: Side, right: Side) -> dict[int, Fraction]:
    weights = {-k: left.ratio**k for k in range(reached(left), 0, -1)}
    return {**weights, **{k: right.ratio**k for k in range(reached(right) + 1)}}
