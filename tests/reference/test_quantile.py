"""The quantile's law, its sensitivities, its regions, and the product against it."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference.pieces import law, law_of_rounds, tightest_bounds
from tests.reference.precision import exponential
from tests.reference.quantile import grid_law, interval_law, largest_ratio, law_between, pieces, score
from tests.reference.strategies import few_examples
from tests.reference.unit_values import rank_range
from tests.slow import crossed

LOWER, UPPER = Fraction(0), Fraction(8)
levels = st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10), Fraction(1)])
positions = st.integers(-2, 20).map(lambda halves: Fraction(halves, 2))
data_sets = st.lists(positions, max_size=7)
points = [Fraction(halves, 4) for halves in range(33)]


def sensitivity(level: Fraction) -> Fraction:
    return max(level, 1 - level)


@few_examples
@given(data_sets, positions, levels)
def test_adding_a_value_moves_no_score_by_more_than_the_sensitivity(
    values: list[Fraction], added: Fraction, level: Fraction
) -> None:
    moved = [score([*values, added], p, level=level) - score(values, p, level=level) for p in points]
    assert max(map(abs, moved)) <= sensitivity(level)


@few_examples
@given(data_sets, positions, positions, levels)
def test_replacing_a_value_moves_no_score_by_more_than_one(
    values: list[Fraction], old: Fraction, new: Fraction, level: Fraction
) -> None:
    moved = [score([*values, old], p, level=level) - score([*values, new], p, level=level) for p in points]
    assert max(map(abs, moved)) <= 1


@few_examples
@given(data_sets, positions, st.sampled_from([Fraction(0), Fraction(1)]))
def test_at_the_extremes_a_value_more_raises_no_score(values: list[Fraction], added: Fraction, level: Fraction) -> None:
    moved = [score([*values, added], p, level=level) - score(values, p, level=level) for p in points]
    assert set(moved) <= {-1, 0}


@pytest.mark.parametrize("level", [Fraction(0), Fraction(1)])
def test_at_the_extremes_half_the_noise_is_enough_and_used(level: Fraction) -> None:
    """Over all data sets of up to four values on four points: the loss comes near epsilon."""
    decay, worst, grid = Fraction(1, 1000), Fraction(1), [Fraction(point) for point in range(4)]
    for size in range(5):
        for values in combinations_with_replacement(grid, size):
            before = grid_law(values, level=level, points=grid, decay=decay)
            for new in grid:
                after = grid_law([*values, new], level=level, points=grid, decay=decay)
                worst = max(worst, largest_ratio(before, after))
    assert Fraction(1, 4) / decay < worst <= 1 / decay


@pytest.mark.parametrize("level", [Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)])
def test_both_sensitivities_are_attained_in_both_directions_at_once(level: Fraction) -> None:
    values = [Fraction(each, 3) for each in range(1, 21)]
    moved = [score([*values, UPPER], p, level=level) - score(values, p, level=level) for p in points[1:-1]]
    assert (min(moved), max(moved)) == (-level, level)
    moved = [score([*values, LOWER], p, level=level) - score(values, p, level=level) for p in points[1:-1]]
    assert (min(moved), max(moved)) == (-(1 - level), 1 - level)
    replaced = [score([*values, UPPER], p, level=level) - score([*values, LOWER], p, level=level) for p in points[1:-1]]
    assert (min(replaced), max(replaced)) == (-1, 1)


@few_examples
@given(data_sets, positions, levels)
def test_the_loss_is_at_most_epsilon(values: list[Fraction], added: Fraction, level: Fraction) -> None:
    """exp(epsilon) is decay ** -(range * denominator): two sensitivities, or one at the extremes, in steps."""
    decay = Fraction(3, 4)
    allowed = decay ** -int(rank_range(level, most=1) * level.denominator)
    assert largest_ratio(*densities(values, [*values, added], level=level, decay=decay)) <= allowed
    before = grid_law(values, level=level, points=points, decay=decay)
    after = grid_law([*values, added], level=level, points=points, decay=decay)
    assert largest_ratio(before, after) <= allowed


def densities(
    values: list[Fraction], neighbour: list[Fraction], *, level: Fraction, decay: Fraction
) -> tuple[list[Fraction], list[Fraction]]:
    """Both densities on every piece of the union of all breakpoints."""
    common = pieces([*values, *neighbour], bounds=(LOWER, UPPER))
    both = []
    for data in (values, neighbour):
        own = interval_law(data, level=level, bounds=(LOWER, UPPER), decay=decay)
        at = [next(p for p in own if p[0] <= start and end <= p[1]) for start, end in common]
        both.append([own[p] / (p[1] - p[0]) for p in at])
    return both[0], both[1]


def test_half_the_noise_is_not_enough() -> None:
    """With b = sensitivity / epsilon, as for monotone scores, the loss comes near 2 epsilon."""
    level, decay = Fraction(1, 2), Fraction(1, 2)  # a step is half a rank, the sensitivity: exp(epsilon) = 2
    crowds = [Fraction(1, 100)] * 6 + [Fraction(799, 100)] * 6
    before, after = densities(crowds, [*crowds, UPPER], level=level, decay=decay)
    assert Fraction(399, 100) < largest_ratio(before, after) <= 4


inner_places = st.lists(positions.filter(lambda place: LOWER < place < UPPER), max_size=4)


@few_examples
@given(data_sets, levels, inner_places)
def test_any_known_ranks_give_the_law(values: list[Fraction], level: Fraction, known: list[Fraction]) -> None:
    clipped = sorted(min(max(value, LOWER), UPPER) for value in values)
    arguments = {"level": level, "bounds": (LOWER, UPPER), "decay": Fraction(2, 3)}
    assert law_between(clipped, known=known, **arguments) == interval_law(clipped, **arguments)


@few_examples
@given(
    st.lists(st.tuples(st.fractions(0, 5, max_denominator=9), st.fractions(Fraction(1, 9), 1)), min_size=1, max_size=5)
)
def test_pieces_by_integer_bounds(parts: list[tuple[Fraction, Fraction]]) -> None:
    lengths, weights = [part[0] for part in parts], [part[1] for part in parts]
    if not any(lengths):
        return
    unit = Fraction(1, 7)
    bounds = tightest_bounds(lengths, weights, unit=unit)
    assert law_of_rounds(lengths, weights, bounds=bounds, unit=unit) == law(lengths, weights)
    looser = [bound + (bound > 0) * 3 for bound in bounds]
    assert law_of_rounds(lengths, weights, bounds=looser, unit=unit) == law(lengths, weights)


def test_a_bound_that_is_too_small_gives_another_law() -> None:
    lengths, weights, unit = [Fraction(2), Fraction(1)], [Fraction(1), Fraction(1)], Fraction(1)
    assert law_of_rounds(lengths, weights, bounds=[1, 1], unit=unit) != law(lengths, weights)


# --- the product ------------------------------------------------------------------------------------------------------

CASES = {
    "none": [],
    "one": [3.0],
    "two": [3.0, 5.5],
    "equal": [4.0] * 9,
    "outside": [-9.0, -1.0, 2.0, 12.0, 99.0],
    "between points": [0.25, 2.3, 2.74, 2.75, 2.75, 5.1, 7.75],
    "ties": [1.0, 2.0, 2.0, 2.0, 3.5, 6.0, 6.0, 8.0, 7.5],
}
every_case = pytest.mark.parametrize("values", CASES.values(), ids=CASES)
LEVELS = [0.0, 0.25, 0.5, 0.75, 1.0]
every_level = pytest.mark.parametrize("level", LEVELS)


def exact_decay(mechanism: dps.mechanisms.QuantileMechanism, level: Fraction) -> Fraction:
    scale = rank_range(level, most=1) / Fraction(mechanism.epsilon)
    return exponential(-1 / (scale * level.denominator))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "level"), crossed([*CASES], LEVELS))
def test_draws_from_the_interval(name: str, level: float) -> None:
    values = CASES[name]
    mechanism = dps.mechanisms.QuantileMechanism(epsilon=2.0, level=level, bounds=(0, 8))
    exact = interval_law(
        [Fraction(value) for value in values],
        level=Fraction(level),
        bounds=(LOWER, UPPER),
        decay=exact_decay(mechanism, Fraction(level)),
    )
    ends = [float(end) for piece in exact for end in (piece[0], sum(piece) / 2)]  # and each piece in two halves
    counts = np.histogram([mechanism.draw(values) for _ in range(6000)], bins=[*ends, 8.0])[0]
    chances = np.repeat([float(mass) / 2 for mass in exact.values()], 2)
    assert p_value(counts, chances) >= NEVER
    np.testing.assert_allclose(np.diff(mechanism.cdf(values, [*ends, 8.0])), chances, atol=1e-12)
    shifted = chances * np.tile([1.5, 0.5], len(exact))
    assert p_value(counts, shifted / shifted.sum()) < NEVER


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "level"), crossed([*CASES], LEVELS))
def test_draws_from_the_grid(name: str, level: float) -> None:
    values = CASES[name]
    mechanism = dps.mechanisms.QuantileMechanism(epsilon=2.0, level=level, bounds=(0, 8), step=0.5)
    exact = grid_law(
        [Fraction(value) for value in values],
        level=Fraction(level),
        points=[Fraction(j, 2) for j in range(17)],
        decay=exact_decay(mechanism, Fraction(level)),
    )
    chances = np.array([float(chance) for chance in exact])
    counts = np.bincount([int(2 * mechanism.draw(values)) for _ in range(6000)], minlength=17)
    assert p_value(counts, chances) >= NEVER
    np.testing.assert_allclose(mechanism.pmf(values), chances, atol=1e-12)
    uneven = chances * np.where(np.argsort(np.argsort(-chances)) % 2, 0.6, 1.4)
    assert p_value(counts, 0.9 * uneven / uneven.sum() + 0.1 / 17) < NEVER
