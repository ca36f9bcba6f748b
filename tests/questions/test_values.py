"""Which values occur at all: names, their order, their cost, their certificate and bad input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dpselect as dps
from dpselect import verify as check
from dpselect.accounting import ApproximateEvent, ComposedEvent, SequenceEvent
from dpselect.cli import main
from dpselect.errors import ChargeRefusedError, InvalidCertificateError, InvalidDataError, InvalidParameterError
from tests.drawn_answers import drawn, handed, planned
from tests.edited_certificates import edited
from tests.rows import model
from tests.rows.table_questions import BY_CITY, DAYS, ROWS
from tests.views import ask

PEOPLE = dps.Dataset(ROWS, unit="who")
LISTED = ROWS.to_pylist()
SURE: dict[str, Any] = {"epsilon": 1e5, "delta": 0.5}
"""Whatever two units have is named for certain."""


def large(counts: dict[Any, int]) -> list[Any]:
    """In order, those that are certain."""
    assert all(count > 1 for count in counts.values())
    return sorted(counts)


def test_names_of_every_kind_without_a_list() -> None:
    for column, kind in (("page", "whole numbers"), ("name", "text"), ("free", "dates"), ("paid", "numbers")):
        release = PEOPLE.values(column, max_values_per_unit=9, **SURE)
        (expected,) = model.names(LISTED, "who", column, kind, most=9)
        assert release.value == large(expected)
        assert dps.verify(release.to_json()).release.value == release.value
    assert PEOPLE.values("free", max_values_per_unit=9, **SURE).value == DAYS


def test_names_in_groups() -> None:
    found = PEOPLE.by(**BY_CITY).values("name", max_values_per_unit=9, **SURE).value
    groups = {"group": "city", "groups": ["south", "north"]}
    expected = model.names(LISTED, "who", "name", "text", most=9, **groups)
    assert [*found.items()] == [*zip(["south", "north"], map(large, expected), strict=True)]
    task = "values"
    both = PEOPLE.by("name", groups=["x", "y"], max_groups_per_unit=2).values(
        "page", max_values_per_unit=2, epsilon=1, delta=0.1
    )
    assert both.event == ComposedEvent(event=ApproximateEvent(epsilon=0.5, delta=0.05), count=2)
    assert (both.task, both.delta) == (task, 0.1)
    check(both.to_json())


def test_what_is_read_by_default() -> None:
    """A column's own type; text where there is none."""
    types = {"page": "whole numbers", "name": "text", "free": "dates", "paid": "numbers"}
    for column, kind in types.items():
        assert PEOPLE.values(column, **SURE).candidates == {"origin": "rows", "kind": kind}
    people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    asked = {"epsilon": 1.0, "delta": 1e-6}
    assert people.values("education_num", **asked).value == sorted(map(str, range(1, 17)))
    assert people.values("education_num", kind="integer", **asked).value == [*range(1, 17)]
    assert people.values("education_num", kind="number", **asked).value == [float(each) for each in range(1, 17)]
    assert people.values("education_num", kind="date", **asked).value == []


def test_a_declared_format_changes_what_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("who,what\n" + "".join(f'{who},"{what}"\n' for who, what in enumerate(["A ", "a", " a", "B"] * 9)))
    lower = dps.Dataset(path, unit="who", format=dps.Format(ignore_case=True, trim=True))
    assert lower.values("what", **SURE).value == ["a", "b"]
    assert dps.Dataset(path, unit="who").values("what", **SURE).value == [" a", "A ", "B", "a"]


def test_rare_values_are_hardly_ever_named_and_order_tells_nothing() -> None:
    rows = pa.table({"who": range(2000), "what": [*range(1000, 0, -1), *([5000, 40, 3000] * 400)][:2000]})
    data = dps.Dataset(rows, unit="who")
    for _ in range(20):
        assert data.values("what", epsilon=1.0, delta=1e-9).value == [40, 3000, 5000]


def test_names_follow_the_number_of_units_alone() -> None:
    task = planned("values", epsilon=0.5, delta=0.1)
    counts = {"b": 2, "a": 40, "c": 1}
    answers = [drawn(task, counts).answer for _ in range(1000)]
    assert all(names == sorted(names) and "a" in names for names in answers)
    for name, count in (("b", 2), ("c", 1)):
        share = sum(name in names for names in answers) / len(answers)
        assert abs(share - task.mechanism.probability(count)) < 0.1  # 6 standard deviations
    assert repr(handed(task, counts)) == "NameCounts(<private>)"


def test_the_cost_is_charged_with_its_delta(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/budget.db"
    ledger = dps.Ledger(url)
    ledger.open_account("both", epsilon=3.0, delta=1e-5, set_aside=2e-6)
    ledger.open_account("pure", epsilon=3.0)
    asked: dict[str, Any] = {"max_values_per_unit": 2, "epsilon": 1.0, "delta": 1e-6}
    release = dps.Dataset(ROWS, unit="who", ledger=ledger, account="both").values("name", **asked)
    assert release.event == ApproximateEvent(epsilon=1.0, delta=1e-6)
    assert check(release.to_json(), ledger=ledger).charged
    pure = dps.Dataset(ROWS, unit="who", ledger=ledger, account="pure")
    with pytest.raises(ChargeRefusedError, match=r"has no delta set aside .* \(set_aside, --set-aside\)"):
        pure.values("name", **asked)
    assert ledger.remaining("pure") == 3.0
    dry = dps.DryRun(unit="who", ledger=ledger, account="pure").values("name", **asked)
    assert dry.fits is False
    assert dry.charge.startswith("Refused: account 'pure' has no delta set aside for this question: open")
    again = dps.DryRun(unit="who", ledger=ledger, account="both").values("name", **asked)
    assert again.fits is True
    assert again.charge == "Account both would accept it: it has epsilon = 2.0 left."


def test_the_number_of_units_comes_for_more_epsilon_where_it_is_known() -> None:
    release = PEOPLE.values("name", epsilon=1e5, delta=0.5, usable_epsilon=1e5)
    assert release.usable is not None
    assert [release.usable.count] == model.usable_units(LISTED, "who", matched=("name", ["x", "y", "z", "X", "w"]))
    assert isinstance(release.event, SequenceEvent)
    assert check(release.to_json()).epsilon == 2e5
    with pytest.raises(
        InvalidParameterError, match=r"usable_epsilon=1\.0: expected nothing, unless max_values_per_unit is 1"
    ):
        PEOPLE.values("name", epsilon=1.0, delta=0.5, usable_epsilon=1.0, max_values_per_unit=2)


def test_many_values_of_a_unit_take_gaussian_noise() -> None:
    rows = pa.table({"who": [*range(600)] * 3, "what": ["b"] * 600 + ["a"] * 600 + ["c"] * 590 + ["rare"] * 10})
    data = dps.Dataset(rows, unit="who")
    release = data.values("what", epsilon=1.0, delta=1e-6, max_values_per_unit=10)
    assert (release.mechanism, release.value) == ("GaussianThresholdCounts", ["a", "b", "c"])
    assert release.arguments["half_named_at"] == 81
    assert release.rule == (
        "Gaussian noise is added to all counts, because a value is then named with probability one half at 81 units"
        " (with coins at 132)."
    )
    assert release.proofs[1] == "proofs/discrete_gaussian.md"
    assert "at 81 units the probability reaches one half" in release.accuracy
    assert check(release.to_json()).error_bound
    dry: Any = dps.DryRun(unit="who")
    asked = dry.values("what", kind="text", epsilon=1.0, delta=1e-6, max_values_per_unit=10)
    assert (asked.rule, asked.mechanism) == (release.rule, release.mechanism)
    few = data.values("what", epsilon=1.0, delta=1e-6, max_values_per_unit=3)
    assert few.rule.startswith("Each value is named by a coin, because a value is then named with probability one half")
    assert few.mechanism == "PartitionSelection"


BAD: list[tuple[dict[str, Any], str]] = [
    ({"delta": 0}, "delta=0: expected a number strictly between 0 and 1. Without public candidates nothing"),
    ({"delta": None}, "delta=None: expected a number strictly between 0 and 1"),
    ({"delta": 1}, "delta=1: expected a number strictly between 0 and 1"),
    ({"delta": -0.1}, "delta"),
    ({"delta": float("nan")}, "delta"),
    ({"epsilon": 0}, "epsilon"),
    ({"epsilon": "1"}, "epsilon"),
    ({"max_values_per_unit": 0}, "max_values_per_unit=0"),
    ({"max_values_per_unit": 2.0}, "max_values_per_unit"),
    ({"max_values_per_unit": True}, "max_values_per_unit"),
    ({"max_values_per_unit": 10**10}, "max_values_per_unit=10000000000"),
    ({"kind": "boolean", "max_values_per_unit": 3}, "max_values_per_unit=3: expected at most 2 (the number of boo"),
    ({"kind": "words"}, "kind='words': expected one of 'integer', 'number', 'text', 'date', 'boolean'"),
    ({"kind": 7}, "kind=7"),
    ({"kind": "date"}, "kind=<dates>"),
    ({"by": "city", "groups": ["south"], "delta": 0}, "delta=0"),
    ({"column": "nothing"}, "column"),
    ({"column": "who"}, "another column than the unit"),
]


@pytest.mark.parametrize(("change", "said"), BAD)
@pytest.mark.parametrize("dry", [False, True])
def test_bad_input_is_refused_in_one_line(change: dict[str, Any], said: str, dry: bool, tmp_path: Path) -> None:
    ledger = dps.Ledger(f"sqlite:///{tmp_path}/budget.db")
    ledger.open_account("a", epsilon=3.0, delta=0.2, set_aside=0.1)
    paid: dict[str, Any] = {"unit": "who", "ledger": ledger, "account": "a"}
    data: Any = dps.DryRun(source=ROWS, **paid) if dry else dps.Dataset(ROWS, **paid)
    asked = {"column": "name", "epsilon": 1.0, "delta": 1e-6} | change
    with pytest.raises((InvalidParameterError, InvalidDataError)) as refused:
        ask(data, "values", **asked)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert ledger.remaining("a") == 3.0


EDITS: list[tuple[dict[str, Any], str]] = [
    ({"value": ["z", "x"]}, "value"),
    ({"value": ["x", "x"]}, "value"),
    ({"value": ["x", 3]}, "value"),
    ({"value": "x"}, "value"),
    ({"value": [""]}, "value"),
    ({"guarantee__delta": 1e-7}, "guarantee"),
    ({"guarantee__epsilon": 0.5}, "epsilon|guarantee"),
    ({"arguments__half_named_at": 13}, "arguments"),
    ({"arguments__max_values_per_unit": 2}, "arguments|error_bound"),
    ({"arguments__max_values_per_unit": 0}, "arguments"),
    ({"arguments__half_named_at": 0}, "arguments"),
    ({"error_bound__within": 17.0}, "error_bound"),
    ({"error_bound": None}, "error_bound"),
    ({"candidates__kind": "words"}, "candidates"),
    ({"candidates__origin": "caller"}, "candidates"),
    ({"candidates": {"kind": "text"}}, "candidates"),
    ({"mechanism__name": "GeometricMechanism"}, "mechanism"),
    ({"mechanism__monotonic": False}, "mechanism"),
    ({"event": {"kind": "pure", "epsilon": "1.0", "version": 1}}, "event"),
]


@pytest.mark.parametrize(("changes", "field"), EDITS)
def test_an_edited_certificate_contradicts_itself(changes: dict[str, Any], field: str) -> None:
    text = PEOPLE.values("name", epsilon=1.0, delta=1e-6).to_json()
    assert check(edited(text)).error_bound
    with pytest.raises(InvalidCertificateError, match=field):
        check(edited(text, **changes))


def test_more_values_or_none_are_allowed() -> None:
    """The holder of the rows alone knows which there are."""
    text = PEOPLE.values("name", epsilon=1.0, delta=1e-6).to_json()
    for value in ([], ["anything", "else"]):
        check(edited(text, value=value))


def test_the_command_line_shows_names_and_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text("who,what\n" + "".join(f"{who},{what}\n" for who, what in enumerate(["a", "line\tbreak"] * 50)))
    asked = ["values", str(path), "what", "--unit", "who", "--epsilon", "1", "--delta", "1e-6"]
    assert main([*asked]) == 0
    shown = capsys.readouterr().out
    assert "1  a\n" in shown
    assert r'2  "line\tbreak"' in shown
    assert "a value that at least 18 units (who) have is named" in shown
    assert main([*asked, "--kind", "integer"]) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines()[0].split() == ["number", "what"]
    assert main([*asked, "--kind", "integer", "--quiet"]) == 0
    assert capsys.readouterr().out.strip() == ""
    assert main([*asked, "--dry-run"]) == 0
    assert "at 14 units the probability reaches one half" in capsys.readouterr().out
    assert main([*asked[:-1], "0"]) == 2
    assert "delta" in capsys.readouterr().err


def test_a_delta_that_is_too_large_for_the_units_is_said_where_their_number_is_released() -> None:
    asked: dict[str, Any] = {"epsilon": 5.0, "usable_epsilon": 50.0}
    warned = PEOPLE.values("name", delta=0.01, **asked)
    assert "WARNING: delta = 0.01 is not far below one over the number of units (who), about 2" in warned.basis
    assert "delta" not in PEOPLE.values("name", delta=1e-4, **asked).basis
    assert "delta" not in PEOPLE.values("name", delta=1e-3, epsilon=5.0).basis  # no number is public
    in_groups = PEOPLE.by(**BY_CITY).values("name", delta=0.01, **asked)
    assert "WARNING: delta = 0.01" in in_groups.basis


def test_one_unit_is_said_in_the_singular() -> None:
    forecast = dps.DryRun(unit="who").values("city", epsilon=100.0, delta=0.9)
    assert "at 1 unit the probability reaches one half" in forecast.accuracy


@pytest.mark.parametrize("clip", [(0, 0), (5, 1)])
def test_an_empty_clip_is_told_what_a_clip_is(clip: tuple[int, int]) -> None:
    with pytest.raises(dps.errors.InvalidParameterError, match=r"lower < upper\. They are public: what one unit may"):
        dps.DryRun(unit="who").sum("age", clip=clip, epsilon=1.0)


@pytest.mark.parametrize("task", ["values", "top_k", "top_k without candidates"])
def test_a_delta_that_is_large_for_any_number_of_units_is_said_where_none_is_released(task: str) -> None:
    said = "WARNING: delta = 0.01 is not far below one over the number of units (who): the guarantee may fail"
    for people in (PEOPLE, dps.DryRun(unit="who")):
        asked: dict[str, Any] = {"epsilon": 1.0, "delta": 0.01}
        if task == "values":
            told: Any = people.values("name", **asked, **({} if people is PEOPLE else {"kind": "text"}))
        elif task == "top_k":
            told = people.top_k("name", 2, candidates=["a", "b", "c"], **asked)
        else:
            told = people.top_k("name", 2, candidates=None, **asked)
        assert said in told.basis
        assert said in str(told)
