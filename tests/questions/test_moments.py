"""Moments over a private number of units: what is released, how far from the truth, and what is refused."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect import verify as check
from dpselect.errors import InvalidCertificateError, InvalidDataError, InvalidParameterError
from tests.drawn_answers import planned, released
from tests.edited_certificates import canonical_json, digest
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.question_words import DECLARED
from tests.reference import moments
from tests.views import ask

SURE = 1e15
"""An epsilon at which the noise is 0."""

AGES: dict[str, Any] = {"bounds": (0, 120), "step": 1}
VALUES = [3.0, 17.0, 17.0, 64.0, 119.0, 400.0, -5.0]
CLAMPED = np.clip(VALUES, 0, 120)
PEOPLE = pa.table({"who": range(7), "age": VALUES, "team": list("aaabbbb")})


@pytest.mark.parametrize("kind", ["mean", "variance", "std"])
@pytest.mark.parametrize(("neighbours", "factor"), [("add_remove", 1), ("replace_one", 2)])
def test_the_plan(kind: Any, neighbours: str, factor: int) -> None:
    task = planned(kind, **AGES, epsilon=0.5, neighbours=neighbours)
    power = 1 if kind == "mean" else 2
    assert task.mechanism.sensitivity == task.terms.sensitivity == factor * 120**power
    assert task.terms.monotonic is (factor == 1)
    assert task.mechanism.event == dps.accounting.PureEvent(epsilon=0.5)
    assert task.terms.usable is not None
    assert task.terms.usable.epsilon is None


@pytest.mark.parametrize("step", [1, 0.25, None])
def test_without_noise(step: float | None) -> None:
    data = dps.Dataset(PEOPLE, unit="who")
    asked: dict[str, Any] = {"bounds": (0, 120), "step": step, "epsilon": SURE}
    mean, variance = data.mean("age", **asked), data.variance("age", **asked)
    assert mean.value == pytest.approx(CLAMPED.mean(), abs=1e-3)
    assert variance.value == pytest.approx(CLAMPED.var(), abs=1e-2)
    std = data.std("age", **asked)
    assert std.value == pytest.approx(CLAMPED.std(), abs=1e-3)
    for release in (mean, variance, std):
        assert release.usable is not None
        assert (release.usable.count, release.groups) == (7, None)
    teams = data.by("team", groups=["b", "a", "c"]).mean("age", **asked)
    assert teams.value == pytest.approx({"b": CLAMPED[3:].mean(), "a": CLAMPED[:3].mean(), "c": 60.0}, abs=1e-3)
    assert teams.usable is not None
    assert teams.usable.count == {"b": 4, "a": 3, "c": 0}


def test_whole_numbers_are_not_rounded_to_less() -> None:
    """A column of an integer type between whole bounds has steps of 1; otherwise a millionth of the width."""
    whole = pa.table({"who": range(3), "age": [1, 2, 4]})
    for source, bounds, step in ((whole, (0, 120), 1.0), (whole, (0.5, 120), 0.0001195), (PEOPLE, (0, 120), 0.00012)):
        release = dps.Dataset(source, unit="who").mean("age", bounds=bounds, epsilon=1.0)
        assert release.candidates["step"] == step
        assert f"steps of {step:g}," in release.accuracy


@pytest.mark.parametrize("degree", [1, 2])
def test_the_exact_sums_are_those_of_the_model(degree: int) -> None:
    """Also where they need more than 64 bits."""
    for last, places in ((4, [0, 1, 4, 3]), (2**26, [0, 2**26, 2**26 - 1] * 3), (7, [])):
        task = planned("mean" if degree == 1 else "variance", bounds=(0, last), step=1, epsilon=1.0)
        assert task.exact(np.array(places, np.float64)) == moments.sums(places, last=last, degree=degree)
    many = np.full(2**17, 2.0**26)
    task = planned("variance", bounds=(0, 2**26), step=1, epsilon=1.0)
    assert task.exact(many) == [0, 0, 2 ** (17 + 52)]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", ["mean", "variance", "std"])
@pytest.mark.parametrize("values", [[60.0] * 40, [120.0] * 40, [0.0, 120.0] * 20, [0.0] * 35 + [120.0] * 5])
def test_the_error_bound_holds_as_often_as_it_says(kind: Any, values: list[float]) -> None:
    """By the number of units that the same release contains; and that number's own bound."""
    task = planned(kind, **AGES, epsilon=1.0)
    exact = {"mean": np.mean, "variance": np.var, "std": np.std}[kind](values)
    missed, apart = 0, 0
    for _ in range(1500):
        release = released(task, values)
        count = release.usable.count  # type: ignore[union-attr]
        assert isinstance(count, int)
        bound = DECLARED[kind].value_bound(release, count, release.value)
        missed += abs(release.value - exact) > bound
        apart += abs(count - len(values)) > release.usable.within  # type: ignore[union-attr]
    for failures in (missed, apart):
        assert failures <= 15 or p_value(np.array([failures, 1500 - failures]), np.array([0.01, 0.99])) > NEVER


def test_the_bound_of_a_mean_is_nearly_reached() -> None:
    """Control of the test above: three quarters of it are exceeded far more often."""
    task = planned("mean", **AGES, epsilon=1.0)
    draws = [released(task, [120.0] * 40) for _ in range(1500)]
    missed = sum(
        abs(each.value - 120.0) > 0.5 * (DECLARED["mean"].value_bound(each, each.usable.count, each.value) or 0)  # type: ignore[union-attr, arg-type]
        for each in draws
    )
    assert missed > 30


def test_the_bounds_in_numbers() -> None:
    """Claims 4 to 6: units rounded down, ln(100) scales and one step, and the square of a mean's error."""
    assert planned("mean", **AGES, epsilon=0.5).terms.error_bound == pytest.approx(240 * math.log(100) + 1)
    variance = planned("variance", **AGES, epsilon=0.5)
    release = released(variance, VALUES)
    each = variance.mechanism.error_bound(0.99, size=3)
    assert release.error_bound == each
    assert DECLARED["variance"].value_bound(release, 1000, None) == pytest.approx(
        each / 1000 + (1.5 * each / 1000 / 120) ** 2
    )
    mean = planned("mean", **AGES, epsilon=0.5)
    assert [mean.units_by(noisy) for noisy in ([60, 59], [60, 60], [119, 120], [-400, 3])] == [0, 1, 1, 0]


@pytest.mark.parametrize("variance", [0.0, 1e-9, 0.5, 2.0, 900.0])
@pytest.mark.parametrize("within", [1e-9, 0.3, 1.9, 40.0])
def test_the_bound_of_a_root(variance: float, within: float) -> None:
    """Claim 7: the true root is in the interval, which is no wider than the roots of the two ends make it."""
    task = planned("std", **AGES, epsilon=0.5)
    release = released(task, VALUES)
    units = 1000
    noisy = replace(release, value=math.sqrt(variance), error_bound=1.0)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(DECLARED["variance"], "value_bound", classmethod(lambda *_: within))
        bound = DECLARED["std"].value_bound(noisy, units, noisy.value)
    ends = [math.sqrt(max(0.0, variance - within)), math.sqrt(variance + within)]
    assert bound is not None
    assert bound == pytest.approx(max(abs(end - noisy.value) for end in ends), rel=1e-6)
    assert all(abs(end - noisy.value) <= bound * (1 + 1e-12) for end in ends)


def test_a_planned_deviation_says_what_its_square_is_within() -> None:
    forecast = dps.DryRun(unit="who").std("age", bounds=(0, 120), step=1, epsilon=1.0)
    assert forecast.accuracy.startswith("With 99% confidence the square of the released standard deviation is within 8")
    release = dps.Dataset(PEOPLE, unit="who").std("age", bounds=(0, 120), step=1, epsilon=1e4)
    assert release.accuracy.startswith("With 99% confidence the released standard deviation is within 0.0")
    low, high = release.interval
    assert low < CLAMPED.std() < high < low + 0.1


SHOWN = {"mean": "120", "variance": "3,600", "std": "42.5"}
"""The widest bound of each, with three digits and rounded up."""


def test_what_is_released_without_any_unit() -> None:
    """In the middle of what is possible, with all of it as its bound."""
    for kind, middle, widest in (("mean", 60.0, 120.0), ("variance", 1800.0, 3600.0), ("std", 1800**0.5, 1800**0.5)):
        task = planned(kind, **AGES, epsilon=SURE)
        release = released(task, [])
        assert release.value == middle
        assert DECLARED[kind].value_bound(release, 0, middle) == pytest.approx(widest)
        assert f"within {SHOWN[kind]} of the true one" in release.accuracy
        assert "WARNING" in release.basis


def test_a_table_has_the_bound_of_each_group() -> None:
    rows = {"who": range(1000), "age": [30.0] * 1000, "team": ["a"] * 900 + ["b"] * 100}
    data = dps.Dataset(pa.table(rows), unit="who")
    release = data.by("team", groups=["b", "a"]).mean("age", bounds=(0, 120), step=1, epsilon=1.0)
    assert release.usable is not None
    counts: Any = release.usable.count
    bounds: Any = [DECLARED["mean"].value_bound(release, counts[group], None) for group in ("b", "a")]
    assert bounds[0] > 3 * bounds[1]
    table = release.to_pandas()
    assert (table["upper"] - table["released"]).tolist() == pytest.approx(bounds)


@pytest.mark.parametrize("name", ["mean", "variance", "std"])
@pytest.mark.parametrize(
    ("more", "error", "named"),
    [
        ({"bounds": (5, 5)}, InvalidParameterError, "bounds="),
        ({"bounds": (0, math.inf)}, InvalidParameterError, "bounds="),
        ({"step": 0.7}, InvalidParameterError, "step=0.7"),
        ({"epsilon": 0.0}, InvalidParameterError, "epsilon=0.0"),
        ({"epsilon": 1e-300}, InvalidParameterError, "epsilon=1e-300: expected a number large enough"),
        ({"usable_epsilon": 0.1}, InvalidParameterError, "usable_epsilon=0.1"),
        ({"column": "team"}, InvalidDataError, "column='team'"),
        ({"by": "team"}, InvalidParameterError, "groups=None"),
    ],
)
def test_bad_input_is_refused_before_anything_is_charged(
    name: str, more: dict[str, Any], error: type[Exception], named: str, tmp_path: Path
) -> None:
    ledger = dps.Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.open_account("people", epsilon=3.0, unit="who")
    data = dps.Dataset(PEOPLE, unit="who", ledger=ledger, account="people")
    arguments: dict[str, Any] = {"column": "age", "bounds": (0, 120), "epsilon": 1.0, **more}
    with pytest.raises(error, match=named) as refused:
        ask(data, name, **arguments)
    assert "\n" not in str(refused.value)
    assert ledger.remaining("people") == 3.0


def test_a_grid_whose_squares_would_not_be_exact_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match=r"step=.*at most 67,108,864 of them"):
        dps.DryRun(unit="who").variance("age", bounds=(0, 2**27), step=1, epsilon=1.0)
    assert dps.DryRun(unit="who").mean("age", bounds=(0, 2**27), step=1, epsilon=1.0).error_bound is not None


@pytest.mark.parametrize("name", ["mean", "variance", "std"])
@pytest.mark.parametrize("edit", ["error_bound", "usable", "step", "value", "mechanism", "arguments"])
def test_an_edited_certificate_contradicts_itself(name: str, edit: str) -> None:
    release = getattr(dps.Dataset(PEOPLE, unit="who"), name)("age", bounds=(0, 120), step=1, epsilon=1.0)
    held = json.loads(release.to_json())
    assert check(canonical_json(held)).error_bound
    power = 1 if name == "mean" else 2
    halved = {
        "candidates": {**held["candidates"], "step": 0.5},  # 120 steps of 0.5 do not lead from 0 to 120
        "mechanism": {**held["mechanism"], "sensitivity": 60.0**power},
        "error_bound": {**held["error_bound"], "within": held["error_bound"]["within"] / 2**power},
    }
    held |= {
        "error_bound": {"error_bound": {**held["error_bound"], "within": held["error_bound"]["within"] * 0.9}},
        "usable": {"usable": {**held["usable"], "within": 1}},
        "step": halved,
        "value": {"value": -1.0},
        "mechanism": {"mechanism": {**held["mechanism"], "sensitivity": 1.0}},
        "arguments": {"arguments": {"max_rows_per_unit": 2}},
    }[edit]
    with pytest.raises(InvalidCertificateError):
        check(canonical_json(held | {"digest": digest(held)}))


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        ("mean", (-1e308, 1e308)),
        ("mean", (0, 1e300)),
        ("mean", (0, 1e-300)),
        ("variance", (0, 1e160)),
        ("variance", (0, 1e155)),
        ("variance", (1e300, 1.1e300)),
        ("variance", (0, 1e-170)),
    ],
)
def test_bounds_that_leave_the_doubles_are_refused_as_such(name: str, bounds: Any, tmp_path: Path) -> None:
    ledger = dps.Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.open_account("people", epsilon=3.0, unit="who")
    data = dps.Dataset(PEOPLE, unit="who", ledger=ledger, account="people")
    with pytest.raises(InvalidParameterError, match=r"^bounds=\(.*\): expected bounds from -1e\+"):
        getattr(data, name)("age", bounds=bounds, epsilon=1.0)
    assert ledger.remaining("people") == 3.0


@pytest.mark.parametrize("name", ["mean", "variance", "std"])
@pytest.mark.parametrize("width", [1e-70, 1e8, 1e70])
def test_large_bounds_are_not_taken_for_a_small_epsilon(name: str, width: float) -> None:
    release = getattr(dps.Dataset(PEOPLE, unit="who"), name)("age", bounds=(0, width), epsilon=1.0)
    assert f"the released {DECLARED[name].measure.partition(' of ')[0]} is within" in release.accuracy
    assert math.isfinite(release.error_bound)
    assert dps.verify(release.to_json()).release.to_json() == release.to_json()


def test_bounds_are_written_with_thousands_separators() -> None:
    forecast = dps.DryRun(unit="who").mean("age", bounds=(0, 200_000), step=1, epsilon=1.0)
    assert "within 922,000 / n of the true one" in forecast.accuracy
