"""No test of a private release has more power than the bound, and randomised response reaches it."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

import dpselect as dps
from tests.reference.testing import most_power, open_response, power_bound

LEVELS = [Fraction(i, 40) for i in range(1, 40)]
EXP_EPSILONS = [Fraction(9, 8), Fraction(3), Fraction(50)]
NO_DELTA = Fraction(0)
DELTAS = [NO_DELTA, Fraction(1, 1000), Fraction(1, 3)]


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("exp_epsilon", EXP_EPSILONS)
def test_an_open_response_attains_the_bound(exp_epsilon: Fraction, delta: Fraction) -> None:
    null, alternative = open_response(exp_epsilon, delta)
    for level in LEVELS:
        assert most_power(null, alternative, significance=level) == power_bound(level, exp_epsilon, delta)


def _responses(exp_epsilon: Fraction, k: int) -> tuple[list[Fraction], list[Fraction]]:
    """The laws of k independent responses of the same person, under both answers."""
    null, alternative = (
        [math.prod(each, start=Fraction(1)) for each in product(law, repeat=k)]
        for law in open_response(exp_epsilon, NO_DELTA)
    )
    return null, alternative


@pytest.mark.parametrize("k", [1, 2, 3])
def test_several_responses_are_within_the_bound(k: int) -> None:
    null, alternative = _responses(Fraction(4, 3), k)
    for level in LEVELS:
        assert most_power(null, alternative, significance=level) <= power_bound(level, Fraction(4, 3) ** k, NO_DELTA)


def test_responses_that_cost_more_are_beyond_it() -> None:
    null, alternative = _responses(Fraction(4, 3), 3)
    assert any(most_power(null, alternative, significance=a) > power_bound(a, Fraction(4, 3), NO_DELTA) for a in LEVELS)


@pytest.mark.parametrize("k", [1, 2, 3, 6])
def test_the_composed_bound_is_that_of_responses(k: int) -> None:
    laws = _responses(Fraction(4, 3), k)
    event = dps.accounting.PureEvent(epsilon=math.log(4 / 3))
    composed, fewer = (dps.accounting.compose([event] * n, tight=True) for n in (k, max(1, k - 1)))
    for level in LEVELS[::4]:
        exact = float(most_power(*laws, significance=level))
        assert exact <= composed.power(float(level)) * (1 + 1e-12) <= exact * (1.01 if k < 3 else 1.04)
        assert k == 1 or fewer.power(float(level)) < exact


def test_a_smaller_delta_would_not_be_enough() -> None:
    laws = open_response(Fraction(3), Fraction(1, 3))
    assert any(most_power(*laws, significance=a) > power_bound(a, Fraction(3), Fraction(1, 4)) for a in LEVELS)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("exp_epsilon", EXP_EPSILONS)
def test_the_product_computes_the_bound(exp_epsilon: Fraction, delta: Fraction) -> None:
    release = dps.Dataset({"who": [1, 2], "what": [1, 2]}, unit="who").count(epsilon=math.log(exp_epsilon))
    guarantee = replace(release.guarantee, delta=float(delta))
    for level in LEVELS:
        expected = pytest.approx(float(power_bound(level, exp_epsilon, delta)), rel=1e-12)
        assert guarantee.power(float(level)) == expected


def pure(epsilon: float) -> Any:
    return dps.DryRun(unit="who").count(epsilon=epsilon).guarantee


def test_both_sides_of_the_bound_count() -> None:
    assert pure(1.0).power(0.01) == pytest.approx(0.01 * math.e, rel=1e-12)
    assert pure(1.0).power(0.9) == pytest.approx(1 - 0.1 / math.e, rel=1e-12)
    assert pure(1e6).power(0.01) == 1.0


@pytest.mark.parametrize("wrong", [0.0, 1.0, -0.5, 2.0, math.nan])
def test_a_significance_is_checked(wrong: float) -> None:
    with pytest.raises(dps.errors.InvalidParameterError, match=r"^significance="):
        pure(1.0).power(wrong)
