"""Densities of columns: what is drawn from which counts, how far one unit moves them, what a release says."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpselect import Release
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import DensityMechanism
from dpselect.questions import Density
from dpselect.questions.density import with_absent
from dpselect.summaries import PublicBins, UnitValues
from tests.drawn_answers import drawn_answer, planned
from tests.reference.density import share_distance

NOW = datetime(2026, 1, 2, tzinfo=UTC)
FIVE: dict[str, Any] = {"bounds": (0, 10), "bins": 5}
BINS = PublicBins.given(**FIVE)


def _gathered(values: list[float], bins: PublicBins = BINS, *, most: int = 1) -> UnitValues:
    return UnitValues(np.array(values, dtype=np.float64), domain=bins.domain, max_rows_per_unit=most)


def _released(task: Density, values: list[float]) -> Release:
    return drawn_answer(task, _gathered(values, task.public_bins), column="age", unit="person", time=NOW)


def _shares(release: Release) -> list[float]:
    assert isinstance(release.value, list)
    return [float(share) for share in release.value]  # type: ignore[arg-type]


VALUES = [1.0] * 600 + [2.0] * 300 + [10.0] * 100


def test_noisy_counts_are_close_to_the_counts() -> None:
    release = _released(planned(Density, **FIVE, epsilon=100.0), VALUES)
    assert _shares(release) == [0.6, 0.3, 0.0, 0.0, 0.1]
    assert release.mechanism == "NoisyHistogramMechanism"
    assert (
        release.accuracy == "With 99% confidence the noisy count of each bin is within 0 of the truth"
        ", counting at most 1 row of each person."
    )


def test_a_sample_is_close_to_the_units() -> None:
    task = planned(Density, **FIVE, epsilon=100.0, method="sample", units=1000)
    shares = _shares(_released(task, VALUES))
    reached = np.cumsum(shares)
    assert np.abs(reached - [0.6, 0.9, 0.9, 0.9, 1.0]).max() <= task.error_bound
    assert all(share * task.mechanism.k == pytest.approx(round(share * task.mechanism.k)) for share in shares)  # type: ignore[operator]


def test_units_that_are_not_there_have_a_share_of_their_own() -> None:
    task = planned(Density, **FIVE, epsilon=1000.0, method="sample", units=2000, sample_size=100)
    assert sum(_shares(_released(task, VALUES))) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("values", [[], [3.0]])
@pytest.mark.parametrize("method", ["counts", "sample"])
def test_nobody_and_one_person_get_an_answer(values: list[float], method: str) -> None:
    task = planned(Density, **FIVE, epsilon=1.0, method=method, units=7 if method == "sample" else None)
    shares = _shares(_released(task, values))
    assert len(shares) == 5
    assert 0.0 <= sum(shares) <= 1.0 + 1e-12


histograms = st.lists(st.integers(0, 6), min_size=1, max_size=6)


@given(histograms, st.integers(1, 40), st.data())
def test_one_unit_moves_each_cumulative_count_by_one_at_most(
    counts: list[int], units: int, data: st.DataObject
) -> None:
    here = np.array(counts)
    there = here.copy()
    there[data.draw(st.integers(0, here.size - 1))] += 1
    if data.draw(st.booleans()) and here.any():  # replaced instead of added
        there[data.draw(st.sampled_from(np.flatnonzero(here).tolist()))] -= 1
    padded = [with_absent(each, units=units) for each in (here, there)]
    assert all(each.sum() == units and each.min() >= 0 for each in padded)
    assert np.abs(np.cumsum(padded[0]) - np.cumsum(padded[1])).max() <= 1


def test_without_the_public_number_one_unit_would_move_the_distance_by_more() -> None:
    # Sizes 1 and 2 of the data: the largest distances differ by more than the sample's size over n allows.
    sample = [1, 0]
    assert abs(share_distance([0, 1], sample) - share_distance([1, 1], sample)) * 2 > 0.99
    for n in (5, 50):
        padded = [with_absent(np.array(counts), units=n).tolist() for counts in ([0, 1], [1, 1])]
        moved = abs(share_distance(padded[0], [*sample, 0]) - share_distance(padded[1], [*sample, 0]))
        assert moved <= 1 / n + 1e-12


@given(histograms.filter(any), st.integers(1, 4), st.floats(0.1, 30.0))
@example([5, 5, 5, 3, 2], 4, 4.0)  # where the number of possible samples matters most
def test_the_error_bound_of_a_sample_holds(counts: list[int], k: int, epsilon: float) -> None:
    units = sum(counts)
    asked: dict[str, Any] = {"epsilon": epsilon, "method": "sample", "units": units, "sample_size": k}
    task = planned(Density, bounds=(0, 1), bins=len(counts), **asked)
    assert isinstance(task.mechanism, DensityMechanism)
    padded = with_absent(np.array(counts), units=units)
    samples, probabilities = task.mechanism.pmf(padded)
    distances = np.array([share_distance(padded, sample) for sample in samples])
    assert probabilities[distances > task.error_bound].sum() <= 0.01


def test_half_the_error_bound_of_a_sample_may_fail() -> None:
    task = planned(Density, bounds=(0, 1), bins=2, epsilon=40.0, method="sample", units=10, sample_size=3)
    assert isinstance(task.mechanism, DensityMechanism)
    padded = with_absent(np.array([5, 5]), units=10)
    samples, probabilities = task.mechanism.pmf(padded)
    distances = np.array([share_distance(padded, sample) for sample in samples])
    assert probabilities[distances > task.error_bound / 4].sum() > 0.01


def test_the_plan_depends_on_public_arguments_only() -> None:
    task = planned(Density, **FIVE, epsilon=0.5, method="sample", units=1000)
    assert task.mechanism.k == DensityMechanism(epsilon=0.5).sample_size(1000)
    assert task.event == task.mechanism.event
    assert 0.0 < task.error_bound <= 1.0


def test_the_certificate() -> None:
    release = _released(planned(Density, **FIVE, epsilon=1.0, method="sample", units=1000, sample_size=40), VALUES)
    certificate = json.loads(release.to_json())
    assert certificate["arguments"] == {
        "max_rows_per_unit": 1, "method": "sample", "sample_size": 40, "units": 1000
    }  # fmt: skip
    assert certificate["candidates"] == {"source": "bins", "lower": 0.0, "upper": 10.0, "count": 5}
    assert certificate["error_bound"]["unit"] == "share"
    label, rows = release.rows()
    assert label == "bin"
    assert [key for key, _ in rows] == ["0 to 2", "2 to 4", "4 to 6", "6 to 8", "8 to 10"]
    counts = _released(planned(Density, **FIVE, epsilon=1.0), VALUES)
    assert "unit" not in json.loads(counts.to_json())["error_bound"]
    assert math.floor(counts.error_bound or 0.0) == counts.error_bound


def test_edges_are_shown_with_the_digits_that_tell_them_apart() -> None:
    for bounds, count in (((0, 1), 3), ((-1, 1), 64), ((0, 1e-9), 10), ((1e6, 1e6 + 1), 100), ((-1e300, 1e300), 4)):
        bins = PublicBins.given(bounds, count)
        _, rows = _released(planned(Density, bounds=bounds, bins=count, epsilon=1.0), []).rows()
        shown = [float(key.partition(" to ")[0]) for key, _ in rows]
        assert all(one < other for one, other in pairwise(shown))
        assert shown == pytest.approx(bins.edges[:-1].tolist(), abs=float(np.diff(bins.edges).max()) / 50)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": 1.0, "method": "kde"}, "method"),
        ({"epsilon": 1.0, "method": None}, "method"),
        ({"epsilon": 1.0, "method": "sample"}, "units=None.*publicly known"),
        ({"epsilon": 1.0, "method": "sample", "units": 0}, "units"),
        ({"epsilon": 1.0, "method": "sample", "units": 10, "sample_size": 0}, "sample_size"),
        ({"epsilon": 1.0, "method": "sample", "units": 10, "sample_size": 10**9}, "sample_size=1000000000"),
        ({"epsilon": 1.0, "units": 10}, "units"),
        ({"epsilon": 1.0, "sample_size": 10}, "sample_size"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_read(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        planned(Density, **FIVE, **arguments)


def test_values_of_another_question_are_refused() -> None:
    task = planned(Density, **FIVE, epsilon=1.0)
    for values in (_gathered([1.0], PublicBins.given((0, 9), 5)), _gathered([1.0], most=2)):
        with pytest.raises(InvalidParameterError, match="values"):
            drawn_answer(task, values, column="age", unit="person", time=NOW)
