"""Sums of clipped amounts: what is claimed of them is what enumeration gives, and the product says the same."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpselect import Neighbours
from tests.drawn_answers import planned
from tests.reference import permute_and_flip as pf
from tests.reference.clipped_sums import (
    LARGEST,
    Contribution,
    Data,
    add_remove_pairs,
    exp_epsilon,
    movements,
    proved_range,
    replace_one_pairs,
    sums,
)
from tests.reference.counting import is_monotone, score_range, sensitivity
from tests.slow import crossed

CLIPS = [(-2, 5), (-5, 2), (-3, 3), (0, 5), (2, 5), (-5, 0), (-5, -1)]
PAIRS = {Neighbours.ADD_REMOVE: add_remove_pairs, Neighbours.REPLACE_ONE: replace_one_pairs}
ROWS: list[Contribution] = [
    (),
    (("x", 9),),
    (("y", -9), ("z", 3)),
    (("x", -9), ("y", 9)),
    (("x", 9), ("y", -9)),
    (("x", 1), ("x", 1), (None, 4), ("y", None)),
]
CANDIDATES = ("x", "y")


@pytest.mark.parametrize("clip", CLIPS)
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_the_product_claims_what_enumeration_gives(clip: tuple[int, int], neighbours: Neighbours) -> None:
    task = planned("best_by", candidates=CANDIDATES, sum="paid", clip=clip, epsilon=1.0, neighbours=neighbours)
    claimed, of_range = task.terms, task.mechanism.scale  # at epsilon 1 the noise has the scale of the range
    for most in (LARGEST, 6, 0):  # also with sums cut off
        changes = movements(PAIRS[neighbours](("ann", "bob"), ROWS), CANDIDATES, clip=clip, most=most)
        assert sensitivity(changes) <= claimed.sensitivity
        assert score_range(changes) <= of_range
        assert is_monotone(changes) or not claimed.monotonic
        if most == LARGEST:
            assert (sensitivity(changes), is_monotone(changes)) == (claimed.sensitivity, claimed.monotonic)
            # One unit that has x with the least, and another with y: then the range is attained, too.
            more = [*ROWS, (("x", clip[0]),), (("x", clip[1]),), (("y", clip[0]),), (("y", clip[1]),)]
            changes = movements(PAIRS[neighbours](("ann",), more), CANDIDATES, clip=clip)
            assert score_range(changes) == of_range
    assert of_range == proved_range(clip, replaced=neighbours is Neighbours.REPLACE_ONE)
    assert claimed.neighbours is neighbours


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("clip", "neighbours"), crossed(CLIPS, list(Neighbours)))
def test_the_loss_is_at_most_epsilon_and_more_at_a_smaller_scale(clip: tuple[int, int], neighbours: Neighbours) -> None:
    more = [*ROWS, (("x", clip[0]),), (("x", clip[1]),), (("y", clip[0]),), (("y", clip[1]),)]

    def law(data: Data, root: Fraction) -> tuple[Fraction, ...]:
        scores = sums(data, CANDIDATES, clip=clip)
        return pf.law_by_heads([root ** (score - max(scores)) for score in scores])

    root, worst = Fraction(3, 2), Fraction(1)
    for first, second in PAIRS[neighbours](("ann", "bob"), more):
        worst = max(worst, *(a / b for a, b in zip(law(first, root), law(second, root), strict=True)))
    promised = exp_epsilon(root, clip, replaced=neighbours is Neighbours.REPLACE_ONE)
    assert worst <= promised
    assert worst > promised / root  # so at a range one less than w it would be exceeded
