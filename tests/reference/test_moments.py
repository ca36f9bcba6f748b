"""Sums of shares: what they are sums of, and the exact errors of what follows from noisy ones."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from tests.reference import geometric
from tests.reference.moments import linear_error, mean, mean_error, moved, sums, variance

LAST = 4
UNITS = [list(each) for size in (1, 2, 3) for each in combinations_with_replacement(range(LAST + 1), size)]
NOISE = range(-2, 3)


@pytest.mark.parametrize("degree", [1, 2])
def test_the_sums_hold_mean_variance_and_number(degree: int) -> None:
    for places in UNITS:
        found, n = sums(places, last=LAST, degree=degree), len(places)
        assert sum(found) == n * LAST**degree
        exact = Fraction(sum(places), n * LAST)
        assert mean(found) == exact
        if degree == 2:
            assert variance(found) == sum((Fraction(place, LAST) - exact) ** 2 for place in places) / n


@pytest.mark.parametrize("degree", [1, 2])
def test_how_far_one_unit_moves_all_sums(degree: int) -> None:
    values = [None, *range(LAST + 1)]
    assert {moved(None, value, last=LAST, degree=degree) for value in values} == {0, LAST**degree}
    assert max(moved(one, other, last=LAST, degree=degree) for one in values for other in values) == 2 * LAST**degree


def test_the_error_of_the_mean_is_exactly_what_the_proof_says() -> None:
    for places in UNITS:
        exact = sums(places, last=LAST, degree=1)
        for noise in product(NOISE, repeat=2):
            noisy = [one + other for one, other in zip(exact, noise, strict=True)]
            if sum(noisy) > 0:
                error = (mean(noisy) - mean(exact)) * sum(noisy)
                assert error == mean_error(noise, mean(exact))
                assert abs(error) <= max(map(abs, noise))


def test_the_error_of_the_variance_is_within_the_proved_bound_and_reaches_most_of_it() -> None:
    closest = Fraction(0)
    for places in UNITS:
        exact = sums(places, last=LAST, degree=2)
        for noise in product(NOISE, repeat=3):
            noisy = [one + other for one, other in zip(exact, noise, strict=True)]
            total, most = sum(noisy), max(map(abs, noise))
            if total <= 0 or most == 0:
                continue
            linear = linear_error(noise, mean(exact), variance(exact))
            away = (mean(noisy) - mean(exact)) ** 2
            error = variance(noisy) - variance(exact)
            assert error == linear / total - away
            assert abs(linear) <= most
            assert abs(error) <= Fraction(most, total) + Fraction(3 * most, 2 * total) ** 2
            closest = max(closest, abs(error) / (Fraction(most, total) + Fraction(3 * most, 2 * total) ** 2))
    assert closest > Fraction(3, 4)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("scale", [1.0, 3.0, 12.0])
def test_no_mean_errs_more_often_than_the_stated_noise_allows(scale: float) -> None:
    """All pairs of noises that matter, in exact fractions, for several means. Control: two less."""
    ratio, beta = Fraction(math.exp(-1 / scale)), 0.1
    reach = math.ceil(scale * 40)
    offsets = np.arange(-reach, reach + 1)
    law = np.array([float(geometric.law(ratio, offset)) for offset in offsets.tolist()])
    bound = scale * math.log(1 / beta) + 1

    def beyond(exact: float, at: float) -> float:
        error = (1 - exact) * offsets - exact * offsets[:, np.newaxis]
        return float(np.outer(law, law)[np.abs(error) > at].sum())

    means = [0.0, 0.25, 0.5] if scale > 3 else [0.0, 0.1, 0.25, 0.4, 0.5, 0.9]
    assert max(beyond(exact, bound) for exact in means) <= beta
    assert max(beyond(exact, bound - 2) for exact in means) > beta
