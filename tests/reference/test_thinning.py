"""Two routes to permute-and-flip: the law is the same whatever the groups, the bounds and the moment of the switch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.permute_and_flip import law_by_heads
from tests.reference.randomness import Randomness, as_vector, exact_law
from tests.reference.strategies import few_examples, flip_probabilities, partitions
from tests.reference.thinning import heads_by_thinning, keep_one_uniformly, permute_and_flip_by_two_routes

P = (Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(1, 4))
GROUPS = [[0], [1, 3], [2]]
BOUNDS = [Fraction(1), Fraction(2, 3), Fraction(1, 3)]


def valid_bounds(data: st.DataObject, p: Sequence[Fraction], groups: Sequence[Sequence[int]]) -> list[Fraction]:
    """For each group something between its largest flip probability and 1."""
    places = [data.draw(st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1)])) for _ in groups]
    largest = [max(p[i] for i in group) for group in groups]
    return [most + place * (1 - most) for most, place in zip(largest, places, strict=True)]


@few_examples
@given(st.data())
def test_any_groups_bounds_and_number_of_dense_visits(data: st.DataObject) -> None:
    p = data.draw(flip_probabilities(max_size=4))
    groups = data.draw(partitions(count=len(p)))
    bounds = valid_bounds(data, p, groups)
    visits = data.draw(st.integers(0, len(p)))
    law = exact_law(
        lambda randomness: permute_and_flip_by_two_routes(
            p, groups=groups, bounds=bounds, switch=lambda visited: len(visited) >= visits, randomness=randomness
        )
    )
    assert as_vector(law, count=len(p)) == law_by_heads(p)


@pytest.mark.parametrize("trigger", range(4))
def test_the_switch_may_depend_on_whom_the_visits_met(trigger: int) -> None:
    law = exact_law(
        lambda randomness: permute_and_flip_by_two_routes(
            P, groups=GROUPS, bounds=BOUNDS, switch=lambda visited: trigger in visited, randomness=randomness
        )
    )
    assert as_vector(law, count=4) == law_by_heads(P)


@few_examples
@given(st.data())
def test_thinning_lists_independent_heads(data: st.DataObject) -> None:
    p = data.draw(flip_probabilities(max_size=4))
    groups = data.draw(partitions(count=len(p)))
    tails = data.draw(st.sets(st.integers(0, len(p) - 1)))
    bounds = valid_bounds(data, p, groups)

    def thinned(randomness: Randomness) -> frozenset[int]:
        return frozenset(heads_by_thinning(p, groups=groups, bounds=bounds, tails=tails, randomness=randomness))

    def flipped(randomness: Randomness) -> frozenset[int]:
        return frozenset(i for i, p_i in enumerate(p) if i not in tails and randomness.coin(p_i))

    assert exact_law(thinned) == exact_law(flipped)


@pytest.mark.parametrize("count", range(1, 6))
def test_a_reservoir_of_one_is_uniform(count: int) -> None:
    law = exact_law(lambda randomness: keep_one_uniformly(iter(range(count)), randomness=randomness))
    assert as_vector(law, count=count) == (Fraction(1, count),) * count


def two_routes_without(fault: str, randomness: Randomness) -> int | None:
    """The program with one thing wrong, after one dense visit."""
    unvisited, visited = list(range(4)), list[int]()
    candidate = unvisited.pop(0 if fault == "biased first visit" else randomness.uniform(len(unvisited)))
    if randomness.coin(P[candidate]):
        return candidate
    visited.append(candidate)
    tails = [] if fault == "tails forgotten" else visited
    bounds = [bound / 2 if fault == "bounds too small" else bound for bound in BOUNDS]
    heads = heads_by_thinning(P, groups=GROUPS, bounds=bounds, tails=tails, randomness=randomness)
    if fault == "first heads kept":
        return next(heads)
    if fault == "uniform over groups":
        return uniform_over_groups(heads, randomness)
    return keep_one_uniformly(heads, randomness=randomness)


def uniform_over_groups(heads: Iterator[int], randomness: Randomness) -> int:
    listed = list(heads)
    by_group = [members for group in GROUPS if (members := [i for i in group if i in listed])]
    group = by_group[randomness.uniform(len(by_group))]
    return group[randomness.uniform(len(group))]


@pytest.mark.parametrize(
    "fault", ["biased first visit", "tails forgotten", "bounds too small", "first heads kept", "uniform over groups"]
)
def test_each_fault_gives_another_law(fault: str) -> None:
    assert as_vector(exact_law(lambda randomness: two_routes_without("", randomness)), count=4) == law_by_heads(P)
    assert as_vector(exact_law(lambda randomness: two_routes_without(fault, randomness)), count=4) != law_by_heads(P)
