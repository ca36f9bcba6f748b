"""The k most common values without a list: their order, their counts, their cost, their certificate and bad input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect import verify as check
from dpselect.accounting import ApproximateEvent
from dpselect.cli import main
from dpselect.errors import (
    ChargeRefusedError,
    InvalidCandidatesError,
    InvalidCertificateError,
    InvalidDataError,
    InvalidParameterError,
)
from tests.drawn_answers import drawn, planned
from tests.edited_certificates import edited
from tests.rows import model
from tests.rows.table_questions import BY_CITY, ROWS
from tests.views import ask

PEOPLE = dps.Dataset(ROWS, unit="who")
LISTED = ROWS.to_pylist()
SURE: dict[str, Any] = {"epsilon": 1e5, "delta": 0.5}
"""The noise is 0, and the threshold is 2."""


def ranked(counts: dict[Any, int], k: int) -> list[tuple[int, Any]]:
    """By count, and then by value."""
    return sorted((-count, value) for value, count in counts.items() if count >= 2)[:k]


@pytest.mark.parametrize("column", ["page", "name", "free", "paid"])
@pytest.mark.parametrize("k", [1, 3, 100])
def test_values_and_counts_without_noise(column: str, k: int) -> None:
    kind = {"page": "whole numbers", "name": "text", "free": "dates", "paid": "numbers"}[column]
    (expected,) = model.names(LISTED, "who", column, kind, most=9)
    release = PEOPLE.top_k(column, k, max_values_per_unit=9, **SURE)
    assert [*zip(release.counts, release.value, strict=True)] == [(-c, v) for c, v in ranked(expected, k)]
    again = dps.verify(release.to_json()).release
    assert (again.value, again.counts) == (release.value, release.counts)
    check(release.to_json())


def test_values_in_groups() -> None:
    release = PEOPLE.by(**BY_CITY).top_k("name", 2, max_values_per_unit=9, **SURE)
    groups = {"group": "city", "groups": ["south", "north"]}
    expected = model.names(LISTED, "who", "name", "text", most=9, **groups)
    assert [*release.value.values()] == [[value for _, value in ranked(each, 2)] for each in expected]
    assert [*release.counts.values()] == [[-count for count, _ in ranked(each, 2)] for each in expected]
    check(release.to_json())
    nobody = PEOPLE.by("city", groups=["east", "nowhere"]).top_k("name", 2, **SURE)
    assert nobody.value == nobody.counts == {"east": [], "nowhere": []}
    check(nobody.to_json())


def test_fewer_values_than_asked_for_are_a_stop() -> None:
    release = PEOPLE.top_k("name", 50, max_values_per_unit=9, **SURE)
    assert f"Released: {len(release.value)} of 50. No other noisy count reaches the threshold." in str(release)
    assert "Released:" not in str(PEOPLE.top_k("name", 1, max_values_per_unit=9, **SURE))
    none = dps.Dataset(ROWS.slice(0, 0), unit="who").top_k("name", 3, epsilon=1.0, delta=1e-6)
    assert (none.value, none.counts) == ([], [])
    assert "Released: 0 of 3." in str(none)
    assert "nothing in the column could be read as text" in str(none)
    check(none.to_json())


def test_equal_counts_come_in_the_order_of_values() -> None:
    task = planned("top_k", k=2, epsilon=1e5, delta=0.5)
    for names in (["c", "a", "d", "b"], ["b", "d", "a", "c"]):
        assert drawn(task, dict.fromkeys(names, 7)).answer == ["a", "b"]


GAUSSIAN = ((9, "add_remove", 22), (9, "replace_one", 31))
"""About 4.7 sqrt(t)/epsilon sqrt(2/pi) for t changed counts."""


def test_the_noise_covers_what_one_unit_changes() -> None:
    exact = {str(name): 100_000 for name in range(400)}
    for most, neighbours, deviation in ((1, "add_remove", 2), (2, "add_remove", 4), (1, "replace_one", 4), *GAUSSIAN):
        task = planned(
            "top_k", k=400, epsilon=0.5, delta=1e-6, max_values_per_unit=most, with_counts=True, neighbours=neighbours
        )
        counts = drawn(task, exact).counted
        assert counts is not None
        assert counts == sorted(counts, reverse=True)
        assert deviation * 0.7 < np.mean(np.abs(np.array(counts) - 100_000)) < deviation * 1.35


def test_the_cost_is_charged_with_its_delta(tmp_path: Path) -> None:
    ledger = dps.Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.open_account("both", epsilon=3.0, delta=1e-5, set_aside=2e-6)
    ledger.open_account("pure", epsilon=3.0)
    asked: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}
    release = dps.Dataset(ROWS, unit="who", ledger=ledger, account="both").top_k("name", 3, **asked)
    assert release.event == ApproximateEvent(**asked)
    assert check(release.to_json(), ledger=ledger).charged
    with pytest.raises(ChargeRefusedError, match="set_aside"):
        dps.Dataset(ROWS, unit="who", ledger=ledger, account="pure").top_k("name", 3, **asked)
    assert ledger.remaining("pure") == 3.0


def test_the_number_of_units_comes_for_more_epsilon_where_it_is_known() -> None:
    release = PEOPLE.top_k("name", 2, **SURE, usable_epsilon=1e5)
    assert release.usable is not None
    assert [release.usable.count] == model.usable_units(LISTED, "who", matched=("name", ["x", "y", "z", "X", "w"]))
    assert check(release.to_json()).epsilon == 2e5


FEW: dict[str, Any] = {"epsilon": 4.0, "delta": 1e-3, "max_values_per_unit": 9}
"""A stop candidate needs fewer units than noise."""

MANY = pa.table({"who": [*range(900), *range(300)], "name": ["x"] * 900 + ["y"] * 200 + ["z"] * 100})


def test_a_stop_candidate_gives_values_without_counts() -> None:
    release = dps.Dataset(MANY, unit="who").top_k("name", 2, **FEW)
    assert (release.mechanism, release.rounds, release.counts, release.counted) == ("StopCandidate", 2, None, None)
    assert release.value == ["x", "y"]
    half = release.arguments["half_released_at"]
    assert release.rule.startswith(
        "A stop candidate ends the answer, because a value is then released with probability"
    )
    assert f"one half at {half} units (with geometric noise at" in release.rule
    assert f"is drawn before the answer stops, or the answer has 2 others (at {half} units" in release.accuracy
    assert release.count_accuracy == ""
    assert release.rule in str(release)
    assert release.proofs[:2] == ("proofs/unknown_candidates.md", "proofs/stop_candidate.md")
    again = dps.verify(release.to_json()).release
    assert (again.value, again.counts) == (release.value, None)
    checked = check(release.to_json())
    assert (checked.epsilon, checked.error_bound) == (4.0, True)
    assert release.to_pandas()["released"].tolist() == ["x", "y"]


def test_a_stop_candidate_that_is_drawn_is_a_stop() -> None:
    release = dps.Dataset(MANY, unit="who").top_k("name", 9, **(FEW | {"max_values_per_unit": 1000, "epsilon": 8.0}))
    assert release.mechanism == "StopCandidate"
    assert release.value == ["x", "y", "z"]
    assert "Released: 3 of 9. The stop candidate was drawn next." in str(release)
    none = dps.Dataset(MANY.slice(0, 0), unit="who").top_k("name", 2, **FEW)
    assert (none.value, none.counts) == ([], None)
    assert "Released: 0 of 2. The stop candidate was drawn next." in str(none)
    check(none.to_json())


def test_a_stop_candidate_in_groups() -> None:
    table = MANY.append_column("city", pa.array(["south"] * 1050 + ["north"] * 150))
    asked: dict[str, Any] = {**FEW, "by": "city", "groups": ["south", "north", "nowhere"]}
    release = ask(dps.Dataset(table, unit="who"), "top_k", "name", 2, **asked)
    assert release.mechanism == "StopCandidate"
    assert release.value == {"south": ["x", "y"], "north": ["z", "y"], "nowhere": []}
    assert release.counts is None
    check(release.to_json())
    both = ask(dps.Dataset(table, unit="who"), "top_k", "name", 2, **asked, max_groups_per_unit=2)
    assert both.groups is not None
    assert both.groups["epsilon"] == 2.0
    check(both.to_json())


def test_counts_that_are_asked_for_come() -> None:
    release = dps.Dataset(MANY, unit="who").top_k("name", 2, **FEW, with_counts=True)
    assert release.mechanism in {"GaussianThresholdCounts", "ThresholdCounts"}
    assert release.value == ["x", "y"]
    assert abs(release.counts[0] - 900) < 60
    assert "stop candidate" not in release.rule
    assert release.arguments["with_counts"] is True
    check(release.to_json())


def test_gaussian_noise_gives_values_and_counts() -> None:
    asked: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "max_values_per_unit": 10}
    release = dps.Dataset(MANY, unit="who").top_k("name", 10, **asked)
    assert (release.mechanism, release.arguments["threshold"]) == ("GaussianThresholdCounts", 81)
    assert release.rule.startswith("Gaussian noise is added to all counts, because")
    assert release.value[:1] == ["x"]
    assert abs(release.counts[0] - 900) < 150
    assert "reaches the threshold of 81 (at 81 units the probability passes one half)" in release.accuracy
    assert "proofs/discrete_gaussian.md" in release.proofs
    assert check(release.to_json()).error_bound


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("k", [1, 3, 40])
@pytest.mark.parametrize("most", [1, 8, 10**6])
def test_every_choice_has_a_certificate(neighbours: Any, k: int, most: int) -> None:
    data = dps.Dataset(MANY, unit="who", neighbours=neighbours)
    release = data.top_k("name", k, epsilon=1.0, delta=1e-6, max_values_per_unit=most)
    checked = check(release.to_json())
    assert (checked.epsilon, checked.release.delta) == (1.0, 1e-6)
    dry: Any = dps.DryRun(unit="who", neighbours=neighbours)
    forecast = dry.top_k("name", k, epsilon=1.0, delta=1e-6, max_values_per_unit=most)
    assert forecast.rule == release.rule
    assert forecast.mechanism == release.mechanism
    assert forecast.rule in str(forecast)


def test_the_stop_candidate_draws_once_for_each_release(monkeypatch: pytest.MonkeyPatch) -> None:
    """The draw sees each value's count, in the order of the summary."""
    given: list[list[int]] = []

    def select(self: Any, counts: Any) -> np.ndarray:
        given.append(counts.tolist())
        return np.array([1])

    monkeypatch.setattr(dps.mechanisms.StopCandidate, "select", select)
    task = planned("top_k", k=1, epsilon=1.0, delta=1e-6, max_values_per_unit=100)
    assert drawn(task, {"b": 3, "a": 9}).answer == ["a"]
    assert given == [[3, 9]]


BAD: list[tuple[dict[str, Any], str]] = [
    ({"delta": 0}, "the public list of values to choose from, or a delta above 0"),
    ({"delta": 0.0}, "or give a delta, such as 1e-6"),
    ({"delta": 1}, "delta=1: expected a number strictly between 0 and 1"),
    ({"delta": None}, "delta=None"),
    ({"delta": float("nan")}, "delta"),
    ({"k": 0}, "k=0"),
    ({"k": 1.5}, "k=1.5"),
    ({"k": 10**9}, "k="),
    ({"epsilon": 0}, "epsilon"),
    ({"epsilon": 1e-300}, "large enough for a count to be released"),
    ({"max_values_per_unit": 0}, "max_values_per_unit=0"),
    ({"max_values_per_unit": 2, "usable_epsilon": 1.0}, "nothing, unless max_values_per_unit is 1"),
    ({"with_counts": 1}, "with_counts=1"),
    ({"column": "nothing"}, "column"),
    ({"max_values_per_unit": 10**10}, "max_values_per_unit=10000000000"),
    ({"column": "free", "max_values_per_unit": 3_652_060}, "at most 3652059 (the number of days"),
    (
        {"column": "smokes", "max_values_per_unit": 3},
        "max_values_per_unit=3: expected at most 2 (the number of booleans)",
    ),
]


@pytest.mark.parametrize(("change", "said"), BAD)
@pytest.mark.parametrize("dry", [False, True])
def test_bad_input_is_refused_in_one_line(change: dict[str, Any], said: str, dry: bool, tmp_path: Path) -> None:
    ledger = dps.Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.open_account("a", epsilon=3.0, delta=0.2, set_aside=0.1)
    paid: dict[str, Any] = {"unit": "who", "ledger": ledger, "account": "a"}
    rows = ROWS.append_column("smokes", pa.array([True] * len(ROWS)))
    data: Any = dps.DryRun(source=rows, **paid) if dry else dps.Dataset(rows, **paid)
    asked = {"column": "name", "k": 2, "epsilon": 1.0, "delta": 1e-6} | change
    with pytest.raises((InvalidParameterError, InvalidDataError, InvalidCandidatesError)) as refused:
        data.top_k(**asked)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert ledger.remaining("a") == 3.0


NO_LIST: list[Any] = [
    lambda: PEOPLE.most_common("name", epsilon=1.0),
    lambda: PEOPLE.least_common("name", epsilon=1.0),
    lambda: PEOPLE.best_by("name", sum="paid", clip=(0, 1), epsilon=1.0),
    lambda: PEOPLE.histogram("name", candidates=None, epsilon=1.0),
    lambda: PEOPLE.most_common("name", candidates=["x", "x"], epsilon=1.0),
    lambda: dps.check(ROWS, "name", unit="who", sum="paid", clip=(0, 1)),
]


@pytest.mark.parametrize("ask", NO_LIST)
def test_questions_without_candidates_name_the_ways_out(ask: Any) -> None:
    with pytest.raises(InvalidCandidatesError, match=r"values and top-k, with a delta, name what enough") as refused:
        ask()
    assert "\n" not in str(refused.value)


def test_groups_without_a_list_have_a_way_out() -> None:
    with pytest.raises(InvalidCandidatesError, match=r"values, with a delta, names the groups that enough units have"):
        PEOPLE.by("city").most_common("name", candidates=["x", "y"], epsilon=1.0)


@pytest.mark.parametrize("command", ["most-common", "least-common", "histogram"])
def test_commands_without_candidates_name_the_ways_out(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = "examples/data/clicks.parquet"
    for more in ([], ["--candidates", f"@{path}"]):
        assert main([command, path, "page", "--unit", "session", "--epsilon", "1", *more]) == 2
        said = capsys.readouterr().err
        assert "top-k" in said
        assert "delta" in said
        assert said.count("\n") == 1


EDITS: list[tuple[dict[str, Any], str]] = [
    ({"value": ["x", "x"]}, "value"),
    ({"value": ["x", "y", "z"]}, "value"),
    ({"value": ["x"]}, "counts"),
    ({"counts__count": [3]}, "counts"),
    ({"counts__count": 3}, "counts"),
    ({"counts__count": [-1, 4]}, "counts"),
    ({"counts__within": 3}, "counts"),
    ({"guarantee__delta": 1e-7}, "guarantee"),
    ({"arguments__threshold": 14}, "arguments"),
    ({"arguments__k": 0}, "arguments"),
    ({"arguments__max_values_per_unit": 2}, "arguments|error_bound"),
    ({"error_bound__within": 9.0}, "error_bound"),
    ({"candidates__origin": "caller"}, "candidates"),
    ({"mechanism__name": "GeometricMechanism"}, "mechanism"),
    ({"task": "top_k"}, "candidates|arguments"),
    ({"arguments__rule": "geometric noise"}, "arguments"),
    ({"arguments__with_counts": True}, "arguments"),
    ({"arguments__with_counts": 1}, "arguments"),
    ({"mechanism__name": "GaussianThresholdCounts"}, "mechanism"),
    ({"mechanism__name": "StopCandidate"}, "mechanism.name"),
]


@pytest.mark.parametrize(("changes", "field"), EDITS)
def test_an_edited_certificate_contradicts_itself(changes: dict[str, Any], field: str) -> None:
    text = PEOPLE.top_k("name", 2, epsilon=5.0, delta=1e-3).to_json()
    assert check(edited(text)).error_bound
    with pytest.raises(InvalidCertificateError, match=field):
        check(edited(text, **changes))


STOP_EDITS: list[tuple[dict[str, Any], str]] = [
    ({"value": ["x", "x"]}, "value"),
    ({"value": ["x", "y", "z"]}, "value"),
    ({"counts": {"count": [3, 2], "within": 3, "confidence": 0.99}}, "counts"),
    ({"mechanism__rounds": 1}, "mechanism"),
    ({"mechanism__name": "ThresholdCounts"}, "mechanism.name"),
    ({"guarantee__delta": 1e-7}, "guarantee"),
    ({"arguments__half_released_at": 5}, "arguments"),
    ({"arguments__k": 3}, "arguments|mechanism|error_bound"),
    ({"arguments__max_values_per_unit": 2}, "arguments|error_bound|mechanism"),
    ({"error_bound__within": 3.0}, "error_bound"),
    ({"proofs": ["proofs/unknown_candidates.md"]}, "proofs"),
]


@pytest.mark.parametrize(("changes", "field"), STOP_EDITS)
def test_an_edited_certificate_of_a_stop_candidate_contradicts_itself(changes: dict[str, Any], field: str) -> None:
    text = dps.Dataset(MANY, unit="who").top_k("name", 2, **FEW).to_json()
    assert check(edited(text)).error_bound
    with pytest.raises(InvalidCertificateError, match=field):
        check(edited(text, **changes))


def test_the_command_line_needs_no_candidates_with_a_delta(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["top-k", "examples/data/clicks.parquet", "page", "3", "--unit", "session", "--epsilon", "1"]
    assert main([*asked, "--delta", "1e-6", "--max-values-per-unit", "3"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in shown[:4]] == [["rank", "page"], ["1", "6"], ["2", "3"], ["3", "11"]]
    assert main([*asked, "--delta", "1e-6", "--dry-run"]) == 0
    assert "reaches the threshold of 15 (at 15 units the probability passes one half)" in capsys.readouterr().out
    assert main(asked) == 2
    assert "or a --delta above 0" in capsys.readouterr().err
    assert main([*asked, "--delta", "1e-6", "--candidates-as", "text"]) == 2
    assert "candidates" in capsys.readouterr().err
