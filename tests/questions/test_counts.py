"""How many there are, how many have each value, and what they add up to: exact but for the noise that they pay for."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect import Neighbours
from dpselect import verify as check
from dpselect.errors import InvalidCandidatesError, InvalidCertificateError, InvalidDataError, InvalidParameterError
from dpselect.mechanisms import GeometricMechanism
from tests.drawn_answers import drawn, planned
from tests.edited_certificates import canonical_json, digest
from tests.rows import model, table_questions
from tests.rows.table_questions import BY_CITY, BY_PAGE, NAMES, ROWS
from tests.views import ask

SURE = 1e5
"""An epsilon at which the noise is 0."""

PEOPLE = dps.Dataset(ROWS, unit="who")
LISTED = ROWS.to_pylist()


def test_counts_without_noise() -> None:
    units = model.usable_units
    assert [PEOPLE.count(epsilon=SURE).value] == units(LISTED, "who") == [24]
    for values in (["x", "z"], ["w"], ["nowhere"]):
        assert [PEOPLE.count("name", candidates=values, epsilon=SURE).value] == units(
            LISTED, "who", matched=("name", values)
        )
    assert (
        PEOPLE.count("name", candidates="x", epsilon=SURE).value
        == PEOPLE.count("name", candidates=["x"], epsilon=SURE).value
    )
    day = date(2026, 12, 2)
    assert [PEOPLE.count("free", candidates=day, epsilon=SURE).value] == units(LISTED, "who", matched=("free", [day]))
    between = {"number": "paid", "between": (-0.5, 3.0)}
    assert [PEOPLE.count("paid", between=(-0.5, 3), epsilon=SURE).value] == units(LISTED, "who", **between)
    cities = {"group": "city", "groups": ["south", "north"]}
    found = PEOPLE.by(**BY_CITY).count("paid", between=(-0.5, 3), epsilon=SURE).value
    assert list(found.items()) == [*zip(["south", "north"], units(LISTED, "who", **between, **cities), strict=True)]


def test_histograms_without_noise() -> None:
    found = PEOPLE.histogram("name", candidates=NAMES, max_values_per_unit=4, epsilon=SURE)
    assert [found.value] == model.counts(LISTED, "who", "name", NAMES)
    assert found.to_pandas()["name"].tolist() == NAMES
    days = PEOPLE.histogram("free", candidates=table_questions.DAYS, max_values_per_unit=5, epsilon=SURE)
    assert days.table()[1][0][0] == "2026-12-01"
    in_range = PEOPLE.histogram("page", candidates=range(4, -1, -2), max_values_per_unit=3, epsilon=SURE)
    assert [row[0] for row in in_range.table()[1]] == ["4", "2", "0"]
    assert [in_range.value] == model.counts(LISTED, "who", "page", [4, 2, 0])


def test_sums_without_noise() -> None:
    (expected,) = model.totals(LISTED, "who", "", [None], amount="paid", scale=100, lower=-150, upper=600)[0]  # type: ignore[arg-type]
    assert PEOPLE.sum("paid", clip=(-1.5, 6), scale=100, epsilon=SURE * 1000).value == expected / 100
    whole = PEOPLE.sum("age", clip=(0, 60), epsilon=SURE)
    assert isinstance(whole.value, int)
    of_pages = PEOPLE.by(**BY_PAGE).sum("age", clip=(0, 60), epsilon=SURE).value
    groups = {"group": "page", "groups": [1, 2, 3]}
    expected_of = model.totals(LISTED, "who", "", [None], amount="age", lower=0, upper=60, **groups)
    assert [[each] for each in of_pages.values()] == expected_of


@pytest.mark.parametrize("most", [1, 2])
def test_a_unit_counts_for_as_many_values_as_it_may(most: int) -> None:
    """Everybody has all three values; together they count as often as they may, evenly."""
    rows = pa.table({"who": np.repeat(range(3000), 3), "value": ["x", "y", "z"] * 3000, "part": ["a"] * 9000})
    for source in (rows, __import__("polars").DataFrame(rows).lazy()):
        data = dps.Dataset(source, unit="who")
        for grouped in ({}, {"by": "part", "groups": ["a", "b"]}):
            listed = {"candidates": ["x", "y", "z"], "max_values_per_unit": most}
            found: Any = ask(data, "histogram", "value", **listed, epsilon=SURE, **grouped).value
            counts = found["a"] if grouped else found
            assert sum(counts) == most * 3000
            assert all(abs(count - most * 1000) < 200 for count in counts)  # 7 standard deviations
            assert not grouped or found["b"] == [0, 0, 0]


@pytest.mark.parametrize(
    ("most", "neighbours", "moved"),
    [(1, "add_remove", 1), (2, "add_remove", 2), (1, "replace_one", 2), (2, "replace_one", 4), (3, "replace_one", 5)],
)
def test_the_noise_of_a_histogram_covers_what_one_unit_changes(most: int, neighbours: str, moved: int) -> None:
    asked: dict[str, Any] = {"candidates": range(5), "epsilon": 0.5, "max_values_per_unit": most}
    question = planned("histogram", **asked, neighbours=neighbours)
    assert question.mechanism.sensitivity == moved
    away = [abs(count - 10_000) for _ in range(100) for count in drawn(question, [10_000] * 5).answer]
    assert moved * 2 * 0.7 < np.mean(away) < moved * 2 * 1.35  # the mean distance is nearly the scale


def test_the_noise_of_counts_and_sums() -> None:
    count = planned("count", None, epsilon=0.1)
    away = [abs(count.released(5000).answer - 5000) for _ in range(400)]
    assert 7 < np.mean(away) < 13.5
    for neighbours, moved in ((Neighbours.ADD_REMOVE, 30), (Neighbours.REPLACE_ONE, 40)):
        total = planned("sum", "paid", clip=(-1, 3), scale=10, epsilon=1.0, neighbours=neighbours)
        assert total.mechanism.sensitivity == moved
        away = [abs(drawn(total, [100_000]).answer - 10_000) for _ in range(400)]
        assert moved / 10 * 0.7 < np.mean(away) < moved / 10 * 1.35


def test_what_is_below_zero_is_released_as_zero() -> None:
    """Counts cannot be; a sum can."""
    nobody = dps.Dataset(ROWS.slice(0, 0), unit="who")
    counts = [nobody.count(epsilon=0.01).value for _ in range(40)]
    assert min(counts) == 0 < max(counts)
    assert min(nobody.histogram("name", candidates=NAMES, epsilon=0.01).value) >= 0
    sums = [nobody.sum("age", clip=(0, 10), epsilon=0.01).value for _ in range(40)]
    assert min(sums) < 0 < max(sums)


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    ("ask", "error", "named"),
    [
        (lambda data: data.count("name", epsilon=1), InvalidParameterError, "candidates=None"),
        (lambda data: data.count(candidates=["x"], epsilon=1), InvalidParameterError, "column=None"),
        (lambda data: data.count(between=(0, 1), epsilon=1), InvalidParameterError, "column=None"),
        (
            lambda data: data.count("name", candidates=["x"], between=(0, 1), epsilon=1),
            InvalidParameterError,
            "between=<two numbers>",
        ),
        (lambda data: data.count("age", between=(2, 1), epsilon=1), InvalidParameterError, "between="),
        (lambda data: data.count("age", between=(1, None), epsilon=1), InvalidParameterError, "between="),
        (lambda data: data.count("name", between=(0, 1), epsilon=1), InvalidDataError, "column='name'"),
        (lambda data: data.count("name", candidates=[], epsilon=1), InvalidCandidatesError, "candidates="),
        (lambda data: data.count("name", candidates=[1], epsilon=1), InvalidDataError, "candidates=<whole numbers>"),
        (lambda data: data.count("name", candidates=["x", "x"], epsilon=1), InvalidCandidatesError, "candidates="),
        (lambda data: data.count("page", candidates=range(20_000), epsilon=1), InvalidParameterError, "candidates="),
        (lambda data: data.count("nowhere", candidates=["x"], epsilon=1), InvalidDataError, "column='nowhere'"),
        (lambda data: data.count(epsilon=0), InvalidParameterError, "epsilon="),
        (lambda data: data.count(epsilon=1e-30), InvalidParameterError, "epsilon=1e-30"),
        (lambda data: data.count(epsilon=1, usable_epsilon=0.1), InvalidParameterError, "usable_epsilon=0.1"),
        (lambda data: data.histogram("name", candidates=NAMES, epsilon=1e-30), InvalidParameterError, "epsilon=1e-30"),
        (lambda data: data.sum("age", clip=(0, 1), epsilon=1e-305), InvalidParameterError, "epsilon=1e-305"),
        (
            lambda data: data.sum("age", clip=(0, 10**5), scale=1e-5, epsilon=1e-305),
            InvalidParameterError,
            "epsilon=1e-305",
        ),
        (
            lambda data: data.histogram("name", candidates=NAMES, max_values_per_unit=5, epsilon=1),
            InvalidParameterError,
            "max_values_per_unit=5",
        ),
        (
            lambda data: data.histogram("name", candidates=NAMES, max_values_per_unit=0, epsilon=1),
            InvalidParameterError,
            "max_values_per_unit=0",
        ),
        (lambda data: data.histogram("name", candidates=None, epsilon=1), InvalidCandidatesError, "candidates=None"),
        (lambda data: data.histogram("name", epsilon=1), InvalidCandidatesError, "candidates=None"),
        (lambda data: data.sum("name", clip=(0, 1), epsilon=1), InvalidDataError, "column='name'"),
        (lambda data: data.sum("age", clip=(1, 1), epsilon=1), InvalidParameterError, "clip="),
        (lambda data: data.sum("age", clip=(0, 2**40), epsilon=1), InvalidParameterError, "clip="),
        (lambda data: data.sum("age", clip=(0, 1.5), epsilon=1), InvalidParameterError, "clip="),
    ],
)
def test_bad_input_is_refused_in_a_line_and_costs_nothing(
    ask: Any, error: type[Exception], named: str, tmp_path: Path
) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("people", epsilon=1, unit="who")
    data = dps.Dataset(ROWS, unit="who", ledger=ledger, account="people")
    with pytest.raises(error) as raised:
        ask(data)
    assert str(raised.value).startswith(named)
    assert ledger.remaining("people") == 1.0


ASKED: dict[str, Any] = {
    "count": lambda data: data.count("name", candidates=["x", "z"], epsilon=0.5),
    "count of days": lambda data: data.count("free", candidates=[date(2026, 12, 2)], epsilon=0.5),
    "count between": lambda data: data.count("paid", between=(-0.5, 3), epsilon=0.5),
    "count of one number": lambda data: data.count("paid", between=(3, 3), epsilon=0.5),
    "histogram": lambda data: data.histogram("name", candidates=NAMES, max_values_per_unit=2, epsilon=0.5),
    "histogram of days": lambda data: data.histogram("free", candidates=table_questions.DAYS, epsilon=0.5),
    "sum": lambda data: data.sum("paid", clip=(-1.5, 6), scale=100, epsilon=0.5),
    "sum of whole numbers": lambda data: data.sum("age", clip=(0, 60), epsilon=0.5),
}


@pytest.mark.parametrize("name", ASKED)
def test_a_certificate_is_read_back_and_checked(name: str) -> None:
    release = ASKED[name](PEOPLE)
    assert dps.verify(release.to_json()).release == release
    assert check(release.to_json()).error_bound


@pytest.mark.parametrize(
    ("name", "path", "value", "named"),
    [
        ("count", "value", -1, "value"),
        ("count", "value", 1.5, "value"),
        ("count", "arguments.values", ["x", "x"], "arguments"),
        ("count", "arguments.values", [], "arguments"),
        ("count", "arguments.kind", "dates", "arguments.kind"),
        ("count", "arguments.kind", "words", "arguments.kind"),
        ("count", "arguments", {"values": ["x"]}, "arguments.kind"),
        ("count", "candidates", {"count": 2}, "candidates"),
        ("count", "error_bound.within", 8.0, "error_bound"),
        ("count", "mechanism.sensitivity", 2.0, "mechanism.sensitivity"),
        ("count between", "arguments.between", [3.0, -0.5], "arguments"),
        ("count between", "arguments.between", [3.0], "arguments.between"),
        ("histogram", "value", [1, 2, 3], "value"),
        ("histogram", "value", [1, 2, 3, -4], "value"),
        ("histogram", "arguments.max_values_per_unit", 1, "arguments.max_values_per_unit"),
        ("histogram of days", "usable.within", 1, "usable"),
        ("sum", "value", 1.234, "value"),
        ("sum", "arguments.upper", 300, "arguments.upper"),
        ("sum", "arguments.sum", "age", "arguments.sum"),
        ("sum of whole numbers", "value", 12.0, "value"),
    ],
)
def test_what_contradicts_itself_is_refused(name: str, path: str, value: Any, named: str) -> None:
    held = json.loads(ASKED[name](PEOPLE).to_json())
    *inside, last = path.split(".")
    part = held
    for each in inside:
        part = part[each]
    part[last] = value
    with pytest.raises(InvalidCertificateError, match=f"<{named}"):
        check(canonical_json(held | {"digest": digest(held)}))


def test_a_histogram_of_one_value_a_unit_counts_its_units_at_no_cost() -> None:
    release = PEOPLE.histogram("free", candidates=table_questions.DAYS, epsilon=SURE)
    assert release.usable is not None
    assert (release.usable.count, release.usable.epsilon) == (24, None)
    assert PEOPLE.histogram("name", candidates=NAMES, max_values_per_unit=2, epsilon=1).usable is None


def test_the_sum_of_noisy_counts_is_that_of_the_noise_before_it_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else all that is cut off at 0 would add up."""
    noise = np.array([-3, 5, -4, 0], np.int64)
    monkeypatch.setattr(GeometricMechanism, "draw_many", lambda _, given: np.asarray(given) + noise)
    question = planned("histogram", candidates=range(4), epsilon=1.0)
    found = drawn(question, [1, 1, 1, 1])
    assert (found.answer, found.usable) == ([0, 6, 0, 1], 2)


def test_a_histogram_takes_the_noise_with_the_smaller_bound(tmp_path: Path) -> None:
    """By public arguments; geometric noise costs no delta. In groups each has its share of delta."""
    ledger = dps.Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.open_account("people", epsilon=10.0, delta=1e-5, set_aside=1e-5, unit="who")
    data = dps.Dataset(ROWS, unit="who", ledger=ledger, account="people")
    asked: dict[str, Any] = {"candidates": range(200), "epsilon": 1.0, "delta": 1e-6}
    found = {most: data.histogram("page", max_values_per_unit=most, **asked) for most in (1, 20)}
    assert [(each.mechanism, each.delta, each.arguments["noise"]) for each in found.values()] == [
        ("GeometricMechanism", 0.0, "geometric"),
        ("DiscreteGaussianMechanism", 1e-6, "gaussian"),
    ]
    pure = data.histogram("page", candidates=range(200), epsilon=1.0, max_values_per_unit=20)
    assert found[20].error_bound < pure.error_bound  # type: ignore[operator]
    assert "noise" not in pure.arguments
    for release in (*found.values(), pure):
        checked = check(release.to_json(), ledger=ledger)
        assert (checked.epsilon, checked.error_bound, checked.charged) == (1.0, True, True)
    parts: dict[str, Any] = {"by": "city", "groups": ["south", "north"], "max_groups_per_unit": 2}
    grouped = data.by(**parts).histogram("page", max_values_per_unit=20, **asked)
    assert grouped.delta <= 1e-6
    assert grouped.event == dps.accounting.ComposedEvent(
        event=dps.accounting.ApproximateEvent(epsilon=0.5, delta=5e-7), count=2
    )
    said = dps.DryRun(unit="who").histogram("page", max_values_per_unit=20, **asked)
    assert "with Gaussian noise, because geometric noise would have a larger error bound" in str(said)
    said = dps.DryRun(unit="who").histogram("page", **asked)
    assert "with geometric noise and no delta" in str(said)


def test_gaussian_counts_are_those_of_the_table() -> None:
    found = PEOPLE.histogram("name", candidates=NAMES, max_values_per_unit=4, epsilon=30.0, delta=0.5)
    exact = PEOPLE.histogram("name", candidates=NAMES, max_values_per_unit=4, epsilon=SURE).value
    assert found.mechanism in ("DiscreteGaussianMechanism", "GeometricMechanism")
    assert all(abs(one - other) <= 20 for one, other in zip(found.value, exact, strict=True))


@pytest.mark.parametrize("delta", [1.0, -1e-6, float("nan"), "1e-6", None])
def test_a_delta_out_of_range_is_refused_before_anything_is_charged(delta: Any, tmp_path: Path) -> None:
    ledger = dps.Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.open_account("people", epsilon=1.0, delta=1e-6, unit="who")
    data = dps.Dataset(ROWS, unit="who", ledger=ledger, account="people")
    with pytest.raises(InvalidParameterError, match=r"^delta=") as refused:
        data.histogram("name", candidates=NAMES, epsilon=1.0, delta=delta)
    assert "\n" not in str(refused.value)
    assert ledger.remaining("people") == 1.0


def test_a_certificate_of_another_noise_contradicts_itself() -> None:
    release = PEOPLE.histogram("page", candidates=range(200), max_values_per_unit=20, epsilon=1.0, delta=1e-6)
    held = json.loads(release.to_json())
    for edit in (
        {"arguments": {**held["arguments"], "noise": "geometric"}},
        {"arguments": {"max_values_per_unit": 20}},
        {"arguments": {**held["arguments"], "max_values_per_unit": 10}},
        {"guarantee": {**held["guarantee"], "delta": 1e-7}},
        {"mechanism": {**held["mechanism"], "name": "GeometricMechanism"}},
        {"mechanism": {**held["mechanism"], "sensitivity": 20.0}},
    ):
        with pytest.raises(InvalidCertificateError):
            check(canonical_json(held | edit | {"digest": digest(held | edit)}))
