"""Scores that are constant on pieces of an interval: draws and their law against exact integrals."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from tests.laws.goodness_of_fit import NEVER, p_value

CASES = {
    "plain": ([0.0, 1.0, 1.5, 4.0], [0.0, 1.0, -2.0]),
    "pieces without length": ([-3.0, -3.0, 5.0, 5.0, 6.0, 6.0], [9.0, 1.0, 7.0, 2.0, 99.0]),
    "all scales at once": ([0.0, 5e-324, 1e-300, 1e300], [2878.0, 2763.0, 4.0]),
    "wider than a double": ([-1.7e308, 0.0, 1.7e308], [1.0, 0.0]),
    "far from zero": ([1e11, 1e11 + 1, 1e11 + 3], [0.0, -1.0]),
}
every_case = pytest.mark.parametrize(("breakpoints", "scores"), CASES.values(), ids=CASES)


def steps(breakpoints: Any, scores: Any) -> tuple[np.ndarray, np.ndarray]:
    """The same as lines: level, with jumps at breakpoints."""
    return np.repeat(breakpoints, 2)[1:-1], np.repeat(scores, 2)


def exact_probabilities(breakpoints: list[float], scores: list[float], *, scale: float) -> np.ndarray:
    """Integrals of the density over the pieces, in logarithms."""
    lengths = [Fraction(end) - Fraction(start) for start, end in pairwise(breakpoints)]
    logs = [
        math.log(length.numerator) - math.log(length.denominator) + score / scale if length else -math.inf
        for length, score in zip(lengths, scores, strict=True)
    ]
    weights = np.exp(np.array(logs) - max(logs))
    return weights / weights.sum()


@pytest.mark.sampled(1)
@every_case
def test_draws_have_the_density(breakpoints: list[float], scores: list[float]) -> None:
    mechanism = dps.mechanisms.PiecewiseLinearMechanism(epsilon=1.0, sensitivity=1.0)
    exact = exact_probabilities(breakpoints, scores, scale=2.0)
    law = mechanism.law(*steps(breakpoints, scores))
    np.testing.assert_allclose(law.masses()[::2], exact, rtol=1e-9)
    draws = mechanism.draw_many(*steps(breakpoints, scores), 8000)
    ends = np.unique(breakpoints)
    with_length = np.diff(breakpoints) > 0
    middles = ends[:-1] / 2 + ends[1:] / 2  # each piece in two halves
    bins = np.sort(np.concatenate([ends, middles])) if np.unique(middles).size == middles.size else ends
    halves = (bins.size - 1) // (ends.size - 1)
    chances = np.repeat(exact[with_length] / halves, halves)
    if (breakpoints[0], breakpoints[1]) == (0.0, 5e-324):
        # A denormal has no half, and half of the first piece rounds onto its end: the two short pieces are one bin.
        bins, chances = np.array([0.0, 1e-300, 1e300]), np.array([exact[0] + exact[1], exact[2]])
    counts = np.histogram(draws, bins=bins)[0]
    assert counts.sum() == draws.size
    assert p_value(counts, chances) >= NEVER
    wrong = chances * np.where(np.arange(chances.size) % 2, 0.7, 1.3)
    assert p_value(counts, wrong / wrong.sum()) < NEVER


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=9).map(sorted).filter(lambda x: x[-1] - x[0] > 1e-3), st.data())
def test_the_distribution_agrees_with_the_probabilities(breakpoints: list[float], data: st.DataObject) -> None:
    pieces = len(breakpoints) - 1
    scores = data.draw(st.lists(st.floats(-4, 4), min_size=pieces, max_size=pieces))
    mechanism = dps.mechanisms.PiecewiseLinearMechanism(epsilon=1.0, sensitivity=1.0)
    law = mechanism.law(*steps(breakpoints, scores))
    chances = law.masses()[::2]
    assert chances.sum() == pytest.approx(1.0, abs=1e-12)
    at_ends = law.cdf(breakpoints)
    assert at_ends[0] == 0.0
    assert at_ends[-1] == pytest.approx(1.0, abs=1e-12)
    assert law.cdf([-9.0, 9.0]) == pytest.approx([0.0, 1.0], abs=1e-12)
    wide = [piece for piece in range(pieces) if breakpoints[piece + 1] - breakpoints[piece] > 1e-3]
    for piece in wide:
        start, end = breakpoints[piece], breakpoints[piece + 1]
        rise = law.cdf([start + 1e-9, end - 1e-9])
        assert rise[1] - rise[0] == pytest.approx(chances[piece], abs=1e-5)


@given(
    st.lists(st.floats(0, 8), min_size=2, max_size=6).map(sorted).filter(lambda x: x[-1] - x[0] > 0.1),
    st.data(),
    st.sampled_from([0.1, 1.0, 3.0]),
)
def test_the_loss_is_at_most_epsilon(breakpoints: list[float], data: st.DataObject, epsilon: float) -> None:
    pieces = len(breakpoints) - 1
    scores = np.array(data.draw(st.lists(st.floats(-4, 4), min_size=pieces, max_size=pieces)))
    moves = np.array(data.draw(st.lists(st.floats(-1, 1), min_size=pieces, max_size=pieces)))
    assert worst_loss(breakpoints, scores, scores + moves, epsilon=epsilon, monotonic=False) <= epsilon + 1e-9
    assert worst_loss(breakpoints, scores, scores + abs(moves), epsilon=epsilon, monotonic=True) <= epsilon + 1e-9


def test_the_law_above_can_fail() -> None:
    before, after = np.zeros(2), np.array([1.0, -1.0])
    assert worst_loss([0.0, 1e-6, 1.0], before, after, epsilon=1.0, monotonic=True) > 1.9


def worst_loss(
    breakpoints: list[float], before: np.ndarray, after: np.ndarray, *, epsilon: float, monotonic: bool
) -> float:
    mechanism = dps.mechanisms.PiecewiseLinearMechanism(epsilon=epsilon, sensitivity=1.0, monotonic=monotonic)
    chances = [mechanism.law(*steps(breakpoints, scores)).masses()[::2] for scores in (before, after)]
    possible = chances[0] > 0
    return float(np.abs(np.log(chances[0][possible] / chances[1][possible])).max())
