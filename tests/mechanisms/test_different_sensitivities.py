"""`GeneralizedSelection`: its laws against the models, the choice of the rule, error bounds, bad input."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect.errors import InvalidCandidatesError, InvalidParameterError, InvalidScoresError
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference.different_sensitivities import generalized_scores, larger, own_scale_law, plus
from tests.reference.permute_and_flip import law_by_positions
from tests.reference.precision import exponential

SCORES = [9.0, 7.5, 8.0, 2.0, 9.0]
SENSITIVITIES = [1.0, 0.5, 4.0, 0.25, 2.0]
SECRET = 7919.125


def made(sensitivities: Any = SENSITIVITIES, *, epsilon: float = 2.0, **options: Any) -> dps.GeneralizedSelection:
    return dps.GeneralizedSelection(epsilon=epsilon, sensitivities=sensitivities, **options)


def model_law(mechanism: dps.GeneralizedSelection, scores: list[float]) -> np.ndarray:
    exact, widths = [Fraction(each) for each in scores], [Fraction(each) for each in mechanism.sensitivities]
    epsilon = Fraction(mechanism.epsilon)
    if mechanism.rule == "generalized":
        together = larger if mechanism.monotonic else plus
        u = generalized_scores(exact, widths, shift=Fraction(mechanism.shift), together=together)
        return np.array([float(p) for p in law_by_positions([exponential(each * epsilon / 2) for each in u])])
    most, alike = max(widths), mechanism.monotonic or mechanism.rule == "largest"
    noise = [most * (1 if mechanism.monotonic else 2) if alike else each + most for each in widths]
    coins = [exponential((each - max(exact)) * epsilon / scale) for each, scale in zip(exact, noise, strict=True)]
    return np.array([float(p) for p in own_scale_law(coins, [epsilon / scale for scale in noise])])


RULES = [(method, monotonic) for method in ("generalized", "own_scales", "largest") for monotonic in (False, True)]


@pytest.mark.parametrize(("method", "monotonic"), RULES)
def test_every_rule_has_the_law_of_its_model(method: Any, monotonic: bool) -> None:
    mechanism = made(method=method, monotonic=monotonic)
    law = model_law(mechanism, SCORES)
    assert mechanism.pmf(SCORES) == pytest.approx(law, rel=1e-8)
    draws = np.bincount(mechanism.select_many(SCORES, 30_000), minlength=5)
    assert p_value(draws, law) >= NEVER
    wrong = made(method=method, monotonic=monotonic, epsilon=2.8)
    assert p_value(draws, wrong.pmf(SCORES)) < NEVER
    single = np.bincount([mechanism.select(SCORES) for _ in range(1500)], minlength=5)
    assert p_value(single, law) >= NEVER


@pytest.mark.parametrize(("method", "monotonic"), RULES)
def test_losses_between_neighbours_are_at_most_epsilon(method: Any, monotonic: bool) -> None:
    rng, mechanism = np.random.default_rng(11), made(method=method, monotonic=monotonic, epsilon=0.5)
    widths, worst = np.array(SENSITIVITIES), 0.0
    for _ in range(150):
        scores = rng.normal(scale=rng.choice([1.0, 5.0, 20.0]), size=5)
        moved = scores + widths * rng.choice([0.0, 1.0] if monotonic else [-1.0, 1.0], 5)
        ratios = np.log(mechanism.pmf(scores)) - np.log(mechanism.pmf(moved))
        worst = max(worst, float(np.abs(ratios).max()))
    assert 0.15 < worst <= 0.5 + 1e-8


def test_any_way_is_more_than_the_same_way() -> None:
    """Control: neighbours that move against each other, for the rules that are made for those that do not."""
    scores, moved = np.array([0.0, 30.0, 30.0]), np.array([1.0, 29.0, 29.0])
    together = dps.GeneralizedSelection(epsilon=0.5, sensitivities=[1, 1, 1], monotonic=True)
    assert float(np.abs(np.log(together.pmf(scores) / together.pmf(moved))).max()) > 0.9


def test_the_rule_follows_from_public_numbers() -> None:
    assert made([2, 2, 2]).rule == "largest"
    assert made([1, 1, 1, 100]).rule == "generalized"
    assert made(range(1, 51)).rule == "own_scales"
    assert made(range(1, 51), monotonic=True).rule == "largest"
    assert made([1, 1, 1, 100], monotonic=True).rule == "generalized"
    assert made([1, 1, 9], method="largest").rule == "largest"


def test_with_equal_sensitivities_it_is_permute_and_flip() -> None:
    alike = dps.PermuteAndFlip(epsilon=2.0, sensitivity=3.0)
    assert made([3.0] * 5).pmf(SCORES) == pytest.approx(alike.pmf(SCORES), rel=1e-12)
    assert made([3.0] * 5, method="own_scales").pmf(SCORES) == pytest.approx(alike.pmf(SCORES), rel=1e-9)
    assert made([3.0] * 5).error_bounds() == pytest.approx([alike.error_bound(5)] * 5)


@pytest.mark.parametrize("method", ["generalized", "own_scales", "largest"])
@pytest.mark.parametrize("monotonic", [False, True])
def test_error_bounds_hold(method: Any, monotonic: bool) -> None:
    rng = np.random.default_rng(3)
    mechanism = made(method=method, monotonic=monotonic, confidence=0.9)
    bounds = mechanism.error_bounds()
    assert bounds.shape == (5,)
    worst = 0.0
    for _ in range(200):
        scores = rng.choice([0.0, 1.0], 5) * -bounds * rng.choice([0.3, 0.8, 1.01])
        scores[rng.integers(5)] = 0.0
        beyond = scores[:, None] < scores - bounds
        worst = max(worst, float(mechanism.pmf(scores)[beyond.any(axis=1)].sum()))
    assert 0.0 < worst <= 0.1


def test_one_bad_candidate_does_not_set_the_noise_of_all() -> None:
    widths = [1.0] * 49 + [100.0]
    scores = [30.0] + [0.0] * 49
    errors = {
        method: made(widths, method=method, epsilon=1.0).expected_error(scores)
        for method in ("generalized", "own_scales", "largest")
    }
    assert errors["generalized"] < errors["largest"] / 5
    assert made(widths, epsilon=1.0).expected_error(scores) == errors["generalized"]


def test_large_inputs_and_extreme_numbers() -> None:
    n = 20_000
    rng = np.random.default_rng(5)
    scores, widths = rng.normal(size=n), np.exp(rng.normal(size=n) * 3)
    scores[77], widths[77] = 1e6, 1.0
    for monotonic in (False, True):
        assert made(widths, method="generalized", monotonic=monotonic).select(scores) == 77
    assert made([1e-300, 1e300, 1.0], method="generalized").select([1e300, 0.0, 0.0]) in (0, 1, 2)
    assert made([1.0, 2.0]).pmf([1e308, -1e308]).tolist() == [1.0, 0.0]
    assert made([1.0, 3.0]).pmf([2**53, 2**53 - 2]).sum() == pytest.approx(1.0)


def test_the_cost() -> None:
    assert made().event == dps.PermuteAndFlip(epsilon=2.0, sensitivity=1.0).event


def test_they_are_values() -> None:
    assert made() == made(np.array(SENSITIVITIES))
    assert made() != made(method="generalized")
    assert "0.25" not in repr(made())


BAD: dict[str, Any] = {
    "none": [],
    "zero": [1.0, 0.0],
    "negative": [1, -1],
    "NaN": [1.0, math.nan],
    "NaN in an array": np.array([1.0, np.nan]),
    "infinity": np.array([1.0, np.inf]),
    "text": ["1"],
    "a text": "12",
    "a matrix": np.ones((2, 2)),
    "a boolean": [True],
    "a number": 1.0,
    "nothing": None,
}


@pytest.mark.parametrize("given", BAD.values(), ids=BAD)
def test_bad_sensitivities_are_refused(given: Any) -> None:
    with pytest.raises(InvalidParameterError, match="sensitivities="):
        made(given)


def test_a_bad_sensitivity_is_shown_with_its_place() -> None:
    for given, shown in (
        ([1, 2, 0], "0, number 3 of 3"),
        (np.array([1.0, -1.0, 2.0]), "-1.0, number 2 of 3"),
        ([1, "2"], "str, number 2 of 2"),
    ):
        with pytest.raises(InvalidParameterError, match=f"^sensitivities=<{shown}>: expected finite numbers > 0"):
            made(given)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"epsilon": 0.0}, "epsilon="),
        ({"epsilon": 1e-310}, "epsilon="),
        ({"confidence": 1.0}, "confidence="),
        ({"method": "best"}, "method="),
        ({"method": None}, "method="),
        ({"monotonic": True, "neighbours": "replace_one"}, "monotonic"),
    ],
)
def test_bad_arguments_are_refused(options: dict[str, Any], name: str) -> None:
    with pytest.raises(InvalidParameterError, match=name):
        made(**options)


@pytest.mark.parametrize("method", ["generalized", "own_scales", "largest"])
@pytest.mark.parametrize(
    "scores", [[], [SECRET], [SECRET] * 6, [SECRET, 1, 2, 3, math.nan], [SECRET, 1, 2, 3, math.inf], [[SECRET] * 5]]
)
def test_bad_scores_are_refused_without_a_word_of_them(method: Any, scores: Any) -> None:
    mechanism = made(method=method)
    for call in (mechanism.select, mechanism.pmf, mechanism.expected_error, lambda s: mechanism.select_many(s, 2)):
        with pytest.raises(InvalidScoresError) as caught:
            call(scores)
        assert "7919" not in str(caught.value)


def test_whole_numbers_beyond_doubles_are_refused() -> None:
    for big in (2**53 + 1, 2**63 - 1):
        with pytest.raises(InvalidScoresError, match="beyond 2"):
            made([1, 2]).select([big, 0])
    with pytest.raises(InvalidScoresError, match="beyond 2"):
        made([1, 2]).select(np.array([2**64 - 1, 0], np.uint64))
    with pytest.raises(InvalidCandidatesError):
        made([1, 2]).select([1, 2], candidates=["a"])


VECTORS: dict[str, Any] = {
    "tuple": (1.0, 2.0, 4.0),
    "array": np.array([1.0, 2.0, 4.0]),
    "float32": np.array([1, 2, 4], np.float32),
    "nothing masked": np.ma.masked_array([1.0, 2.0, 4.0]),
    "buffer": memoryview(np.array([1.0, 2.0, 4.0])),
    "pandas": pd.Series([1.0, 2.0, 4.0], index=[7, 8, 9]),
    "pandas whole": pd.Series([1, 2, 4], dtype="Int64"),
    "pandas fractions": pd.Series([Fraction(1), Fraction(2), Fraction(4)]),
    "polars": pl.Series([1.0, 2.0, 4.0]),
    "polars whole": pl.Series([1, 2, 4]),
    "arrow": pa.array([1.0, 2.0, 4.0]),
    "arrow chunks": pa.chunked_array([[1, 2], [4]]),
}


@pytest.mark.parametrize("given", VECTORS.values(), ids=VECTORS)
def test_any_vector_of_numbers_is_taken(given: Any) -> None:
    assert made(given) == made([1.0, 2.0, 4.0])


def test_whole_numbers_of_any_vector_are_rounded_up() -> None:
    for given in (np.array([2**60 + 1]), pd.Series([2**60 + 1]), pl.Series([2**60 + 1]), pa.array([2**60 + 1])):
        assert made(given).sensitivities == (2.0**60 + 2.0**8,)


MISSING: dict[str, Any] = {
    "masked": np.ma.masked_array([1.0, 1e-9, 1.0], mask=[0, 1, 0]),
    "masked whole": np.ma.masked_array([1, 5, 1], mask=[0, 1, 0]),
    "masked objects": np.ma.masked_array([Fraction(1), Fraction(5), Fraction(1)], mask=[0, 1, 0]),
    "pandas": pd.Series([1, None, 1], dtype="Int64"),
    "pandas objects": pd.Series([Fraction(1), None, Fraction(1)]),
    "polars": pl.Series([1.0, None, 1.0]),
    "arrow": pa.array([1.0, None, 1.0]),
    "list": [1.0, None, 1.0],
}


@pytest.mark.parametrize("given", MISSING.values(), ids=MISSING)
def test_a_missing_sensitivity_is_no_sensitivity(given: Any) -> None:
    """What a mask hides is a number that the caller did not mean: noise of its scale would protect nobody."""
    with pytest.raises(InvalidParameterError, match=r"^sensitivities=<.*>: expected finite numbers > 0, one for each"):
        made(given)
