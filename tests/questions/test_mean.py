"""The mean over a public number of units: what it moves by, its law, and the bound on its error."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect import Neighbours, Release
from dpselect.errors import InvalidParameterError
from dpselect.questions import Mean
from dpselect.summaries import UnitValues
from tests.drawn_answers import drawn_answer, planned
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference.means import mean_of_units

WHEN = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
AGES: dict[str, Any] = {"bounds": (0, 120), "step": 1}


def released(task: Mean, values: list[float]) -> Release:
    return drawn_answer(task, gathered(task, values), column="age", unit="person", time=WHEN)


def gathered(task: Mean, values: list[float]) -> UnitValues:
    return UnitValues(np.array(values, np.float64), domain=task.domain, max_rows_per_unit=1)


@pytest.mark.parametrize(("neighbours", "scale"), [("add_remove", 0.2), ("replace_one", 0.4)])
def test_the_plan(neighbours: str, scale: float) -> None:
    task = planned(Mean, **AGES, units=600, epsilon=0.5, neighbours=neighbours)
    assert task.mechanism.scale_for() == scale
    assert task.mechanism.scale_for(7) == scale  # the number of values does not matter
    assert task.mechanism.sensitivity_for() == task.terms.sensitivity.value == scale / 2
    assert task.terms.sensitivity.neighbours == neighbours
    assert task.event == dps.accounting.LaplaceProfileEvent(epsilon=0.5)


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_no_neighbour_moves_the_law_by_more_than_epsilon(neighbours: Neighbours) -> None:
    """Every data set of up to three values, of two units as far as is known; and at half the scale it would be more."""
    values = [None, 0.0, 1.0, 4.0]
    cuts = np.linspace(-1.0, 5.0, 25)
    mechanism = planned(Mean, bounds=(0, 4), step=1, units=2, epsilon=1.0, neighbours=neighbours).mechanism

    def law(data: list[float | None]) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.diff(mechanism.cdf([each for each in data if each is not None], cuts))

    worst = 0.0
    for data in product(values, repeat=3):
        others = [None] if neighbours is Neighbours.ADD_REMOVE else values
        for other in others:
            first, second = law(list(data)), law([*data[:-1], other])
            seen = (first > 0) & (second > 0)
            assert np.array_equal(first > 0, second > 0)
            worst = max(worst, float(np.abs(np.log(first[seen] / second[seen])).max()))
    assert 0.9 < worst <= 1.0 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("count", [0, 3, 5, 8])
def test_the_draws_follow_the_law_around_the_reference_mean(count: int) -> None:
    """Of five units, as far as is known. The control is the law of the mean of the values alone."""
    values = [1.0] * count
    task = planned(Mean, bounds=(0, 4), step=1, units=5, epsilon=1.0)
    center = 4 * mean_of_units([Fraction(1, 4)] * count, units=5)
    cuts = np.linspace(0.0, 4.0, 9)[1:-1]
    drawn = np.array([task.draw(gathered(task, values)) for _ in range(4000)])
    counts = np.histogram(drawn, [-math.inf, *cuts, math.inf])[0]

    def law(around: float) -> np.ndarray[Any, np.dtype[np.float64]]:
        below = np.where(cuts < around, np.exp(-np.abs(cuts - around) / 0.4) / 2, 0.0)
        below = np.where(cuts < around, below, 1 - np.exp(-np.abs(cuts - around) / 0.4) / 2)
        return np.diff(np.concatenate([[0.0], below, [1.0]]))

    assert p_value(counts, law(float(center))) > NEVER
    assert p_value(counts, law(float(center) + 0.25)) < NEVER


def test_the_error_bound_holds_as_often_as_it_says() -> None:
    task = planned(Mean, **AGES, units=50, epsilon=1.0)
    bound = task.terms.error_bound
    assert bound is not None
    assert bound == pytest.approx(1.2 * math.log(100))
    missed = sum(abs(task.draw(gathered(task, [60.0] * 50)) - 60.0) > bound for _ in range(3000))
    assert p_value(np.array([missed, 3000 - missed]), np.array([0.01, 0.99])) > NEVER
    assert released(task, [60.0] * 50).error_bound == bound
    assert planned(Mean, **AGES, units=1, epsilon=1e-6).terms.error_bound == 120.0  # both are within the bounds


@pytest.mark.parametrize("units", [0, -1, 1.5, True, "9", 10**9 + 1])
def test_bad_units(units: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"^(units|count)="):
        planned(Mean, **AGES, units=units, epsilon=1.0)


def test_a_count_goes_with_the_absolute_score_and_without_it_add_remove_is_refused() -> None:
    arguments: dict[str, Any] = {"epsilon": 1.0, "bounds": (0, 4), "step": 1}
    with pytest.raises(InvalidParameterError, match=r"^count=5"):
        dps.mechanisms.MeanMechanism(**arguments, count=5, score="squared")
    with pytest.raises(InvalidParameterError, match="the number of units, such as count=1000"):
        dps.mechanisms.MeanMechanism(**arguments, neighbours=Neighbours.ADD_REMOVE)
    with pytest.raises(InvalidParameterError, match="no bound is stated"):
        dps.mechanisms.MeanMechanism(**arguments, score="squared").error_bound(5)
