"""Parts merged in any way have the law of the whole, up to what a limited number of bits leaves open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations

import pytest

from tests.reference import exponential
from tests.reference.partial_selection import (
    Clock,
    Partial,
    exponential_part,
    first_of,
    first_to_tick,
    merged,
    permute_and_flip_part,
)
from tests.reference.permute_and_flip import law_by_heads
from tests.reference.randomness import Randomness, as_vector, exact_law
from tests.slow import SLOW

Law = dict[int | None, Fraction]
WEIGHTS = (Fraction(1), Fraction(1, 2), Fraction(1, 3))
STEPS = 4 if SLOW else 3
"""How many bits of a time are looked at: each step leaves less undecided, and takes four times as long."""
CUTS: list[list[list[int]]] = [[[0, 1, 2]], [[0, 1], [2]], [[2, 1], [0]], [[2], [1], [0]]]


def law_in_parts(
    weights: Sequence[Fraction],
    parts: Sequence[Sequence[int]],
    *,
    halvings: int = 1,
    steps: int = STEPS,
    merge: Callable[..., Partial | None] = first_of,
) -> Law:
    def program(randomness: Randomness) -> int | None:
        partials = [
            permute_and_flip_part(weights, part, halvings=halvings, steps=steps, randomness=randomness)
            for part in parts
        ]
        first = merge(partials, steps=steps, randomness=randomness)
        return None if first is None else first.candidate

    return exact_law(program)


def fits(law: Law, expected: Sequence[Fraction]) -> bool:
    undecided = law.get(None, Fraction(0))
    assert undecided < Fraction(1, 4)
    decided = as_vector(law, count=len(expected))
    return all(chance <= right <= chance + undecided for chance, right in zip(decided, expected, strict=True))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("parts", CUTS, ids=str)
def test_permute_and_flip_in_any_parts(parts: list[list[int]]) -> None:
    assert fits(law_in_parts(WEIGHTS, parts), law_by_heads(WEIGHTS))


@pytest.mark.parametrize("halvings", [0, 1, 3])
def test_the_stages_do_not_matter(halvings: int) -> None:
    weights = (Fraction(1), Fraction(1, 2))
    law = law_in_parts(weights, [[0], [1]], halvings=halvings)
    assert fits(law, law_by_heads(weights))


@pytest.mark.parametrize("order", list(permutations(range(3)))[:: 1 if SLOW else 5], ids=str)
def test_the_order_of_merging_does_not_matter(order: tuple[int, ...]) -> None:
    weights = (Fraction(1), Fraction(1, 2), Fraction(1, 5))

    def from_the_right(partials: Sequence[Partial | None], *, steps: int, randomness: Randomness) -> Partial | None:
        return first_of(reversed(partials), steps=steps, randomness=randomness)

    law = law_in_parts(weights, [[i] for i in order], halvings=0, merge=from_the_right)
    assert fits(law, law_by_heads(weights))


def test_forgetting_the_tops_gives_another_law() -> None:
    def as_if_equal(partials: Sequence[Partial | None], *, steps: int, randomness: Randomness) -> Partial | None:
        alike = [p and Partial(p.candidate, Fraction(1), p.clock) for p in partials]
        return first_of(alike, steps=steps, randomness=randomness)

    weights = (Fraction(1), Fraction(1, 4))
    assert fits(law_in_parts(weights, [[0], [1]], steps=5), law_by_heads(weights))
    assert not fits(law_in_parts(weights, [[0], [1]], steps=5, merge=as_if_equal), law_by_heads(weights))


def test_drawing_a_time_anew_in_each_merge_gives_another_law() -> None:
    """A winner's time is known to be early: one that forgets what is known of it loses later merges too often."""

    def forgetful(partials: Sequence[Partial | None], *, steps: int, randomness: Randomness) -> Partial | None:
        first, *others = partials
        for other in others:
            first = merged(first, other, steps=steps, randomness=randomness)
            first = first and Partial(first.candidate, first.top, Clock(0, 0, 1, Fraction(1)))
        return first

    equal = (Fraction(1),) * 3
    assert fits(law_in_parts(equal, [[0], [1], [2]], halvings=0), law_by_heads(equal))
    assert not fits(law_in_parts(equal, [[0], [1], [2]], halvings=0, merge=forgetful), law_by_heads(equal))


def law_of_exponential_parts(
    weights: Sequence[Fraction], parts: Sequence[Sequence[int]], bounds: Sequence[Fraction], *, ticks_count: bool = True
) -> Law:
    def program(randomness: Randomness) -> int | None:
        drawn = [exponential_part(weights, part, bounds, rounds=3, randomness=randomness) for part in parts]
        known = [each for each in drawn if each is not None]
        if len(known) < len(drawn):
            return None
        clocks = [(ticks if ticks_count else 1, rate) for _, ticks, rate in known]
        return known[first_to_tick(clocks, randomness=randomness)][0]

    return exact_law(program)


@pytest.mark.parametrize("parts", CUTS, ids=str)
def test_the_exponential_mechanism_in_any_parts(parts: list[list[int]]) -> None:
    loose = (Fraction(1), Fraction(3, 4), Fraction(2, 5))
    assert fits(law_of_exponential_parts(WEIGHTS, parts, loose), exponential.law(WEIGHTS))
    exact = law_of_exponential_parts(WEIGHTS, parts, WEIGHTS)
    assert as_vector(exact, count=3) == exponential.law(WEIGHTS)


def test_a_time_that_forgets_refused_proposals_gives_another_law() -> None:
    weights, bounds = (Fraction(1), Fraction(1)), (Fraction(1), Fraction(2))
    parts = [[0], [1]]
    assert fits(law_of_exponential_parts(weights, parts, bounds), exponential.law(weights))
    assert not fits(
        law_of_exponential_parts(weights, parts, bounds, ticks_count=False) | {None: Fraction(1, 8)},
        exponential.law(weights),
    )


def test_the_time_of_a_part_is_exponential_whatever_the_bounds() -> None:
    """Against a clock of rate 2 that ticks once: 3/2 to 2, whoever wins, if the weights of the part sum to 3/2."""
    weights, bounds = (Fraction(1), Fraction(1, 2)), (Fraction(1), Fraction(2, 3))

    def program(randomness: Randomness) -> int | None:
        drawn = exponential_part(weights, [0, 1], bounds, rounds=4, randomness=randomness)
        if drawn is None:
            return None
        candidate, ticks, rate = drawn
        is_first = first_to_tick([(ticks, rate), (1, Fraction(2))], randomness=randomness) == 0
        return candidate if is_first else 2 + candidate

    share = Fraction(3, 7)
    joint = [share * 2 / 3, share / 3, (1 - share) * 2 / 3, (1 - share) / 3]
    assert fits(exact_law(program), joint)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("known", "chance"), [(1, Fraction(1)), (2, Fraction(5, 6)), (3, Fraction(1, 6))])
def test_a_time_of_several_parts_lies_where_their_sum_does(known: int, chance: Fraction) -> None:
    """``known + U + V`` against ``3 + W``: ``U + V < W`` in a sixth of the cube."""

    def program(randomness: Randomness) -> int | None:
        two_parts = Partial(0, Fraction(1), Clock(known, 0, 2, Fraction(1)))
        one_part = Partial(1, Fraction(1), Clock(3, 1, 1, Fraction(1, 2)))
        first = merged(two_parts, one_part, steps=4, randomness=randomness)
        return None if first is None else first.candidate

    assert fits(exact_law(program), [chance, 1 - chance])
