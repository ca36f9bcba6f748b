"""How the scores of a mean move, and the product against exact laws."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from dpselect.errors import InvalidDataError, InvalidParameterError
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.laws.test_bad_input import SECRET, assert_says_nothing
from tests.reference.means import absolute_score, exact_mean, mean, squared_range, squared_score, squared_sensitivity
from tests.reference.strategies import few_examples
from tests.slow import crossed

value = st.fractions(0, 1, max_denominator=8)
answers = [Fraction(place, 8) for place in range(9)]


@given(st.lists(value, max_size=6), value, value)
def test_replacing_a_value_moves_the_scores_by_no_more_than_claimed(
    others: list[Fraction], one: Fraction, other: Fraction
) -> None:
    n = len(others) + 1
    for score, most, widest in (
        (absolute_score, Fraction(1, n), Fraction(2, n)),
        (squared_score, squared_sensitivity(n), squared_range(n)),
    ):
        moves = [score([*others, one], y) - score([*others, other], y) for y in answers]
        assert max(map(abs, moves)) <= most
        assert max(moves) - min(moves) <= widest


@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_the_squared_sensitivity_and_range_are_attained(n: int) -> None:
    ones = [Fraction(1)] * (n - 1)
    moves = [squared_score([*ones, Fraction(1)], y) - squared_score([*ones, Fraction(0)], y) for y in answers]
    assert max(map(abs, moves)) == squared_sensitivity(n)
    assert max(moves) - min(moves) == squared_range(n) <= 2 * squared_sensitivity(n)


def test_on_the_line_the_squared_score_moves_without_bound() -> None:
    zeros, far = [Fraction(0)] * 4, Fraction(10**9)
    moves = squared_score([*zeros, Fraction(1)], far) - squared_score([*zeros, Fraction(0)], far)
    assert abs(moves) > 10**8


# --- the product ------------------------------------------------------------------------------------------------------


@few_examples
@given(st.lists(st.floats(-0.5, 1.5), min_size=1, max_size=30), st.sampled_from([Fraction(1, 4), Fraction(1, 1000)]))
def test_the_mean_is_exact_and_knows_no_order(values: list[float], step: Fraction) -> None:
    mechanism = dps.mechanisms.MeanMechanism(epsilon=1e250, bounds=(0, 1), step=step)
    exact = exact_mean([Fraction(each) for each in values], step=step)
    drawn = mechanism.draw(values)  # no noise that a double could hold
    if all(abs(each / float(step) % 1.0 - 0.5) > 1e-9 for each in values):  # halfway either neighbour will do
        assert drawn == pytest.approx(float(exact), rel=1e-15, abs=1e-200)
    assert mechanism.draw(values[::-1]) == pytest.approx(drawn, rel=1e-15, abs=1e-200)


def test_large_sums_do_not_overflow() -> None:
    step = Fraction(1, 2**50)
    mechanism = dps.mechanisms.MeanMechanism(epsilon=1e250, bounds=(0, 1), step=step)
    third = round(Fraction(1, 3) / step) * step
    assert mechanism.draw([float(third)] * 20_000 + [1.0]) == float((20_000 * third + 1) / 20_001)


def exact_masses(values: list[float], cuts: np.ndarray, *, n_epsilon: float) -> np.ndarray:
    """Integrals of the truncated normal law on [0, 1]: b = 2 / n_epsilon."""
    with mp.workdps(40):
        center, root = mp.mpf(1) * mean_of(values), mp.sqrt(mp.mpf(n_epsilon) / 2)
        points = [mp.erf((mp.mpf(float(cut)) - center) * root) for cut in cuts]
        return np.array([float((b - a) / (points[-1] - points[0])) for a, b in pairwise(points)])


def mean_of(values: list[float]) -> mp.mpf:
    exact = mean([Fraction(each) for each in values])
    return mp.mpf(exact.numerator) / exact.denominator


VALUES: dict[str, list[float]] = {"two": [0.25, 0.5], "zeros": [0.0] * 9, "many": [k / 64 for k in range(64)] * 4}
every_sample = pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("name", "epsilon"), crossed([*VALUES], [0.5, 20.0]))
def test_the_squared_score_gives_the_truncated_normal_law(name: str, epsilon: float) -> None:
    values = VALUES[name]
    mechanism = dps.mechanisms.MeanMechanism(epsilon=epsilon, bounds=(0, 1), step=Fraction(1, 64), score="squared")
    spread = min(3.0 / math.sqrt(len(values) * epsilon), 1.0)
    center = sum(values) / len(values)
    inner = np.linspace(max(center - spread, 0.0), min(center + spread, 1.0), 30)
    cuts = np.unique(np.concatenate([[0.0], inner, [1.0]]))
    exact = exact_masses(values, cuts, n_epsilon=len(values) * epsilon)
    np.testing.assert_allclose(np.diff(mechanism.cdf(values, cuts)), exact, atol=1e-12)
    counts = np.histogram([mechanism.draw(values) for _ in range(4000)], bins=cuts)[0]
    assert counts.sum() == 4000
    assert p_value(counts, exact) >= NEVER
    tilted = exact * np.linspace(0.2, 1.8, exact.size)
    assert p_value(counts, tilted / tilted.sum()) < NEVER


@pytest.mark.sampled(1)
@every_sample
def test_the_absolute_score_gives_the_laplace_law_moved_into_the_bounds(values: list[float]) -> None:
    mechanism = dps.mechanisms.MeanMechanism(epsilon=1.0, bounds=(0, 1), step=Fraction(1, 64))
    named = dps.LaplaceMechanism(epsilon=1.0, sensitivity=Fraction(1, len(values)), bounds=(0, 1))
    center = mean([Fraction(each) for each in values])
    at = np.concatenate([[-0.1, 0.0], float(center) + np.linspace(-5, 5, 21) / len(values), [1.0, 1.1]])
    np.testing.assert_allclose(mechanism.cdf(values, at), named.cdf(center, at), atol=1e-12)
    draws = np.array([mechanism.draw(values) for _ in range(4000)])
    cuts = np.unique(np.clip(at, 0.0, 1.0))
    counts = np.histogram(draws, bins=[-1.0, *np.nextafter(cuts, 2.0)])[0]  # a cut belongs below
    chances = np.diff(mechanism.cdf(values, cuts), prepend=0.0)
    assert p_value(counts, chances) >= NEVER
    doubled = dps.LaplaceMechanism(epsilon=0.5, sensitivity=Fraction(1, len(values)), bounds=(0, 1))
    assert p_value(counts, np.diff(doubled.cdf(center, cuts), prepend=0.0)) < NEVER


@few_examples
@given(st.lists(value, max_size=5), value, value, st.sampled_from([0.1, 1.0, 5.0]))
def test_the_loss_is_at_most_epsilon(others: list[Fraction], one: Fraction, other: Fraction, epsilon: float) -> None:
    before, after = ([*map(float, others), float(each)] for each in (one, other))
    assert worst_loss(before, after, epsilon=epsilon, score="squared") <= epsilon + 1e-6
    assert worst_loss(before, after, epsilon=epsilon, score="absolute") <= epsilon + 1e-6


def test_the_law_above_can_fail() -> None:
    """At half the scale, which is what the sensitivity without a factor would give."""
    before, after = [0.0] * 5, [0.0] * 4 + [1.0]
    exact = [exact_masses(values, np.linspace(0, 1, 65), n_epsilon=2 * 5 * 9 / 9) for values in (before, after)]
    assert float(np.abs(np.log(exact[0] / exact[1])).max()) > 1.0


def worst_loss(before: list[float], after: list[float], *, epsilon: float, score: Any) -> float:
    mechanism = dps.mechanisms.MeanMechanism(epsilon=epsilon, bounds=(0, 1), step=Fraction(1, 840), score=score)
    if score == "squared":
        grid = [
            float(exact_mean([Fraction(each) for each in values], step=Fraction(1, 840))) for values in (before, after)
        ]
        masses = [exact_masses([center], np.linspace(0, 1, 33), n_epsilon=len(before) * epsilon) for center in grid]
    else:
        masses = [np.diff(mechanism.cdf(values, np.linspace(0, 0.999, 33)), prepend=0.0) for values in (before, after)]
    possible = (masses[0] > 1e-9) & (masses[1] > 1e-9)  # differences of doubles that small have no digits
    return float(np.abs(np.log(masses[0][possible] / masses[1][possible])).max())


def test_extreme_scales() -> None:
    wide = dps.mechanisms.MeanMechanism(epsilon=1e-6, bounds=(-1e300, 1e300), step=Fraction(10) ** 290, score="squared")
    draws = [wide.draw([1e300] * 3) for _ in range(300)]
    assert 0.3 < np.mean(np.array(draws) < 0) < 0.7
    narrow = dps.mechanisms.MeanMechanism(epsilon=1e6, bounds=(0, 1e-300), step=Fraction(1, 10**303), score="squared")
    assert narrow.draw([1e-301] * 1000) == pytest.approx(1e-301, rel=0.01)
    assert narrow.cdf([1e-301] * 1000, [0.0, 1e-301, 1e-300]) == pytest.approx([0.0, 0.5, 1.0])


@pytest.mark.parametrize("score", ["absolute", "squared"])
@pytest.mark.parametrize("values", [[], [SECRET, math.nan], ["7919"], None, [[SECRET]], [None, SECRET], SECRET])
def test_bad_values(values: Any, score: Any) -> None:
    mechanism = dps.mechanisms.MeanMechanism(epsilon=1.0, bounds=(0, 8), step=1, score=score)
    for call in (mechanism.draw, lambda bad: mechanism.cdf(bad, [1.0])):
        with pytest.raises(InvalidDataError) as caught:
            call(values)
        assert caught.value.name == "values"
        assert_says_nothing(caught.value)


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("epsilon", {"epsilon": math.nan}),
        ("bounds", {"bounds": (2, 1)}),
        ("bounds", {"bounds": (-math.inf, math.inf)}),
        ("bounds", {"bounds": None, "score": "squared"}),
        ("step", {"step": 0.3}),
        ("step", {"step": 0}),
        ("step", {"step": None}),
        ("score", {"score": "cubed"}),
        ("score", {"score": ["squared"]}),
        ("neighbours", {"neighbours": "add_remove"}),
    ],
)
def test_bad_arguments(name: str, bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        dps.mechanisms.MeanMechanism(**{"epsilon": 1.0, "bounds": (0, 1), "step": 0.1, **bad})
    assert caught.value.name == name


def test_the_line_is_refused_with_the_reason() -> None:
    with pytest.raises(InvalidParameterError, match="by any amount"):
        dps.mechanisms.MeanMechanism(epsilon=1.0, bounds=(0, math.inf), step=1, score="squared")


def test_the_scale_is_of_a_count() -> None:
    absolute = dps.mechanisms.MeanMechanism(epsilon=0.5, bounds=(0, 2), step=0.5)
    squared = dps.mechanisms.MeanMechanism(epsilon=0.5, bounds=(0, 2), step=0.5, score="squared")
    assert (absolute.scale_for(4), squared.scale_for(4)) == (1.0, 4.0)
    for wrong in (0, None):
        with pytest.raises(InvalidParameterError, match=f"n={wrong}"):
            absolute.scale_for(wrong)


def test_the_error_bound_holds_as_often_as_it_says() -> None:
    mechanism = dps.mechanisms.MeanMechanism(epsilon=1.0, bounds=(0, 120), step=1)
    bound = mechanism.error_bound(50)
    assert bound == pytest.approx(2.4 * math.log(100))
    missed = sum(abs(mechanism.draw([60.0] * 50) - 60.0) > bound for _ in range(3000))
    assert p_value(np.array([missed, 3000 - missed]), np.array([0.01, 0.99])) > NEVER
    assert dps.mechanisms.MeanMechanism(epsilon=1e-6, bounds=(0, 120), step=1).error_bound(1) == 120.0
    with pytest.raises(InvalidParameterError, match="no bound is stated"):
        dps.mechanisms.MeanMechanism(epsilon=1.0, bounds=(0, 120), step=1, score="squared").error_bound(5)


@pytest.mark.parametrize(("bounds", "is_line"), [((0, math.inf), True), (None, True), ((5, 1), False), ((1,), False)])
def test_only_bounds_without_an_end_are_told_about_the_line(bounds: Any, is_line: bool) -> None:
    with pytest.raises(InvalidParameterError, match="bounds") as refused:
        dps.mechanisms.MeanMechanism(epsilon=1, bounds=bounds, step=1)
    assert ("whole line" in str(refused.value)) is is_line
