"""Bounds known before any data is seen, against closed forms and fifty digits."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import dpselect as dps
from tests.slow import crossed

EXPONENTIAL, PERMUTE_AND_FLIP = dps.ExponentialMechanism.law, dps.PermuteAndFlip.law
LAWS = {
    "exponential": EXPONENTIAL,
    "permute_and_flip": PERMUTE_AND_FLIP,
    "laplace": dps.ReportNoisyMax(epsilon=1.0, sensitivity=1.0, noise="laplace").law,
}
COUNTS = [2, 3, 10, 1000, 10**6, 10**9]
CONFIDENCES = [1e-9, 0.05, 0.5, 0.9, 0.99, 1 - 1e-6, 1 - 1e-12]


def chance_of_losing(law: str, theta: float, n: int) -> Any:
    """``Pr[one of n - 1 candidates theta below the best wins]`` in fifty digits."""
    with mp.workdps(40):
        p, others = mp.exp(-mp.mpf(theta)), mp.mpf(n - 1)
        if law == "exponential":
            return others * p / (1 + others * p)

        def kept(q: Any) -> Any:  # expm1 and log1p keep their digits for tiny q and huge n
            return -mp.expm1(n * mp.log1p(-q)) / (n * q) if q < 1 else 1 / mp.mpf(n)

        if law == "permute_and_flip":
            return 1 - kept(p)
        # Laplace: the best's noisy value above its score, between the scores, below the others' score.
        middle = mp.mpf(theta) - mp.log(n)
        ends = [0, *(end for end in (middle - 3, middle, middle + 3) if 0 < end < theta), theta]
        between = mp.quad(lambda y: mp.exp(-y + others * mp.log1p(-mp.exp(y - theta) / 2)), ends)
        return 1 - (kept(p / 2) + between + p * mp.mpf(2) ** (1 - n) / n) / 2


@pytest.mark.parametrize(("n", "confidence"), crossed(COUNTS, CONFIDENCES))
@pytest.mark.parametrize("law", LAWS)
def test_the_quantile_is_a_bound_and_a_tight_one(law: str, n: int, confidence: float) -> None:
    failure = 1.0 - confidence
    theta = LAWS[law].error_quantile(n, failure=failure, confidence=confidence)
    if theta == 0.0:
        assert confidence <= 1 / n
        return
    with mp.workdps(40):
        assert chance_of_losing(law, theta, n) <= 1 - mp.mpf(confidence)
        closer = max(0.0, theta - 1e-9)
        assert closer == 0.0 or chance_of_losing(law, closer, n) > 1 - mp.mpf(confidence)


@pytest.mark.parametrize("n", COUNTS)
def test_closed_form_of_the_exponential_mechanism(n: int) -> None:
    theta = EXPONENTIAL.error_quantile(n, 0.01, 0.99)
    assert theta == pytest.approx(math.log((n - 1) * 99), rel=1e-11)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_one_candidate_is_always_the_best(law: Any) -> None:
    assert law.error_quantile(1, failure=1e-9, confidence=1 - 1e-9) == 0.0
    assert law.expected_error(1) == 0.0


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_both_curves_are_complements(law: Any) -> None:
    for n in (2, 17, 10**6):
        for theta in np.linspace(0.0, 40.0, 41):
            assert law.best_loses(float(theta), n) + law.best_wins(float(theta), n) == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize("n", [2, 3, 4, 10, 1000])
def test_expected_error_is_the_largest_over_a_fine_grid(n: int) -> None:
    p = np.exp(-np.linspace(1e-6, 40.0, 400_001))
    exponential = -np.log(p) * (1 - 1 / (1 + (n - 1) * p))
    permute_and_flip = -np.log(p) * (1 + np.expm1(n * np.log1p(-p)) / (n * p))
    assert EXPONENTIAL.expected_error(n) == pytest.approx(exponential.max(), rel=1e-8)
    assert PERMUTE_AND_FLIP.expected_error(n) == pytest.approx(permute_and_flip.max(), rel=1e-8)


def test_known_expected_errors() -> None:
    """Between a quarter of ln n and ln n, permute-and-flip's below, and the two meet slowly as n grows."""
    ratios: list[float] = []
    for n in (2, 10, 1000, 10**6):
        exponential = EXPONENTIAL.expected_error(n)
        permute_and_flip = PERMUTE_AND_FLIP.expected_error(n)
        assert math.log(n) / 4 <= permute_and_flip < exponential <= math.log(n)
        ratios.append(exponential / permute_and_flip)
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[0] < 2.0
