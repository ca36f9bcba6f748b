"""A bound to clip by, and quantiles of columns of which no upper bound is known."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect import verify as check
from dpselect.errors import InvalidCertificateError, InvalidDataError, InvalidParameterError
from tests.drawn_answers import drawn, handed, planned
from tests.edited_certificates import edited
from tests.rows.table_questions import BY_CITY, ROWS
from tests.views import ask

SURE = 1e5
"""An epsilon at which the noise is 0."""

PEOPLE = dps.Dataset(ROWS, unit="who")


@pytest.mark.parametrize("source", [ROWS, pl.DataFrame(ROWS).lazy()])
def test_without_noise_it_is_the_largest_value(source: Any) -> None:
    data = dps.Dataset(source, unit="who")
    ages = ROWS.column("age").to_numpy()[: len([who for who in ROWS.column("who").to_pylist() if who])]
    assert data.upper_bound("age", epsilon=SURE).value == max(ages)
    assert data.upper_bound("age", step=25, epsilon=SURE).value == 75.0
    assert data.upper_bound("age", step=25, lower=30, epsilon=SURE).value == 80.0
    assert data.upper_bound("age", lower=90, epsilon=SURE).value == 90.0
    paid = data.upper_bound("paid", step=0.1, lower=-2, max_rows_per_unit=9, epsilon=SURE)
    assert paid.value == pytest.approx(5.5, abs=0.1)
    assert paid.value >= 5.5
    assert [*data.by(**BY_CITY).upper_bound("age", epsilon=SURE).value] == ["south", "north"]


@pytest.mark.slow
def test_few_values_are_above_it() -> None:
    """The stated bound is kept, and what is usual is far less."""
    values = np.random.default_rng(3).lognormal(3, 1, 5000)
    data = dps.Dataset(pa.table({"who": range(5000), "paid": values}), unit="who")
    released = [data.upper_bound("paid", step=0.01, epsilon=0.5) for _ in range(60)]
    above = [int((values > release.value).sum()) for release in released]
    bound = released[0].error_bound
    assert bound is not None
    assert sum(each > bound for each in above) < 15
    assert np.median(above) < bound / 2


def test_it_is_drawn_for_its_own_summary_only() -> None:
    task = planned("upper_bound", lower=0, step=1, epsilon=SURE)
    assert drawn(task, [4.0]).answer == 4.0
    for other in (handed(task, [4.0], bounds=(0, 9)), handed(task, [4.0, 4.0], most=2)):
        with pytest.raises(InvalidParameterError, match=r"^values="):
            task.released(other)


def test_the_sentences() -> None:
    release = PEOPLE.upper_bound("age", epsilon=1.0, max_rows_per_unit=2)
    assert release.accuracy == (
        "With 99% confidence at most 48 values of age are above the released bound, counting at most 2 rows of each "
        "who."
    )
    replaced = dps.DryRun(unit="who", neighbours="replace_one").upper_bound("age", step=1, epsilon=1.0)
    assert "at most 24 values of age are above" in replaced.accuracy


@pytest.mark.parametrize(
    ("arguments", "error", "named"),
    [
        ({"column": "name"}, InvalidDataError, "column='name'"),
        ({"column": "nowhere"}, InvalidDataError, "column='nowhere'"),
        ({"column": "paid"}, InvalidParameterError, "step=None: expected the smallest distance"),
        ({"lower": 0.5}, InvalidParameterError, "step=None"),
        ({"lower": "x"}, InvalidParameterError, "lower="),
        ({"lower": float("nan")}, InvalidParameterError, "lower=nan"),
        ({"step": 0}, InvalidParameterError, "step=0"),
        ({"step": float("inf")}, InvalidParameterError, "step=inf"),
        ({"epsilon": 0}, InvalidParameterError, "epsilon=0"),
        ({"epsilon": 1e-30}, InvalidParameterError, "epsilon=1e-30"),
        ({"max_rows_per_unit": 0}, InvalidParameterError, "max_rows_per_unit=0"),
        ({"max_rows_per_unit": 10**10}, InvalidParameterError, "max_rows_per_unit=10000000000"),
        ({"usable_epsilon": -1}, InvalidParameterError, "usable_epsilon=-1"),
        ({"by": "city"}, InvalidParameterError, "groups=None"),
    ],
)
def test_bad_input_is_refused_in_a_line_and_costs_nothing(
    arguments: dict[str, Any], error: type[Exception], named: str, tmp_path: Path
) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("people", epsilon=1, unit="who")
    data = dps.Dataset(ROWS, unit="who", ledger=ledger, account="people")
    with pytest.raises(error) as raised:
        ask(data, "upper_bound", **{"column": "age", "epsilon": 1.0, **arguments})
    assert str(raised.value).startswith(named)
    assert ledger.remaining("people") == 1.0


@pytest.mark.parametrize(
    ("level", "given", "mechanism"),
    [
        (0.5, {"step": 1}, "UnboundedQuantileMechanism"),
        (0.9, {}, "UnboundedQuantileMechanism"),
        (1.0, {"step": 1, "lower": 5}, "UnboundedQuantileMechanism"),
        (0.99, {"bounds": (0, 100)}, "QuantileMechanism"),
    ],
)
def test_bounds_choose_the_mechanism(level: float, given: dict[str, Any], mechanism: str) -> None:
    release = PEOPLE.quantile("age", level, epsilon=SURE, **given)
    assert release.mechanism == mechanism
    assert mechanism in str(dps.DryRun(unit="who", source=ROWS).quantile("age", level, epsilon=1.0, **given))
    ages = sorted({row["who"]: row["age"] for row in ROWS.to_pylist() if (row["who"] or "").startswith(" p")}.values())
    last = math.ceil(level * len(ages))  # the answer is from this value to the next
    assert ages[last - 1] <= release.value <= ages[min(last, len(ages) - 1)]
    assert release.epsilon == SURE
    assert release.event.epsilon == SURE  # type: ignore[union-attr] # one event for all


def test_at_the_last_possible_answer_no_bound_is_claimed() -> None:
    far = dps.Dataset({"who": range(3000), "x": [10**6] * 3000}, unit="who")
    for asked in (
        lambda: far.median("x", step=1e-12, epsilon=1.0),
        lambda: far.quantile("x", 0.95, step=1e-200, epsilon=1.0),
        lambda: far.upper_bound("x", step=1e-200, epsilon=1.0),
    ):
        release = asked()
        assert release.value == release.candidates["upper"]
        assert release.accuracy.startswith("WARNING: no bound on the error holds for this answer. The last possible")
        assert check(release.to_json()).release.value == release.value
    near = dps.Dataset({"who": range(3000), "x": np.full(3000, 7)}, unit="who").median("x", epsilon=1.0)
    assert near.value == 7
    assert "WARNING" not in near.accuracy


def test_a_median_without_bounds() -> None:
    release = PEOPLE.median("age", epsilon=1.0)
    assert (release.task, release.rounds) == ("unbounded_quantile", 1)
    assert release.accuracy == (
        "With 99% confidence the released age is within 20 ranks of the true median, values rounded up to possible "
        "answers, those below 0 counted as 0, counting at most 1 row of each who."
    )
    by_city = PEOPLE.by(**BY_CITY).median("age", epsilon=SURE).value
    assert all(20 <= value <= 70 for value in by_city.values())


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"bounds": (0, 100), "lower": 0}, "lower=0: expected nothing, because bounds are given"),
        ({"bounds": "public"}, "bounds=<str>"),
        ({"bounds": (None, 100)}, "bounds="),
        ({"continuous": True}, "continuous=True: expected nothing, because there are no bounds"),
        (
            {"continuous": True, "bounds": (0, 9), "step": 1},
            "continuous=True: expected nothing, because a step is given",
        ),
        ({"continuous": 1}, "continuous=1"),
        ({"epsilon": 0}, "epsilon=0"),
        ({"level": 0.9876543}, "level=0.9876543: expected a decimal of at most six digits"),
        ({"level": 2}, "level=2"),
        ({"column": "paid"}, "step=None"),
        ({"lower": 0.5}, "step=None"),
        ({"epsilon": 1e-30}, "epsilon=1e-30"),
        ({"step": 0}, "step=0"),
    ],
)
def test_bad_input_without_bounds_costs_nothing(arguments: dict[str, Any], named: str, tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("people", epsilon=1, unit="who")
    data = dps.Dataset(ROWS, unit="who", ledger=ledger, account="people")
    with pytest.raises(InvalidParameterError) as raised:
        data.quantile(**{"column": "age", "level": 0.5, "epsilon": 1.0, **arguments})
    assert str(raised.value).startswith(named)
    assert ledger.remaining("people") == 1.0


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        ("value", -1.0, "value"),
        ("value", 1e18, "value"),
        ("arguments.level", 0.25, "arguments.level"),
        ("candidates.step", 2.0, "candidates"),
        ("candidates.growth", 2.0, "candidates"),
        ("candidates.lower", 1.0, "candidates"),
        ("mechanism.rounds", 2, "mechanism.rounds"),
    ],
)
def test_a_certificate_without_bounds(path: str, value: Any, named: str) -> None:
    text = PEOPLE.median("age", epsilon=0.5, step=0.5).to_json()
    assert check(text).error_bound
    assert dps.verify(text).release.to_json() == text
    with pytest.raises(InvalidCertificateError, match=f"<{named}"):
        check(edited(text, **{path.replace(".", "__"): value}))


def test_an_answer_off_the_grid_is_refused() -> None:
    with pytest.raises(InvalidCertificateError, match="<value"):
        check(edited(PEOPLE.median("age", epsilon=0.5, step=0.5).to_json(), value=37.25))


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        ("value", 101.5, "value"),
        ("value", -1.0, "value"),
        ("arguments.level", 0.5, "arguments.level"),
        ("arguments.max_rows_per_unit", 2, "arguments.max_rows_per_unit"),
        ("candidates.step", 2.0, "candidates"),
        ("candidates.upper", 100.0, "candidates"),
        ("candidates.count", 7, "candidates"),
        ("candidates.growth", 2.0, "candidates"),
        ("candidates.source", "grid", "candidates.source"),
        ("error_bound.within", 8.0, "error_bound"),
        ("guarantee.epsilon", 0.25, "guarantee"),
    ],
)
def test_what_contradicts_itself_is_refused(path: str, value: Any, named: str) -> None:
    text = PEOPLE.upper_bound("age", epsilon=0.5).to_json()
    assert check(text).error_bound
    assert dps.verify(text).release.to_json() == text
    with pytest.raises(InvalidCertificateError, match=f"<{named}"):
        check(edited(text, **{path.replace(".", "__"): value}))


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_of_the_last_possible_answer_no_bound_is_claimed(neighbours: Any) -> None:
    """Claim 5 leaves it out: all values may be above it."""
    rows = {"who": range(900), "x": [1e30] * 500 + [3.0] * 400, "city": ["far"] * 500 + ["near"] * 400}
    data = dps.Dataset(pa.table(rows), unit="who", neighbours=neighbours)
    release = data.upper_bound("x", step=1, epsilon=1.0)
    assert release.value == release.candidates["upper"] == 2.0**50
    assert "at most" not in release.accuracy.split(",")[0]
    assert release.accuracy.startswith(
        "WARNING: no bound on the error holds for this answer. The last possible answer, 1"
    )
    assert dps.verify(release.to_json()).release.accuracy == release.accuracy
    near = data.upper_bound("x", step=1e20, epsilon=1.0)
    assert near.accuracy.startswith("With 99% confidence at most")
    if neighbours == "add_remove":
        grouped = data.by("city", groups=["near", "far"]).upper_bound("x", step=1, epsilon=10.0)
        assert "WARNING: this bound does not hold in these groups: far. The last possible answer" in grouped.accuracy
