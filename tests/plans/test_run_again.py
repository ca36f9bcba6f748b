"""A plan that is run again: what is stored, what was lost, and which files are written over."""

# ruff: noqa: F811 - the fixture is an argument

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dpselect as dps
from dpselect.errors import AnswerLostError, ChargeRefusedError, InvalidAccountError, InvalidParameterError
from dpselect.mechanisms import GeometricMechanism
from dpselect.session import answering
from tests.plans.test_plan import edited, folder, left  # noqa: F401 - a fixture
from tests.rows.tables import write_csv


def test_stored_answers_say_from_when_they_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, real = dps.Plan.from_toml(folder / "plan.toml"), answering.public_time
    assert "Answered before" not in str(plan.forecast())
    monkeypatch.setattr(answering, "public_time", lambda moment, times: real(moment, times).replace(year=2025))
    first = plan.run()
    monkeypatch.setattr(answering, "public_time", real)
    assert "Answered before" not in str(first)
    assert "Answered before" not in first.report()
    write_csv(folder / "people.csv", [b"1,2,A"], header=b"who,age,town\n")
    day = first["towns"].time.date().isoformat()
    assert day.startswith("2025")
    said = f"Answered before, and stored in the ledger: typical_age, how_many, towns on {day}."
    assert said in str(plan.forecast())
    again = plan.run()
    assert dict(again) == dict(first)
    for text in (str(again), again.report()):
        assert f"{said} The table is not compared with that of then. No row was read, and nothing was charged." in text


def test_a_run_that_is_resumed_says_which_answers_are_old_and_pays_for_the_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, draw = dps.Plan.from_toml(folder / "plan.toml"), GeometricMechanism.draw

    def failing(*_: Any, **__: Any) -> Any:
        raise RuntimeError

    monkeypatch.setattr(GeometricMechanism, "draw", failing)
    with pytest.raises(AnswerLostError, match="charged as entry 2"):
        plan.run()
    monkeypatch.setattr(GeometricMechanism, "draw", draw)
    assert "stored in the ledger: typical_age on " in str(plan.forecast())
    ledger = dps.Ledger(folder / "budget.db")
    ledger.set_limit("people", epsilon=1.125)  # of which 0.125 is left, and 0.25 is needed
    assert (plan.forecast().fits, tuple(plan.forecast().stored)) == (False, ("typical_age",))
    with pytest.raises(ChargeRefusedError, match=r"epsilon=0\.125 left"):
        plan.run()
    assert left(folder) == 0.125
    ledger.set_limit("people", epsilon=1.25)
    resumed = plan.run()
    for text in (str(resumed), resumed.report()):
        assert "stored in the ledger: typical_age on " in text
        assert "No row was read" not in text
    assert left(folder) == 0.0


def test_the_entries_of_a_question_are_found_under_its_request(folder: Path) -> None:
    dps.Plan.from_toml(folder / "plan.toml").run()
    ledger = dps.Ledger(folder / "budget.db")
    found = ledger.under("people", "plan/how_many")
    assert [each.kind for each in found] == ["charge", "begin"]
    assert found == [each for each in ledger.history("people") if each.request == "plan/how_many"]
    assert ledger.under("people", "plan/nothing") == []
    with pytest.raises(InvalidAccountError):
        ledger.under("nobody", "plan/how_many")


def test_files_of_something_else_are_not_overwritten(folder: Path) -> None:
    plan, out = dps.Plan.from_toml(folder / "plan.toml"), folder / "out"
    for name, text in (("report.html", "mine"), ("answers.json", '{"plan": "another"}'), ("certificates/a.json", "{}")):
        (out / "certificates").mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text)
        with pytest.raises(
            InvalidParameterError, match=r"out=.*a folder without .*report\.html.*Nothing is overwritten"
        ):
            plan.run(out=out)
        assert (out / name).read_text() == text
        (out / name).unlink()
    assert left(folder) == 1.5
    (out / "notes.txt").write_text("mine")
    answers = plan.run(out=out)  # an empty folder for certificates is what a run leaves that was stopped
    assert plan.run(out=out).to_json() == answers.to_json()
    assert (out / "notes.txt").read_text() == "mine"


def test_costs_have_few_digits_for_people_and_all_in_json(folder: Path) -> None:
    plan = dps.Plan.from_toml(edited(folder, ("share = 0.5", "epsilon = 0.24359999999999998")))
    forecast = plan.forecast()
    assert forecast.rows[0][2] == "0.2436"
    assert forecast["typical_age"].guarantee.epsilon == 0.24359999999999998
    assert "0.24359999999999998" in forecast.to_json()
    answers = plan.run()
    assert "<td>0.2436</td>" in answers.report()
    assert "Differentially private: epsilon = 0.2436, when one" in str(answers)
    assert "0.24359999999999998" in answers.to_json()


def test_what_is_left_is_never_shown_as_more(folder: Path) -> None:
    charge = GeometricMechanism(epsilon=0.12345678, sensitivity=1).event
    dps.Ledger(folder / "budget.db").charge("people", charge)
    plan = dps.Plan.from_toml(folder / "plan.toml")
    assert "it has epsilon = 1.37654 left." in plan.forecast().charge  # 1.37654322
    assert " and 0.376543 is left." in plan.run().report()
