"""Which mechanism draws the selections of a plan with a delta: the one whose planned errors are smaller in all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dpselect as dps
from dpselect.accounting import BoundedRangeEvent
from dpselect.accounting.events import from_json
from dpselect.certificates import check
from dpselect.errors import AnswerLostError, InvalidParameterError
from tests.backends.tables import write_csv

FEW: dict[str, Any] = {"ask": "most_common", "column": "town", "candidates": ["A", "B"]}
MANY: dict[str, Any] = {"ask": "least_common", "column": "age", "candidates": "1..1000"}
SUMS: dict[str, Any] = {"ask": "best_by", "column": "town", "candidates": ["A", "B"], "sum": "age", "clip": [0, 99]}
COUNT: dict[str, Any] = {"ask": "count"}
FLIP = {"method": "permute-and-flip"}


def forecast(questions: dict[str, dict[str, Any]], epsilon: float = 1.0, **about: Any) -> dps.PlanForecast:
    return dps.Plan(table="nowhere.csv", unit="who", epsilon=epsilon, questions=questions, **about).forecast()


def times(question: dict[str, Any], count: int) -> dict[str, dict[str, Any]]:
    return {f"q{place}": question for place in range(count)}


def mechanisms(found: dps.PlanForecast) -> set[str]:
    return {each.terms.mechanism for each in found.values()}


def bound(forecast: dps.Forecast) -> float:
    assert forecast.error_bound is not None
    return forecast.error_bound


@pytest.mark.parametrize("question", [FEW, MANY, SUMS])
def test_of_many_selections_with_a_delta_the_exponential_mechanism_errs_less(question: dict[str, Any]) -> None:
    apart, together = forecast(times(question, 12)), forecast(times(question, 12), delta=1e-6)
    assert mechanisms(apart) == {"PermuteAndFlip"}
    assert mechanisms(together) == {"ExponentialMechanism"}
    assert together.epsilon <= 1.0
    by_flips = forecast(times(question | FLIP, 12), delta=1e-6)  # a method that is stated stays
    assert mechanisms(by_flips) == {"PermuteAndFlip"}
    for name, each in together.items():
        assert bound(each) < 0.8 * bound(by_flips[name]) <= 0.8 * bound(apart[name])
    said = "12 of the questions drawn by the exponential mechanism: within this delta each question then gets 1."
    assert said in str(together)
    assert "exponential" not in str(apart) + str(by_flips)


def test_of_few_selections_permute_and_flip_errs_less() -> None:
    found = forecast(times(FEW, 5), delta=1e-6)
    assert mechanisms(found) == {"PermuteAndFlip"}
    said = "Permute-and-flip draws 5 of the questions: within this delta the exponential mechanism would not err less."
    assert said in str(found)
    forced = forecast(times(FEW | {"method": "exponential"}, 5), delta=1e-6)
    assert bound(forced["q0"]) > bound(found["q0"])  # the control: it would not


def test_with_more_candidates_fewer_questions_suffice() -> None:
    """By public facts only: for two candidates the exponential mechanism has a sixth to make up for."""
    assert mechanisms(forecast(times(MANY, 5), delta=1e-6)) == {"ExponentialMechanism"}
    more = {f"m{place}": MANY | {"candidates": "1..100000"} for place in range(5)}
    mixed = forecast({"q": FEW} | more, delta=2e-7)
    assert mixed["q"].terms.mechanism == "PermuteAndFlip"
    assert mixed["m0"].terms.mechanism == "ExponentialMechanism"
    by_flips = forecast({"q": FEW} | {name: each | FLIP for name, each in more.items()}, delta=2e-7)
    assert all(bound(mixed[name]) < 0.99 * bound(by_flips[name]) for name in mixed)


def test_what_another_argument_decides_stays_as_it_is() -> None:
    others = {
        "fixed": FEW | {"epsilon": 0.05},
        "gap": FEW | {"with_gap": True},
        "counts": FEW | {"with_counts": True},
        "count": COUNT,
    }
    asked = times(FEW, 12) | others
    found, by_flips = forecast(asked, delta=1e-6), forecast(asked | times(FEW | FLIP, 12), delta=1e-6)
    assert {each for each in asked if found[each].terms != by_flips[each].terms} >= {*times(FEW, 12)}
    for name in others:
        assert found[name].terms.mechanism == by_flips[name].terms.mechanism
        assert bound(found[name]) <= bound(by_flips[name])
    assert found["fixed"].terms == by_flips["fixed"].terms
    assert found["fixed"].terms.mechanism == "PermuteAndFlip"


def test_wanted_errors_are_reached_at_the_smaller_cost() -> None:
    wanted = MANY | {"within": 260}
    found, by_flips = forecast(times(wanted, 30), delta=1e-6), forecast(times(wanted | FLIP, 30), delta=1e-6)
    assert mechanisms(found) == {"ExponentialMechanism"}
    assert found.epsilon < 0.9 * by_flips.epsilon
    assert all(bound(each) <= 260 for each in found.values())
    assert "all then cost less together, for the same errors." in str(found)
    narrow = MANY | {"within": 100}
    assert "with permute-and-flip they would need more" in str(forecast(times(narrow, 12), delta=1e-6))
    with pytest.raises(InvalidParameterError, match=r"epsilon=1\.0: .*at least 1\."):
        forecast(times(narrow | FLIP, 12), delta=1e-6)
    assert mechanisms(forecast(times(wanted, 3), delta=1e-6)) == {"PermuteAndFlip"}  # which fit one by one


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [b"%d,%d,%c" % (person, person % 90, b"ABC"[person % 3]) for person in range(300)]
    write_csv(tmp_path / "people.csv", rows, header=b"who,age,town\n")
    dps.Ledger(tmp_path / "budget.db").open_account("people", epsilon=1.0, delta=1e-6, unit="who")
    return tmp_path


def planned(folder: Path) -> dps.Plan:
    paying: dict[str, Any] = {"ledger": folder / "budget.db", "account": "people", "name": "p", "delta": 1e-6}
    table = str(folder / "people.csv")
    return dps.Plan(table=table, unit="who", epsilon=1.0, questions=times(FEW, 8), **paying)


def test_certificates_the_ledger_and_a_second_run_follow(folder: Path) -> None:
    ledger = dps.Ledger(folder / "budget.db")
    plan = planned(folder)
    assert plan.forecast().fits
    answers = plan.run(out=folder / "answers")
    for release in answers.values():
        checked = check(release.to_json(), ledger=ledger)
        assert (checked.release.mechanism, checked.error_bound, checked.value) == ("ExponentialMechanism", True, True)
    charged = [from_json(each.body["event"]) for each in ledger.history("people") if each.kind == "charge"]
    assert {type(each.event) for each in charged} == {BoundedRangeEvent}  # pyright: ignore
    assert ledger.account("people").entries == 17
    said = "The plan has 8 of the questions drawn by the exponential mechanism"
    assert said in str(answers)
    assert said in (folder / "answers" / "report.html").read_text()
    again = plan.run()
    assert dict(again) == dict(answers)
    assert ledger.account("people").entries == 17
    ledger.verify("people")


def test_a_run_that_is_resumed_pays_once_more_for_one_draw(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw, drawn = dps.ExponentialMechanism.select, list[int]()

    def failing(self: Any, scores: Any) -> Any:
        drawn.append(1)
        if len(drawn) == 3:
            raise RuntimeError
        return draw(self, scores)

    monkeypatch.setattr(dps.ExponentialMechanism, "select", failing)
    ledger = dps.Ledger(folder / "budget.db")
    with pytest.raises(AnswerLostError):
        planned(folder).run()
    ledger.set_limit("people", epsilon=1.5)
    answers = planned(folder).run()
    assert len(drawn) == 9
    assert {each.mechanism for each in answers.values()} == {"ExponentialMechanism"}
    charges = [each for each in ledger.history("people") if each.kind == "charge"]
    assert len(charges) == 9


def test_the_json_of_a_forecast_names_the_mechanism(folder: Path) -> None:
    held = json.loads(planned(folder).forecast().to_json())
    assert {each["mechanism"]["name"] for each in held["questions"].values()} == {"ExponentialMechanism"}
