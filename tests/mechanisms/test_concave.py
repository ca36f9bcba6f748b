"""Concave scores: draws and distributions against integrals in many digits, the loss, and what is refused."""

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

CASES: dict[str, tuple[list[float], list[float], bool]] = {
    "squared": ([-1.0, 3.0], [2.0, -6.0], False),
    "huber": ([-1.0, 1.0], [2.0, -2.0], True),
    "laplace": ([0.5, 0.5], [1.0, -1.0], True),
    "kink": ([0.0, 1.0, 1.0, 3.0], [2.0, 1.5, -1.0, -9.0], False),
    "falls only": ([0.0, 2.0], [-1.0, -5.0], False),
    "rises, then flat": ([0.0, 1.0, 2.0], [3.0, 0.0, 0.0], False),
    "lines": ([-1.0, 0.0, 0.0, 2.0], [1.0, 1.0, -0.5, -0.5], True),
}
every_case = pytest.mark.parametrize(("breakpoints", "slopes", "tails"), CASES.values(), ids=CASES)


def score(x: mp.mpf, breakpoints: list[float], slopes: list[float]) -> mp.mpf:
    """The integral of the slopes from the first breakpoint."""
    if x <= breakpoints[0]:
        return slopes[0] * (x - breakpoints[0])
    total = mp.mpf(0)
    for (low, high), (before, after) in zip(pairwise(breakpoints), pairwise(slopes), strict=True):
        if high > low:
            t = min(x, mp.mpf(high)) - low
            total += before * t - (mp.mpf(before) - after) / (2 * (mp.mpf(high) - low)) * t**2
        if x <= high:
            return total
    return total + slopes[-1] * (x - breakpoints[-1])


def exact_masses(breakpoints: list[float], slopes: list[float], cuts: np.ndarray, *, scale: float) -> np.ndarray:
    with mp.workdps(25):
        kinks = sorted({*map(float, cuts), *(x for x in breakpoints if cuts[0] <= x <= cuts[-1])})
        cells = dict.fromkeys(range(cuts.size - 1), mp.mpf(0))
        for low, high in pairwise(kinks):
            cell = int(np.searchsorted(cuts, low, side="right")) - 1
            cells[cell] += mp.quad(lambda x: mp.exp(score(x, breakpoints, slopes) / scale), [low, high])
        return np.array([float(mass / sum(cells.values())) for mass in cells.values()])


def cuts_of(breakpoints: list[float], tails: bool) -> np.ndarray:
    margin = 40.0 if tails else 0.0
    low, high = breakpoints[0], breakpoints[-1]
    inner = np.linspace(low - min(margin, 3), high + min(margin, 3), 20)
    return np.unique(np.concatenate([[low - margin], inner, [high + margin]]))


@pytest.mark.sampled(1)
@every_case
@pytest.mark.parametrize("epsilon", [2.0, 40.0])
def test_the_distribution_is_the_integral(
    breakpoints: list[float], slopes: list[float], tails: bool, epsilon: float
) -> None:
    mechanism = dps.mechanisms.ConcaveMechanism(epsilon=epsilon, sensitivity=1.0)
    cuts = cuts_of(breakpoints, tails)
    exact = exact_masses(breakpoints, slopes, cuts, scale=2.0 / epsilon)
    cdf = mechanism.law(breakpoints, slopes, tails=tails).cdf(cuts)
    np.testing.assert_allclose(np.diff(cdf), exact, atol=1e-8 if tails else 1e-12)  # the integral ends at 40 there


@pytest.mark.sampled(1)
@every_case
def test_draws_have_the_density(breakpoints: list[float], slopes: list[float], tails: bool) -> None:
    mechanism = dps.mechanisms.ConcaveMechanism(epsilon=3.0, sensitivity=1.0)
    cuts = cuts_of(breakpoints, tails)
    exact = np.diff(mechanism.law(breakpoints, slopes, tails=tails).cdf(cuts))
    counts = np.histogram([mechanism.draw(breakpoints, slopes, tails=tails) for _ in range(4000)], bins=cuts)[0]
    assert counts.sum() == 4000
    assert p_value(counts, exact / exact.sum()) >= NEVER
    doubled = dps.mechanisms.ConcaveMechanism(epsilon=1.5, sensitivity=1.0)
    wrong = np.diff(doubled.law(breakpoints, slopes, tails=tails).cdf(cuts))
    assert p_value(counts, wrong / wrong.sum()) < NEVER


@few_examples
@given(st.floats(-1, 1), st.floats(-1, 1), st.sampled_from([0.1, 1.0, 5.0]))
def test_the_loss_is_at_most_epsilon(center: float, move: float, epsilon: float) -> None:
    """The score -(x - center)**2 on [-1, 1] moves by ``2 * move * x`` and a constant."""
    assert worst_loss(center, center + move / 2, epsilon=epsilon, sensitivity=abs(move) + 1e-12) <= epsilon + 1e-9


def test_the_law_above_can_fail() -> None:
    assert worst_loss(-0.5, 0.5, epsilon=1.0, sensitivity=0.5) > 1.5


def worst_loss(center: float, moved: float, *, epsilon: float, sensitivity: float) -> float:
    mechanism = dps.mechanisms.ConcaveMechanism(epsilon=epsilon, sensitivity=sensitivity)
    ends = np.unique([*np.linspace(-1, 1, 801), center, moved])  # so that pieces of both laws are the same
    lengths = np.diff(ends)
    masses = [mechanism.law(ends, -2 * (ends - peak)).masses().reshape(-1, 2).sum(axis=1) for peak in (center, moved)]
    possible = (lengths > 1e-9) & (masses[0] > 0) & (masses[1] > 0)
    return float(np.abs(np.log(masses[0][possible]) - np.log(masses[1][possible])).max(initial=0.0))


def test_extreme_scales() -> None:
    mechanism = dps.mechanisms.ConcaveMechanism(epsilon=1e-6, sensitivity=1.0)
    assert np.isfinite(mechanism.draw([-1e300, 1e300], [1e-300, -1e-300], tails=True))
    assert abs(mechanism.draw([-1e-300, 1e-300], [1e300, -1e300])) <= 1e-300
    narrow = dps.mechanisms.ConcaveMechanism(epsilon=1e200, sensitivity=1e-100)
    assert abs(narrow.draw([-1.0, 2.0], [2.0, -4.0])) < 1e-140
    np.testing.assert_allclose(narrow.law([-1.0, 2.0], [2.0, -4.0]).cdf([-1e-140, 1e-140]), [0.0, 1.0], atol=1e-12)


BAD: dict[str, tuple[Any, Any, Any, str]] = {
    "convex": ([SECRET, 1e9], [1.0, 2.0], False, "slopes"),
    "too few slopes": ([SECRET, 1e9], [1.0], False, "slopes"),
    "NaN slope": ([SECRET, 1e9], [1.0, math.nan], False, "slopes"),
    "tails that rise": ([SECRET, 1e9], [-1.0, -2.0], True, "slopes"),
    "tails that stay": ([SECRET, 1e9], [1.0, 0.0], True, "slopes"),
    "decreasing": ([SECRET, 1.0], [1.0, 0.0], False, "breakpoints"),
    "all equal": ([SECRET, SECRET], [1.0, 0.0], False, "breakpoints"),
    "one point": ([SECRET], [1.0], False, "breakpoints"),
    "text": (["7919", "Ann"], [1.0, 0.0], False, "breakpoints"),
    "tails of text": ([SECRET, 1e9], [1.0, 0.0], "yes", "tails"),
}


@pytest.mark.parametrize(("breakpoints", "slopes", "tails", "name"), BAD.values(), ids=BAD)
def test_bad_scores(breakpoints: Any, slopes: Any, tails: Any, name: str) -> None:
    mechanism = dps.mechanisms.ConcaveMechanism(epsilon=1.0, sensitivity=1.0)
    with pytest.raises(InvalidParameterError) as caught:
        mechanism.draw(breakpoints, slopes, tails=tails)
    assert caught.value.name == name
    assert_says_nothing(caught.value)
