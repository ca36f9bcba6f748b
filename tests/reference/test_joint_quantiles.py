"""The joint law of several quantiles: sensitivity, loss, the spreading of ties, and the product against it."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference.joint_quantiles import answer_law, gaps, movements, path_law, score, score_range, spread_law
from tests.reference.precision import exponential
from tests.reference.strategies import few_examples
from tests.slow import crossed

LEVELS = [
    [Fraction(1, 2)],
    [Fraction(1, 4), Fraction(3, 4)],
    [Fraction(0), Fraction(1, 3), Fraction(1)],
    [Fraction(1, 10), Fraction(1, 5), Fraction(1, 2)],
]
levels_of = st.sampled_from(LEVELS)
positions = st.integers(-1, 9).map(Fraction)
data_sets = st.lists(positions, max_size=5)
BOUNDS = (Fraction(0), Fraction(8))


def sensitivity(levels: list[Fraction]) -> Fraction:
    return 1 - min(gaps(levels))


def ranks(values: list[Fraction], answers: list[Fraction]) -> list[int]:
    return [sum(value < answer for value in values) for answer in answers]


@few_examples
@given(data_sets, positions, positions, levels_of, st.lists(st.integers(0, 16), min_size=3, max_size=3))
def test_no_score_moves_by_more_than_the_sensitivity(
    values: list[Fraction], new: Fraction, old: Fraction, levels: list[Fraction], places: list[int]
) -> None:
    answers = [Fraction(place, 2) for place in sorted(places)[: len(levels)]]
    longer, replaced = [*values, new], [*values, old]
    heights = [score(ranks(data, answers), len(data), levels=levels) for data in (values, longer, replaced)]
    assert abs(heights[1] - heights[0]) <= sensitivity(levels)
    assert abs(heights[1] - heights[2]) <= 1


@pytest.mark.parametrize("levels", LEVELS)
def test_the_sensitivity_is_attained_in_both_directions(levels: list[Fraction]) -> None:
    shares = gaps(levels)
    least = shares.index(min(shares))
    exact = [int(level * 300) for level in levels]  # a perfect split of 300 values, then one more in the least group
    more = [rank + (j >= least) for j, rank in enumerate(exact)]
    moved = score(more, 301, levels=levels) - score(exact, 300, levels=levels)
    assert moved == -sensitivity(levels)
    if shares[least] > 0:  # too few there, too many everywhere else: one more helps as much
        sizes = [int(share * 300) + (1 if j != least else -len(levels)) for j, share in enumerate(shares)]
        crowd = [sum(sizes[: j + 1]) for j in range(len(levels))]
        helped = [rank + (j >= least) for j, rank in enumerate(crowd)]
        assert score(helped, 301, levels=levels) - score(crowd, 300, levels=levels) == sensitivity(levels)


def worst_ratio(before: list[Fraction], after: list[Fraction], *, levels: list[Fraction], decay: Fraction) -> Fraction:
    pieces = sorted({*BOUNDS, *(min(max(value, BOUNDS[0]), BOUNDS[1]) for value in [*before, *after])})
    laws = [answer_law(data, levels=levels, pieces=pieces, decay=decay) for data in (before, after)]
    return max(max(laws[0][at] / laws[1][at], laws[1][at] / laws[0][at]) for at in laws[0])


def allowed(levels: list[Fraction], decay: Fraction, *, apart: Fraction) -> Fraction:
    """exp(epsilon) where scores that move `apart` cost epsilon."""
    return decay ** -int(apart * 2 * math.lcm(*(level.denominator for level in levels)))


@few_examples
@given(data_sets, positions, positions, levels_of)
def test_the_loss_is_at_most_epsilon(
    values: list[Fraction], new: Fraction, old: Fraction, levels: list[Fraction]
) -> None:
    decay = Fraction(4, 5)
    added = worst_ratio(values, [*values, new], levels=levels, decay=decay)
    assert added <= allowed(levels, decay, apart=score_range(levels))
    replaced = worst_ratio([*values, old], [*values, new], levels=levels, decay=decay)
    assert replaced <= allowed(levels, decay, apart=Fraction(2))


def test_a_smaller_sensitivity_would_fail() -> None:
    """At the scale of monotone scores, with half the noise, the loss is above epsilon."""
    levels, decay = LEVELS[1], Fraction(1, 2)
    crowd = [Fraction(hundredths, 100) for hundredths in (1, 2, 399, 400, 401, 402, 798, 799)]
    worst = worst_ratio(crowd, [*crowd, Fraction(8)], levels=levels, decay=decay)
    assert worst > allowed(levels, decay, apart=sensitivity(levels))
    assert worst <= allowed(levels, decay, apart=score_range(levels))


QUARTERS = [Fraction(part, 4) for part in range(5)]
SUBSETS = [list(chosen) for size in (1, 2, 3) for chosen in combinations(QUARTERS, size)]


def case_of(levels: list[Fraction], most: int) -> Any:
    """By day units of one value for three levels, which take longest, and for fewer of one or two in turn."""
    by_day = 1 if len(levels) == 3 else 1 + SUBSETS.index(levels) % 2
    marks = [] if most == by_day else [pytest.mark.slow]
    return pytest.param(levels, most, marks=marks, id=f"{','.join(map(str, levels))}-{most}")


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("levels", "most"), [case_of(levels, most) for levels in SUBSETS for most in (1, 2)])
def test_scores_move_apart_by_the_range_and_no_further(levels: list[Fraction], most: int) -> None:
    """Every data set of up to four values, every unit of up to `most`, every vector of answers, and the mechanism."""
    fall, rise = 1 - min(gaps(levels)), 1 - min(share for share in gaps(levels) if share > 0)
    apart, lowest, highest = Fraction(0), Fraction(0), Fraction(0)
    for moved in movements(3, 4, levels=levels, most=most):
        apart = max(apart, max(moved) - min(moved))
        lowest, highest = min(lowest, *moved), max(highest, *moved)
    assert -lowest <= most * fall
    assert highest <= most * rise
    assert apart <= score_range(levels, most=most) == most * (fall + rise)
    is_extreme = set(levels) <= {0, 1}
    assert (lowest == 0 or highest == 0) == is_extreme
    for method in ("joint", "halving"):
        arguments = {"levels": tuple(map(float, levels)), "bounds": (0, 1), "values_per_unit": most, "method": method}
        mechanism = dps.mechanisms.QuantilesMechanism(epsilon=1.0, **arguments)
        assert mechanism.monotonic is is_extreme
        replaced = dps.mechanisms.QuantilesMechanism(epsilon=1.0, neighbours="replace_one", **arguments)
        assert (replaced.monotonic, replaced.score_range) == (False, 2 * most)
        if method == "joint":
            assert mechanism.score_range == score_range(levels, most=most)
            assert mechanism.sensitivity == most * fall


@pytest.mark.parametrize("levels", [[0, 4], [0, 2], [0, 2, 4], [0], [4], [2], [0, 1]], ids=str)
def test_the_range_is_attained(levels: list[int]) -> None:
    """With enough values: all of them in one group, and none in the group with the smallest share above 0."""
    chosen = [QUARTERS[level] for level in levels]
    shares = gaps(chosen)
    falls, rises = shares.index(min(shares)), shares.index(min(share for share in shares if share > 0))
    count = 400
    moved = []
    for group, is_full in ((falls, True), (rises, False)):
        others = [0 if j == group or share == 0 else int(share * count) + 1 for j, share in enumerate(shares)]
        sizes = [count * (j == group) for j in range(len(shares))] if is_full else others
        sizes[group] += count - sum(sizes) if group != rises or sum(sizes) < count else 0
        ranks_before = [sum(sizes[: j + 1]) for j in range(len(chosen))]
        total = sum(sizes)
        ranks_after = [rank + (j >= group) for j, rank in enumerate(ranks_before)]
        moved.append(score(ranks_after, total + 1, levels=chosen) - score(ranks_before, total, levels=chosen))
    assert moved[0] == -(1 - min(shares))
    assert moved[1] == 1 - shares[rises]
    assert moved[1] - moved[0] == score_range(chosen)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("levels", [[0], [4], [0, 4], [0, 2], [0, 2, 4], [2]], ids=str)
def test_the_loss_over_a_tiny_universe_is_that_of_the_range(levels: list[int]) -> None:
    """Every data set of up to three values on three points, and every value more: the exact worst loss."""
    chosen, decay, worst = [QUARTERS[level] for level in levels], Fraction(1, 50), Fraction(1)
    pieces = [Fraction(end) for end in range(4)]
    for size in range(4):
        for values in combinations_with_replacement([Fraction(point) for point in range(4)], size):
            before = answer_law(values, levels=chosen, pieces=pieces, decay=decay)
            for new in range(4):
                after = answer_law([*values, Fraction(new)], levels=chosen, pieces=pieces, decay=decay)
                worst = max(worst, *(max(after[at] / before[at], before[at] / after[at]) for at in before))
    assert worst <= allowed(chosen, decay, apart=score_range(chosen))
    # Nearly all of it is used, up to the volumes of the answers; at levels between 0 and 1 no less would do.
    assert worst * 500 > allowed(chosen, decay, apart=score_range(chosen))


def test_half_the_noise_at_the_median_or_between_extremes_would_fail() -> None:
    """What is right for 0 and 1 is not for a level between them, nor are three quarters for the median alone."""
    decay = Fraction(1, 50)
    crowd = [Fraction(hundredths, 100) for hundredths in (1, 2, 3, 797, 798, 799)]
    median = worst_ratio(crowd, [*crowd, Fraction(8)], levels=[Fraction(1, 2)], decay=decay)
    assert median > allowed([Fraction(1, 2)], decay, apart=Fraction(3, 4) * score_range([Fraction(1, 2)]))
    assert median > allowed([Fraction(1, 2)], decay, apart=sensitivity([Fraction(1, 2)]))
    assert median <= allowed([Fraction(1, 2)], decay, apart=score_range([Fraction(1, 2)]))
    # Nearly all lowest answers lie above a value near the bound, which they lose by; a few others gain.
    mixed = [Fraction(0), Fraction(1, 2), Fraction(1)]
    crowd = [Fraction(hundredths, 100) for hundredths in (400, 401, 402, 600, 601, 602)]
    worst = worst_ratio(crowd, [*crowd, Fraction(1, 100)], levels=mixed, decay=decay)
    assert allowed(mixed, decay, apart=Fraction(1)) < worst <= allowed(mixed, decay, apart=Fraction(3, 2))


def test_spreading_costs_nothing_and_keeps_ties_together() -> None:
    levels, decay = LEVELS[1], Fraction(1, 3)
    for values, new in (([1, 1], 1), ([0, 2], 1), ([1, 1, 1], 0), ([], 2)):
        laws = [spread_law(data, 3, parts=2, levels=levels, decay=decay) for data in (values, [*values, new])]
        worst = max(max(laws[0][at] / laws[1][at], laws[1][at] / laws[0][at]) for at in laws[0])
        assert worst <= allowed(levels, decay, apart=score_range(levels))
        assert sum(laws[0].values()) == 1
    tied = spread_law([1] * 3, 3, parts=3, levels=levels, decay=Fraction(1, 100))
    on_the_line = path_law([Fraction(end) for end in (0, 1, 1, 1, 3)], levels=levels, decay=Fraction(1, 100))
    assert tied[1, 1] > Fraction(1, 4)
    assert on_the_line[1, 2] == 0


# --- the product ------------------------------------------------------------------------------------------------------

CASES = {
    "none": [],
    "one": [3.0],
    "two": [3.0, 5.5],
    "equal": [4.0] * 4,
    "outside": [-9.0, 2.0, 12.0],
    "on the bounds": [0.0, 8.0, 8.0, 5.0],
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("name", "levels"), crossed([*CASES], [[0.5], [0.25, 0.75], [0.0, 0.5, 1.0], [0.0, 1.0]]), ids=str
)
def test_draws_have_the_law(name: str, levels: list[float]) -> None:
    values = CASES[name]
    mechanism = dps.mechanisms.QuantilesMechanism(epsilon=3.0, levels=tuple(levels), bounds=(0, 8), method="joint")
    exact_levels = [Fraction(level) for level in levels]
    steps = 2 * math.lcm(*(level.denominator for level in exact_levels))
    decay = exponential(-Fraction(3) / (score_range(exact_levels) * steps))
    clipped = sorted(min(max(value, 0.0), 8.0) for value in values)
    law = path_law([Fraction(0), *map(Fraction, clipped), Fraction(8)], levels=exact_levels, decay=decay)
    paths = list(law)
    # The lower half of a gap is as likely as the upper one for a single answer: look at both.
    counts = np.zeros(2 * len(paths))
    ends = [0.0, *clipped, 8.0]
    for _ in range(4000):
        answers = mechanism.draw(values)
        assert list(answers) == sorted(answers)
        gap = tuple(sum(value < answer for value in clipped) for answer in answers)
        upper = answers[0] > (ends[gap[0]] + ends[gap[0] + 1]) / 2
        counts[2 * paths.index(gap) + upper] += 1
    chances = np.repeat([float(law[path]) for path in paths], 2)
    runs = np.repeat([path.count(path[0]) for path in paths], 2)  # the least of k uniform points is low
    chances *= np.where(np.arange(chances.size) % 2, 0.5**runs, 1 - 0.5**runs)
    assert p_value(counts, chances) >= NEVER
    distorted = chances * np.where(np.argsort(np.argsort(-chances)) % 2, 0.5, 1.5)
    assert p_value(counts, distorted / distorted.sum()) < NEVER


def test_one_value_on_a_grid_is_spread_over_its_point() -> None:
    mechanism = dps.mechanisms.QuantilesMechanism(epsilon=4.0, levels=(0.5,), bounds=(0, 2), step=1, method="joint")
    # Uniform over [0, 3], whatever the value: with one value both sides of it are half a rank off.
    counts = np.bincount([int(mechanism.draw([1.2])[0]) for _ in range(6000)], minlength=3)
    assert p_value(counts, np.full(3, 1 / 3)) >= NEVER
    # At level 0 the answer is below the value, at v = 1 + u: weights 1, u, (1 - u) e^-x and e^-x, over u.
    mechanism = dps.mechanisms.QuantilesMechanism(epsilon=4.0, levels=(0.0,), bounds=(0, 2), step=1, method="joint")
    counts = np.bincount([int(mechanism.draw([1.0])[0]) for _ in range(6000)], minlength=3)
    u = (np.arange(4000) + 0.5) / 4000
    far = math.exp(-4.0)  # a level of 0 takes half the noise
    total = 1 + u + (2 - u) * far
    law = np.array([np.mean(1 / total), np.mean((u + (1 - u) * far) / total), np.mean(far / total)])
    assert p_value(counts, law) >= NEVER
    assert p_value(counts, law[::-1]) < NEVER
