"""The exponential mechanism with weights: its law in every way of drawing, its error bounds, bad weights."""

from __future__ import annotations

import math
import pickle
import re
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect.errors import InvalidParameterError, InvalidScoresError
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference.precision import exponential
from tests.reference.weighted_candidates import failure, law, odds_against, worst_failure

SCORES = np.array([3.0, 5.0, 0.0, 4.0, 5.0, 9.0])
WEIGHTS = [2, 1.0, 40, Fraction(1, 10), 3.5, 0]


def made(weights: Any = WEIGHTS, **options: Any) -> dps.ExponentialMechanism:
    return dps.ExponentialMechanism(**({"epsilon": 1.0, "sensitivity": 1.0} | options), weights=weights)


def exact_pmf(scores: np.ndarray, weights: list[Any], scale: float) -> np.ndarray:
    growth = exponential(1 / Fraction(scale))
    return np.array([float(p) for p in law(scores.astype(int).tolist(), [Fraction(w) for w in weights], growth)])


@pytest.mark.parametrize("monotonic", [False, True])
def test_probabilities_are_those_of_the_model(monotonic: bool) -> None:
    mechanism = made(monotonic=monotonic)
    assert mechanism.pmf(SCORES) == pytest.approx(exact_pmf(SCORES, WEIGHTS, mechanism.scale), rel=1e-12)
    assert mechanism.pmf(SCORES)[5] == 0.0
    equal = dps.ExponentialMechanism(epsilon=1.0, sensitivity=1.0)
    assert made([7] * 6).pmf(SCORES) == pytest.approx(equal.pmf(SCORES), rel=1e-12)


@pytest.mark.parametrize("scores", [SCORES, SCORES.astype(np.int16), SCORES.astype(np.float32), pa.array(SCORES)])
def test_draws_follow_them(scores: Any) -> None:
    mechanism, counts = made(), np.zeros(6, np.int64)
    counts += np.bincount(mechanism.select_many(scores, 40_000), minlength=6)
    assert p_value(counts, mechanism.pmf(SCORES)) >= NEVER
    for wrong in (made([2, 1, 30, 0.2, 3.5, 0]), made(epsilon=1.3)):
        assert p_value(counts, wrong.pmf(SCORES)) < NEVER


def test_single_draws_rows_and_rounds_follow_them_too() -> None:
    mechanism, draws = made(), 4000
    pmf, wrong = mechanism.pmf(SCORES), made(epsilon=2.0).pmf(SCORES)
    rows = mechanism.select_rows(np.tile(SCORES, (draws, 1)))
    single = np.array([mechanism.select(SCORES) for _ in range(draws)])
    first = np.array([mechanism.peel(SCORES, 5)[0] for _ in range(draws)])
    for drawn in (rows, single, first):
        assert p_value(np.bincount(drawn, minlength=6), pmf) >= NEVER
        assert p_value(np.bincount(drawn, minlength=6), wrong) < NEVER
    seconds = np.array([mechanism.peel(SCORES, 2) for _ in range(draws)])
    pairs = pmf[:, None] * pmf / (1 - pmf[:, None])
    np.fill_diagonal(pairs, 0.0)
    assert p_value(np.bincount(seconds[:, 0] * 6 + seconds[:, 1], minlength=36), pairs.ravel()) >= NEVER


def test_all_with_a_weight_can_be_drawn_in_order_and_no_more() -> None:
    assert sorted(made().peel(SCORES, 5).tolist()) == [0, 1, 2, 3, 4]
    with pytest.raises(InvalidParameterError, match="k="):
        made().peel(SCORES, 6)
    assert made().select(SCORES, candidates=list("abcdef")) in "abcde"


def test_weights_of_any_size_are_exact() -> None:
    tiny, huge = Fraction(1, 3 * 10**400), Fraction(10**400)
    mechanism = made([huge, 3 * huge, tiny], monotonic=True)
    assert mechanism.pmf([0, 0, 0]) == pytest.approx([0.25, 0.75, 0.0], rel=1e-12, abs=1e-300)
    counts = np.bincount(mechanism.select_many([0, 0, 0], 20_000), minlength=3)
    assert p_value(counts, np.array([0.25, 0.75, 0.0])) >= NEVER
    assert p_value(counts, np.array([0.35, 0.65, 0.0])) < NEVER
    ahead = 2 * math.log(10) * 800 + 2 * math.log(3)  # makes up for the weight
    odds = made([tiny, huge]).pmf([ahead, 0.0])
    assert odds == pytest.approx([0.5, 0.5], rel=1e-9)
    drawn = np.bincount(made([tiny, huge]).select_many([ahead, 0.0], 20_000), minlength=2)
    assert p_value(drawn, odds) >= NEVER
    assert p_value(drawn, np.array([0.6, 0.4])) < NEVER


def test_weights_as_far_apart_as_may_be_keep_their_shares() -> None:
    """Scores that make up for the weights: beyond some distance the lighter candidate would never be drawn."""
    weights = [2**100_000, Fraction(0), 2**108_192]
    mechanism = made(weights, sensitivity=0.5)
    scores = np.array([8192 * math.log(2.0) + 0.5, 1e4, 0.0])
    counts = np.bincount(mechanism.select_many(scores, 4000), minlength=3)
    share = 1 / (1 + math.exp(-0.5))
    assert p_value(counts, np.array([share, 0.0, 1 - share])) >= NEVER
    assert p_value(counts, np.array([1 - share, 0.0, share])) < NEVER
    assert mechanism.pmf(scores) == pytest.approx([share, 0.0, 1 - share], rel=1e-6)


@pytest.mark.parametrize("weights", [[1, 2**2885390], [Fraction(1, 2**8193), 0, 1], [2**8192 + 1, 1.0]])
def test_weights_that_are_further_apart_are_refused(weights: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"^weights=<\d weights>: expected .* at most 2\^8192 times"):
        made(weights)
    assert len(made([2**8192, 0, 1]).weights) == 3


@pytest.mark.parametrize("weights", [(1, 2, 3), (10, 1, 1), (0, 2, 5)])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
def test_error_bounds_hold_for_the_worst_scores_and_are_no_larger(weights: Any, confidence: float) -> None:
    """The worst scores have the lightest candidate ahead of all others by the bound."""
    mechanism, exact = made(weights), [Fraction(weight) for weight in weights]
    best = min((weight, place) for place, weight in enumerate(weights) if weight)[1]
    bound = mechanism.error_bound(3, confidence)
    growth = exponential(Fraction(bound) / Fraction(mechanism.scale))
    failing = float(worst_failure(odds_against(exact, best), growth, distance=1))
    assert failing == pytest.approx(1 - confidence, rel=1e-9)
    assert failing <= 1 - confidence
    scores = [2 if place == best else 1 for place in range(3)]
    assert float(failure(scores, exact, growth, distance=1)) == pytest.approx(failing)


def test_the_worst_expected_error_is_reached_and_never_exceeded() -> None:
    mechanism = made([3, 1, 6])
    worst = worst_expected_error([3, 1, 6])
    rng = np.random.default_rng(7)
    assert max(mechanism.expected_error(rng.normal(scale=4.0, size=3)) for _ in range(300)) <= worst * (1 + 1e-9)
    gaps = np.linspace(0.1, 20.0, 4000)
    reached = max(mechanism.expected_error([-gap, 0.0, -gap]) for gap in gaps)
    assert reached == pytest.approx(worst, rel=1e-5)
    assert worst_expected_error([1, 1, 1]) == pytest.approx(worst_expected_error(None))
    assert worst_expected_error([1, 0, 0]) == 0.0 < math.inf == worst_expected_error([1, 2**2000, 1])


def worst_expected_error(weights: Any) -> float:
    kind: Any = partial(dps.ExponentialMechanism, weights=weights)
    return dps.planning.worst_case_error(kind, 3, epsilon=1.0, sensitivity=1.0)


def test_planning_with_a_prior() -> None:
    kind = partial(dps.ExponentialMechanism, weights=[90, 5, 5])
    epsilon = dps.planning.epsilon_for(kind, n=3, within=10.0, confidence=0.99, sensitivity=1.0)  # type: ignore[arg-type]
    assert kind(epsilon=epsilon, sensitivity=1.0).error_bound(3) == pytest.approx(10.0, rel=1e-9)
    assert dps.planning.worst_case_error(kind, 3, epsilon=1.0, sensitivity=1.0) > 0  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="n_candidates=4"):
        kind(epsilon=1.0, sensitivity=1.0).error_bound(4)


def test_errors_are_below_the_best_that_takes_part() -> None:
    assert made([1, 0]).expected_error([3.0, 90.0]) == 0.0
    assert made([1, 0]).pmf([-1e300, 1e300]).tolist() == [1.0, 0.0]
    assert made([1, 1, 0]).pmf([-1e300, -1.5e300, 1.7e308]).tolist() == [1.0, 0.0, 0.0]


def test_the_cost_is_the_same() -> None:
    assert made().event == dps.ExponentialMechanism(epsilon=1.0, sensitivity=1.0).event


def test_they_are_values() -> None:
    assert made() == made(list(WEIGHTS))
    assert made() != made([2, 1, 40, Fraction(1, 10), 3.5, 1])
    assert made([0.5, 1]) == made(np.array([0.5, 1.0])) == made([Fraction(1, 2), 1])
    assert hash(made()) == hash(made())
    assert pickle.loads(pickle.dumps(made([1, 2]))) == made([1, 2])
    assert repr(made([1, 2]).weights) == "<2 weights>"
    mine = np.array([1.0, 2.0])
    mechanism = made(mine)
    mine[:] = 0.0
    assert mechanism.pmf([0, 0]) == pytest.approx([1 / 3, 2 / 3])


def test_weights_come_in_many_containers() -> None:
    for given in ((1, 2), np.array([1, 2], np.int8), pl.Series([1.0, 2.0]), pa.array([1, 2]), [Fraction(1), 2]):
        assert made(given).pmf([0, 0]) == pytest.approx([1 / 3, 2 / 3])
    assert made([2**60 + 1, 2**60]).weights != made([2**60, 2**60]).weights
    assert made([2**53 + 1, 1]).weights != made([2**53, 1]).weights == made([2.0**53, 1]).weights


def test_many_whole_weights_take_no_fractions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpselect.mechanisms.exponential.as_fraction", None)  # of 10^6 of them it takes ten seconds
    for given in ([1, 2**53, 0], np.array([1, 2], np.uint64), range(1, 3)):
        assert len(made(given).weights or ()) == len(given)


BAD: dict[str, Any] = {
    "none": [],
    "all zero": [0, 0.0],
    "negative": [1, -1],
    "a negative fraction": [1, Fraction(-1, 3)],
    "NaN": [1.0, math.nan],
    "infinity": np.array([1.0, np.inf]),
    "a boolean": [True, 1],
    "a boolean beside a fraction": [True, Fraction(1, 3)],
    "text": ["1", "2"],
    "text beside a fraction": ["1", Fraction(1, 3)],
    "a duration": [np.timedelta64(1, "s"), 1.0],
    "durations": np.array([1, 2], dtype="m8[s]"),
    "a matrix": np.ones((2, 2)),
    "a number": 1.0,
}


@pytest.mark.parametrize("given", BAD.values(), ids=BAD)
def test_bad_weights_are_refused(given: Any) -> None:
    with pytest.raises(InvalidParameterError, match="weights="):
        made(given)


def test_a_bad_weight_is_shown_with_its_place() -> None:
    for given, shown in (
        ([1, -2, 3], "weights=<-2, number 2 of 3>: expected finite numbers >= 0, one of them > 0."),
        (np.array([1.0, -0.5]), "weights=<-0.5, number 2 of 2>:"),
        ([Fraction(1, 3), "a"], "weights=<str, number 2 of 2>:"),
        ([0, 0], "weights=<2 zeros>: expected finite numbers >= 0, one of them > 0."),
        ([0, 0 * 2**90, Fraction(0)], "weights=<3 zeros>:"),
    ):
        with pytest.raises(InvalidParameterError, match=f"^{re.escape(shown)}"):
            made(given)


def test_another_number_of_scores_is_refused() -> None:
    for call in (
        lambda m: m.select([1, 2]),
        lambda m: m.select_many([1, 2], 3),
        lambda m: m.select_rows([[1, 2]]),
        lambda m: m.peel([1, 2], 1),
        lambda m: m.pmf([1, 2]),
        lambda m: m.expected_error([1, 2]),
    ):
        with pytest.raises(InvalidScoresError, match="one for each weight"):
            call(made([1, 2, 3]))
    with pytest.raises(InvalidScoresError, match="NaN"):
        made([1, 2]).select([math.nan, 1.0])
    with pytest.raises(InvalidScoresError):
        made([1, 2]).select_rows([[1.0, 2.0], [math.nan, 1.0]])


def test_gaps_have_no_weights() -> None:
    with pytest.raises(InvalidParameterError, match="a gap is released"):
        made([1, 2]).select_with_gap([1.0, 2.0], step=1.0)
