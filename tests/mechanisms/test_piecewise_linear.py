"""Scores in lines: draws and distributions against exact integrals, the loss, and what is refused."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from dpselect.errors import InvalidParameterError
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.laws.test_bad_input import SECRET, assert_says_nothing
from tests.reference.strategies import few_examples
from tests.slow import SLOW

CASES: dict[str, tuple[list[float], Any, dict[str, float]]] = {
    "tent": ([0.0, 1.0, 4.0], [0.0, 3.0, 0.0], {}),
    "valley": ([0.0, 1.0, 4.0], [1.0, -3.0, 2.0], {}),
    "flat": ([0.0, 1.0, 4.0], [1.0, 1.0, 1.0], {}),
    "a jump": ([-1.0, 0.0, 0.0, 3.0], [0.0, 2.0, -1.0, 1.0], {}),
    "a jump over more": ([-1.0, 0.0, 0.0, 0.0, 3.0], [0.0, 2.0, 9.0, -1.0, 1.0], {}),
    "tails": ([0.0, 2.0], [1.0, -1.0], {"left_slope": 0.5, "right_slope": -2.0}),
    "one point": ([0.5], [7.0], {"left_slope": 1.0, "right_slope": -3.0}),
    "one tail": ([1.0, 2.0], [0.0, 1.0], {"right_slope": -1.0}),
}
DRAWS = 8000 if SLOW else 4000
every_case = pytest.mark.parametrize(("breakpoints", "scores", "tails"), CASES.values(), ids=CASES)


def exact_masses(
    breakpoints: list[float], scores: Any, tails: dict[str, float], cuts: np.ndarray, *, scale: float
) -> np.ndarray:
    """Integrals between the cuts, line by line."""
    pieces = [
        (low, high, (end - start) / (high - low) if high > low else 0.0, start - mp.mpf(0), low)
        for low, high, (start, end) in zip(breakpoints[:-1], breakpoints[1:], pairwise(scores), strict=True)
    ]
    if "left_slope" in tails:
        pieces.append((-mp.inf, breakpoints[0], tails["left_slope"], mp.mpf(scores[0]), breakpoints[0]))
    if "right_slope" in tails:
        pieces.append((breakpoints[-1], mp.inf, tails["right_slope"], mp.mpf(scores[-1]), breakpoints[-1]))
    with mp.workdps(40):
        weights = []
        for a, b in pairwise(cuts):
            weight = mp.mpf(0)
            for low, high, slope, start, anchor in pieces:
                lower, upper = max(mp.mpf(float(a)), mp.mpf(low)), min(mp.mpf(float(b)), mp.mpf(high))
                if lower < upper:
                    rate = mp.mpf(slope) / scale
                    ends = [mp.exp(start / scale + rate * (x - anchor)) for x in (lower, upper)] if rate else []
                    weight += (ends[1] - ends[0]) / rate if rate else (upper - lower) * mp.exp(start / scale)
            weights.append(weight)
        return np.array([float(weight / sum(weights)) for weight in weights])


def cuts_of(breakpoints: list[float], tails: dict[str, float]) -> np.ndarray:
    inner = np.linspace(breakpoints[0] - 6, breakpoints[-1] + 6, 41) if tails else np.array(breakpoints)
    inner = np.concatenate([inner, np.linspace(breakpoints[0], breakpoints[-1], 17)])
    ends = [-np.inf if "left_slope" in tails else breakpoints[0], np.inf if "right_slope" in tails else breakpoints[-1]]
    return np.unique(np.concatenate([np.clip(inner, *ends), ends]))


@every_case
@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 40.0])
def test_the_distribution_is_the_integral(
    breakpoints: list[float], scores: Any, tails: dict[str, float], epsilon: float
) -> None:
    mechanism = dps.mechanisms.PiecewiseLinearMechanism(epsilon=epsilon, sensitivity=1.0)
    cuts = cuts_of(breakpoints, tails)
    exact = exact_masses(breakpoints, scores, tails, cuts, scale=2.0 / epsilon)
    cdf = mechanism.law(breakpoints, scores, **tails).cdf(cuts)
    np.testing.assert_allclose(np.diff(cdf), exact, atol=1e-13)


@pytest.mark.sampled(1)
@every_case
def test_draws_have_the_density(breakpoints: list[float], scores: Any, tails: dict[str, float]) -> None:
    mechanism = dps.mechanisms.PiecewiseLinearMechanism(epsilon=2.0, sensitivity=1.0)
    cuts = cuts_of(breakpoints, tails)
    exact = exact_masses(breakpoints, scores, tails, cuts, scale=1.0)
    counts = np.histogram([mechanism.draw(breakpoints, scores, **tails) for _ in range(DRAWS)], bins=cuts)[0]
    assert counts.sum() == DRAWS
    assert p_value(counts, exact) >= NEVER
    wrong = exact * np.where(np.arange(exact.size) % 2, 0.6, 1.4)
    assert p_value(counts, wrong / wrong.sum()) < NEVER
    if np.ptp(np.array(scores)) > 0 or tails:
        doubled = exact_masses(breakpoints, scores, tails, cuts, scale=2.0)
        assert p_value(counts, doubled) < NEVER  # a missing factor of two shows


@few_examples
@given(
    st.lists(st.floats(-4, 4), min_size=4, max_size=4),
    st.lists(st.floats(-1, 1), min_size=4, max_size=4),
    st.sampled_from([0.1, 1.0, 3.0]),
    st.booleans(),
)
def test_the_loss_is_at_most_epsilon(scores: list[float], moves: list[float], epsilon: float, has_tails: bool) -> None:
    tails = {"left_slope": 1.0, "right_slope": -2.0} if has_tails else {}
    moved = [score + move for score, move in zip(scores, moves, strict=True)]
    up = [score + abs(move) for score, move in zip(scores, moves, strict=True)]
    assert worst_loss(scores, moved, tails, epsilon=epsilon, monotonic=False) <= epsilon + 1e-9
    assert worst_loss(scores, up, tails, epsilon=epsilon, monotonic=True) <= epsilon + 1e-9


def test_the_law_above_can_fail() -> None:
    """Moves in both directions at once, at the scale for one."""
    before, after = [0.0, 0.0, 0.0, -40.0], [1.0, 1.0, 1.0, -41.0]
    assert worst_loss(before, after, {}, epsilon=1.0, monotonic=True) > 1.5


def worst_loss(
    before: list[float], after: list[float], tails: dict[str, float], *, epsilon: float, monotonic: bool
) -> float:
    mechanism = dps.mechanisms.PiecewiseLinearMechanism(epsilon=epsilon, sensitivity=1.0, monotonic=monotonic)
    at = np.linspace(0, 8, 1601)
    lines = [np.interp(at, [0.0, 1.0, 5.0, 8.0], scores) for scores in (before, after)]
    masses = [mechanism.law(at, scores, **tails).masses() for scores in lines]
    return float(np.abs(np.log(masses[0]) - np.log(masses[1])).max())


def test_extreme_scales() -> None:
    steep = dps.mechanisms.PiecewiseLinearMechanism(epsilon=1.0, sensitivity=1e-300)
    assert steep.draw([0.0, 1e300], [0.0, -1e308]) < 1e-290
    np.testing.assert_allclose(steep.law([0.0, 1.0], [1.0, 0.0]).cdf([0.0, 2e-300 * math.log(2.0), 1.0]), [0, 0.5, 1])
    flat = dps.mechanisms.PiecewiseLinearMechanism(epsilon=1e-6, sensitivity=1e300)
    wide = [-1.7e308, 1.7e308]
    assert 0.2 < np.mean([flat.draw(wide, [0.0, 1e-300]) < 0 for _ in range(300)]) < 0.8
    np.testing.assert_allclose(flat.law(wide, [0.0, 1e-300]).cdf([-1.7e308, 0.0, 1.7e308]), [0, 0.5, 1])
    tail = dps.mechanisms.PiecewiseLinearMechanism(epsilon=1e-6, sensitivity=1.0)
    np.testing.assert_allclose(
        tail.law([0.0], [0.0], left_slope=1e300, right_slope=-1e-300).cdf([1e305]), [1 - 9.5e-2], rtol=1
    )
    draws = [tail.draw([0.0], [0.0], left_slope=1e-300, right_slope=-1e-300) for _ in range(50)]
    assert np.isfinite(draws).all()
    assert np.median(np.abs(draws)) > 1e305
    apart = [0.0, 1.0, 1.0, 1e300]  # 1e300 exp(-690.775...) = 1: two pieces of one mass each
    depth = -300 * math.log(10.0) * 2e6
    heights = [0.0, 0.0, depth, depth]
    np.testing.assert_allclose(tail.law(apart, heights).cdf([1.0]), [0.5], rtol=1e-9)
    assert 0.2 < np.mean([tail.draw(apart, heights) <= 1.0 for _ in range(300)]) < 0.8


def test_many_pieces() -> None:
    """Planned in doubles, of which the law does not know."""
    mechanism = dps.mechanisms.PiecewiseLinearMechanism(epsilon=8.0, sensitivity=1.0)
    breakpoints, scores = np.linspace(0, 1, 1501), np.abs(np.sin(np.arange(1501.0)))
    draws = mechanism.draw_many(breakpoints, scores, 100_000)
    counts, cuts = np.histogram(draws, bins=200, range=(0, 1))
    assert p_value(counts, np.diff(mechanism.law(breakpoints, scores).cdf(cuts))) >= NEVER
    assert p_value(counts, np.full(200, 1 / 200)) < NEVER


def test_scale() -> None:
    assert dps.mechanisms.PiecewiseLinearMechanism(epsilon=0.5, sensitivity=3).scale == 12.0


BAD: dict[str, tuple[Any, Any, dict[str, Any], str]] = {
    "too few scores": ([SECRET, 1e9], [1.0], {}, "scores"),
    "pairs": ([SECRET, 1e9], [(1.0, 2.0), (1.0, 2.0)], {}, "scores"),
    "ragged": ([0.0, 1.0, 2.0], [(1.0, 2.0), (SECRET,)], {}, "scores"),
    "NaN score": ([0.0, 1.0], [SECRET, math.nan], {}, "scores"),
    "large integers": ([0.0, 1.0], [0, 2**53 + 7919], {}, "scores"),
    "text": ([0.0, 1.0], ["7919", "Ann"], {}, "scores"),
    "text in an array": ([0.0, 1.0], np.array([["7919", "Ann"]]), {}, "scores"),
    "decreasing": ([SECRET, 1.0], [1.0, 2.0], {}, "breakpoints"),
    "all equal": ([SECRET, SECRET], [1.0, 2.0], {}, "breakpoints"),
    "infinite": ([SECRET, math.inf], [1.0, 2.0], {}, "breakpoints"),
    "one point without tails": ([SECRET], [1.0], {}, "breakpoints"),
    "a tail that rises": ([SECRET, 1e9], [1.0, 2.0], {"left_slope": -1.0}, "left_slope"),
    "a tail that stays": ([SECRET, 1e9], [1.0, 2.0], {"right_slope": 0.0}, "right_slope"),
    "a NaN tail": ([SECRET, 1e9], [1.0, 2.0], {"right_slope": math.nan}, "right_slope"),
    "a tail of text": ([SECRET, 1e9], [1.0, 2.0], {"left_slope": "1"}, "left_slope"),
}


@pytest.mark.parametrize(("breakpoints", "scores", "tails", "name"), BAD.values(), ids=BAD)
def test_bad_pieces(breakpoints: Any, scores: Any, tails: dict[str, Any], name: str) -> None:
    mechanism = dps.mechanisms.PiecewiseLinearMechanism(epsilon=1.0, sensitivity=1.0)
    for call in (mechanism.draw, mechanism.law):
        with pytest.raises(InvalidParameterError) as caught:
            call(breakpoints, scores, **tails)
        assert caught.value.name == name
        assert_says_nothing(caught.value)


def test_a_tail_that_does_not_fall_is_refused_with_the_reason() -> None:
    with pytest.raises(InvalidParameterError, match="infinite"):
        dps.mechanisms.PiecewiseLinearMechanism(epsilon=1.0, sensitivity=1.0).draw(
            [0.0], [0.0], left_slope=1.0, right_slope=0.0
        )
