"""Quantiles: the plan is made from public arguments, the draw sees bounded values, the certificate claims no more."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpselect
from dpselect import Neighbours
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import QuantileMechanism
from tests import rank_laws
from tests.drawn_answers import WHEN, planned, released
from tests.laws.goodness_of_fit import NEVER, p_value

ROOT = Path(__file__).parents[2]
AGES: dict[str, Any] = {"bounds": (0, 120), "step": 1}
ANY_AGE: dict[str, Any] = {"bounds": (0, 120), "continuous": True}


def quantile(level: Any, domain: dict[str, Any], **asked: Any) -> Any:
    return planned("quantile", "age", level=level, **domain, **asked)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[float], QuantileMechanism]]:
    """What is drawn from; the answer is always the upper bound."""
    calls: list[tuple[list[float], QuantileMechanism]] = []

    def spy(mechanism: QuantileMechanism, values: Any) -> float:
        assert values.dtype == np.float64
        calls.append((values.tolist(), mechanism))
        return float(mechanism.bounds[1])

    monkeypatch.setattr(QuantileMechanism, "draw", spy)
    return calls


@pytest.mark.parametrize(
    ("level", "rows", "epsilon", "scale"),
    [
        (0.5, 1, 0.5, 2.0),
        (0.25, 1, 0.5, 3.0),
        (1.0, 1, 1.0, 1.0),
        (0.0, 1, 1.0, 1.0),
        (1.0, 7, 1.0, 7.0),
        (0.5, 7, 1.0, 7.0),
    ],
)
def test_the_scale_is_twice_the_sensitivity_or_once_at_the_extremes(
    level: float, rows: int, epsilon: float, scale: float
) -> None:
    task = quantile(level, AGES, epsilon=epsilon, max_rows_per_unit=rows)
    assert task.mechanism.scale == scale
    assert task.mechanism.sensitivity == rows * max(level, 1 - level)
    assert task.mechanism.event == dpselect.accounting.BoundedRangeEvent(epsilon=epsilon)


def test_between_bounds_the_draw_sees_the_values(drawn: list[tuple[list[float], QuantileMechanism]]) -> None:
    task = quantile(0.25, ANY_AGE, epsilon=0.5, max_rows_per_unit=3)
    assert released(task, [3.5, 120.0]).value == 120.0
    mechanism = QuantileMechanism(level=0.25, epsilon=0.5, bounds=(0, 120), values_per_unit=3)
    assert drawn == [([3.5, 120.0], mechanism)]
    assert mechanism.sensitivity == 2.25


def test_on_a_grid_the_draw_has_the_same_grid(drawn: list[tuple[list[float], QuantileMechanism]]) -> None:
    tenths = {"bounds": (-1, 2), "step": 0.1}
    release = released(quantile(0.5, tenths, epsilon=1.0), [-1.0, 0.3 + 1e-9, 1.96])
    assert release.value == 2.0
    assert drawn == [([-1.0, 0.3 + 1e-9, 1.96], QuantileMechanism(level=0.5, epsilon=1.0, bounds=(-1, 2), step=0.1))]


@pytest.mark.parametrize("position", [0, 1, 3, 7, 30])
def test_the_answer_is_a_point_as_it_is_written(position: int) -> None:
    task = quantile(0.5, {"bounds": (-1, 2), "step": 0.1}, epsilon=1.0)
    # 1000 ranks better than any other point, at scale 1: another answer has probability below 31 e^-1000.
    assert released(task, [(position - 10) / 10 + 0.04] * 2000).value == float(Fraction(position - 10, 10))


def test_a_table_and_an_array_have_the_same_law() -> None:
    """Values between the grid's points, some of them midway: one law, from the definition, for both ways of asking."""
    values = [0.4, 0.5, 0.5, 1.2, 1.5, 1.5, 2.49, 2.5, 7.0]
    task = quantile(0.5, {"bounds": (0, 3), "step": 1}, epsilon=2.0)
    mechanism = QuantileMechanism(level=0.5, epsilon=2.0, bounds=(0, 3), step=1)
    counted = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.0, 2.0, 3.0])
    law = rank_laws.grid_law(counted, np.arange(4.0), level=0.5, scale=mechanism.scale)
    wrong = rank_laws.grid_law(np.array(values).clip(0, 3), np.arange(4.0), level=0.5, scale=mechanism.scale)
    np.testing.assert_allclose(mechanism.pmf(values), law, atol=1e-12)
    for draw in (lambda: released(task, values).value, lambda: mechanism.draw(values)):
        counts = np.bincount([int(draw()) for _ in range(3000)], minlength=4)
        assert p_value(counts, law) > NEVER
        assert p_value(counts, wrong) < NEVER


@pytest.mark.parametrize("level", [0.0, 0.1, 1 / 3, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("rows", [1, 3, 10**9])
def test_the_mechanism_draws_with_the_sensitivity_that_is_proved(level: float, rows: int) -> None:
    for domain in (AGES, ANY_AGE):
        task = quantile(level, domain, epsilon=1.0, max_rows_per_unit=rows)
        exact = rows * max(Fraction(level), 1 - Fraction(level))
        assert task.mechanism.sensitivity == task.terms.sensitivity
        assert exact <= Fraction(task.mechanism.sensitivity) <= exact * (1 + Fraction(1, 2**52))


@pytest.mark.parametrize(("level", "rows"), [(0.5, 1), (0.2, 2)])
def test_the_draws_follow_the_law(level: float, rows: int) -> None:
    """On a grid and off it, against the law in float64; the control is the law at another level."""
    values = np.array([1.0, 1.0, 2.0, 5.0, 5.0, 5.0, 8.0])
    grid, line = ({"bounds": (0, 9), **more} for more in ({"step": 1}, {"continuous": True}))
    points = np.arange(10.0)
    for domain in (grid, line):
        task = quantile(level, domain, epsilon=2.0, max_rows_per_unit=rows)
        drawn = np.array([released(task, values.tolist()).value for _ in range(1000)])

        def fit(at: float, *, drawn: Any = drawn, domain: Any = domain, scale: float = task.mechanism.scale) -> float:
            if domain is grid:
                law = rank_laws.grid_law(values, points, level=at, scale=scale)
                return p_value(np.bincount(drawn.astype(int), minlength=10), law)
            edges, pieces = rank_laws.interval_law(values, level=at, bounds=(0.0, 9.0), scale=scale)
            law = np.array([rank_laws.probability_between(edges, pieces, a, a + 0.5) for a in np.arange(18) / 2])
            return p_value(np.histogram(drawn, 18, (0.0, 9.0))[0], law)

        assert fit(level) > NEVER
        assert fit(level + 0.2) < NEVER


@pytest.mark.parametrize("domain", [AGES, ANY_AGE])
@pytest.mark.parametrize("values", [[], [0.0], [120.0], [40.0] * 100, [0.0, 120.0]])
@pytest.mark.parametrize("level", [0.0, 0.5, 1.0])
def test_there_is_always_an_answer_within_the_bounds(domain: dict[str, Any], values: list[float], level: float) -> None:
    value = released(quantile(level, domain, epsilon=1.0), values).value
    assert isinstance(value, float)
    assert 0.0 <= value <= 120.0


def test_a_value_that_most_have_is_found_on_a_grid_even_between_its_points() -> None:
    # 1000 ranks better than any other point, at scale 1: another answer has probability below 121 e^-1000.
    assert released(quantile(0.5, AGES, epsilon=1.0), [40.3] * 2000).value == 40.0


@pytest.mark.parametrize("level", [-0.1, 1.1, math.nan, math.inf, None, "0.5", True, [0.5], 1j])
def test_bad_levels(level: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"^level="):
        quantile(level, AGES, epsilon=1.0)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, None, "1", True])
def test_bad_epsilon(epsilon: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"^epsilon="):
        quantile(0.5, AGES, epsilon=epsilon)


@pytest.mark.parametrize("rows", [0, -1, 1.0, None, "1", True, 10**9 + 1, 10**400, math.nan])
def test_bad_rows_per_unit(rows: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"^max_rows_per_unit="):
        quantile(0.5, AGES, epsilon=1.0, max_rows_per_unit=rows)


def test_values_that_were_gathered_for_another_question_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> float:
        raise AssertionError("something was drawn")

    task = quantile(0.5, AGES, epsilon=1.0, max_rows_per_unit=2)
    assert released(task, [40.0], most=1).value is not None  # fewer rows than allowed do no harm
    monkeypatch.setattr(QuantileMechanism, "draw", refuse)
    others: list[dict[str, Any]] = [{"most": 3}, {"bounds": (0, 120)}, {"bounds": (0, 121), "step": 1}]
    for other in others:
        with pytest.raises(InvalidParameterError, match=r"^values=<UnitValues>"):
            released(task, [40.0], **other)


def test_the_certificate_with_a_grid() -> None:
    task = quantile(0.25, AGES, epsilon=0.5, max_rows_per_unit=2)
    release = released(task, [40.0])
    assert (release.task, release.column, release.unit, release.time) == ("quantile", "age", "person", WHEN)
    assert (release.mechanism, release.rounds, release.epsilon, release.delta) == ("QuantileMechanism", 1, 0.5, 0.0)
    assert (release.sensitivity, release.monotonic, release.neighbours) == (1.5, False, Neighbours.ADD_REMOVE)
    assert release.candidates == {"source": "grid", "lower": 0.0, "upper": 120.0, "step": 1.0, "count": 121}
    assert release.arguments == {"level": 0.25, "max_rows_per_unit": 2}
    assert release.error_bound == pytest.approx(6.0 * math.log(120 * 99), rel=1e-9)
    assert release.error_bound <= 6.0 * (math.log(121) + math.log(100))
    assert release.receipt is None
    assert all((ROOT / page).is_file() for page in release.proofs)
    assert hasattr(dpselect.mechanisms, release.mechanism)


def test_without_a_grid_no_error_is_claimed() -> None:
    release = released(quantile(0.5, ANY_AGE, epsilon=0.5), [40.0])
    assert release.error_bound is None
    assert release.to_dict()["error_bound"] is None
    assert "confidence" not in str(release)


@pytest.mark.parametrize("domain", [AGES, ANY_AGE])
def test_the_certificate_does_not_depend_on_the_values(domain: dict[str, Any]) -> None:
    certificates = []
    for values in ([], [40.0] * 1000):
        certificate = released(quantile(0.5, domain, epsilon=0.5), values).to_dict()
        del certificate["value"]
        certificates.append(certificate)
    assert certificates[0] == certificates[1]
