"""A plan from end to end: read, forecast, charged all together or not at all, resumed, and written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dpselect as dps
from dpselect.cli import main
from dpselect.errors import (
    AnswerLostError,
    ChargeRefusedError,
    InvalidAccountError,
    InvalidCandidatesError,
    InvalidDataError,
    InvalidParameterError,
    RequestReusedError,
)
from dpselect.mechanisms import GeometricMechanism
from tests.rows.tables import write_csv
from tests.watched import before_each_pass, before_reading, forbid_reading

PLAN = """
table = "people.csv"
unit = "who"
ledger = "sqlite:///budget.db"
account = "people"
epsilon = 1.0

[questions.typical_age]
ask = "median"
column = "age"
bounds = [0, 120]
step = 1
share = 0.5

[questions.how_many]
ask = "count"
epsilon = 0.25

[questions.towns]
ask = "top_k"
column = "town"
k = 2
candidates = "@towns.txt"
"""
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [b"%d,%d,%c" % (person, person % 90, b"ABC"[person % 3]) for person in range(300)]
    write_csv(tmp_path / "people.csv", rows, header=b"who,age,town\n")
    (tmp_path / "towns.txt").write_text("A\nB\nC\nD\n")
    (tmp_path / "plan.toml").write_text(PLAN)
    dps.Ledger(tmp_path / "budget.db").open_account("people", epsilon=1.5, unit="who")
    return tmp_path


def left(folder: Path) -> float:
    return dps.Ledger(folder / "budget.db").remaining("people")


def edited(folder: Path, *changes: tuple[str, str]) -> Path:
    text = (folder / "plan.toml").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "plan.toml").write_text(text)
    return folder / "plan.toml"


def test_a_plan_is_forecast_from_public_facts_alone(folder: Path) -> None:
    forecast = dps.Plan.from_toml(folder / "plan.toml").forecast()
    assert {name: each.guarantee.epsilon for name, each in forecast.items()} == {
        "typical_age": 0.5,
        "how_many": 0.25,
        "towns": 0.25,
    }
    assert (forecast.epsilon, forecast.fits, forecast.first.left) == (1.0, True, 1.5)
    assert "Account people would accept it: it has epsilon = 1.5 left." in str(forecast)
    write_csv(folder / "people.csv", [b"a row,that,nobody reads,%c" % 0], header=b"who,age,town\n")
    assert str(dps.Plan.from_toml(folder / "plan.toml").forecast()) == str(forecast)
    assert left(folder) == 1.5


def test_a_run_answers_all_and_charges_all(folder: Path) -> None:
    answers = dps.Plan.from_toml(folder / "plan.toml").run(out=folder / "out")
    assert [*answers] == ["typical_age", "how_many", "towns"]
    assert (answers.epsilon, left(folder)) == (1.0, 0.5)
    assert answers["towns"].candidates["count"] == 4
    written = json.loads((folder / "out" / "answers.json").read_text())
    for name, release in answers.items():
        certificate = (folder / "out" / "certificates" / f"{name}.json").read_text()
        assert dps.verify(certificate).release == release
        assert written["answers"][name] == json.loads(certificate)
    assert written["account"]["spent"] == 1.0
    assert written["account"]["head"] == dps.Ledger(folder / "budget.db").account("people").head


def test_running_again_is_free_and_says_the_same(folder: Path) -> None:
    plan = dps.Plan.from_toml(folder / "plan.toml")
    first = plan.run()
    assert tuple(plan.forecast().stored) == ("typical_age", "how_many", "towns")
    assert "All questions were answered before" in plan.forecast().charge
    again = dps.Plan.from_toml(folder / "plan.toml").run()
    assert (dict(again), left(folder)) == (dict(first), 0.5)


def test_a_spent_account_charges_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = dps.Plan.from_toml(edited(folder, ("epsilon = 1.0", "epsilon = 1.75"), ("= 0.25", "= 0.75")))
    # Each of the three would fit into 1.5 by itself: only together they do not.
    assert max(each.guarantee.epsilon for each in plan.forecast().values()) < 1.5
    assert plan.forecast().fits is False
    forbid_reading(monkeypatch)
    with pytest.raises(
        ChargeRefusedError, match=r"epsilon=1\.5 left of 1\.5; this would cost 1\.75, the sum of its parts"
    ):
        plan.run(out=folder / "out")
    assert left(folder) == 1.5
    assert not (folder / "out" / "answers.json").exists()


def test_what_another_process_spends_meanwhile_is_seen_before_the_first_charge(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, event = dps.Ledger(folder / "budget.db"), GeometricMechanism(epsilon=0.75, sensitivity=1).event
    before_reading(monkeypatch, lambda: other.charge("people", event))
    with pytest.raises(ChargeRefusedError, match=r"epsilon=0\.75 left"):
        dps.Plan.from_toml(folder / "plan.toml").run()
    assert left(folder) == 0.75  # nothing but what the other spent


def test_rows_that_cannot_be_read_cost_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_off() -> None:
        raise InvalidDataError("source", dps.errors.Shown("<a file>"), "a file that is still there")

    before_reading(monkeypatch, break_off)
    with pytest.raises(InvalidDataError):
        dps.Plan.from_toml(folder / "plan.toml").run()
    assert left(folder) == 1.5


def test_all_rows_are_read_before_the_first_charge_and_no_rows_twice(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[float] = []
    before_each_pass(monkeypatch, lambda _: seen.append(left(folder)))
    dps.Plan.from_toml(folder / "plan.toml").run()
    assert seen == [1.5]


@pytest.mark.parametrize("crash", [KeyboardInterrupt, SystemExit])
def test_a_crash_while_reading_costs_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, crash: type[BaseException]
) -> None:
    def interrupt() -> None:
        raise crash

    before_reading(monkeypatch, interrupt)
    with pytest.raises(crash):
        dps.Plan.from_toml(folder / "plan.toml").run()
    assert left(folder) == 1.5


def test_a_run_that_crashed_between_two_questions_pays_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, stored = dps.Plan.from_toml(folder / "plan.toml"), list[str]()
    store_release, charge = dps.Ledger.store_release, dps.Ledger.charge

    def kept(self: dps.Ledger, receipt: Any, release: str) -> str:
        stored.append(release)
        return store_release(self, receipt, release)

    def crashing(self: dps.Ledger, *given: Any, **named: Any) -> Any:
        if len(stored) == 1:
            raise KeyboardInterrupt
        return charge(self, *given, **named)

    monkeypatch.setattr(dps.Ledger, "store_release", kept)
    monkeypatch.setattr(dps.Ledger, "charge", crashing)
    with pytest.raises(KeyboardInterrupt):
        plan.run()
    assert left(folder) == 0.5  # all are charged before the first is drawn
    monkeypatch.setattr(dps.Ledger, "charge", charge)
    forecast = plan.forecast()
    assert tuple(forecast.stored) == ("typical_age",)
    answers = plan.run()
    assert answers["typical_age"].to_json() == stored[0]
    assert left(folder) == 0.5


def test_a_draw_that_fails_loses_its_own_charge_only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that was charged may have been seen, so its charge stands: the ledger's rule, also within a plan."""
    plan, select = dps.Plan.from_toml(folder / "plan.toml"), GeometricMechanism.draw

    def failing(*_: Any, **__: Any) -> Any:
        raise RuntimeError

    monkeypatch.setattr(GeometricMechanism, "draw", failing)
    with pytest.raises(AnswerLostError, match="charged as entry 2"):
        plan.run()
    monkeypatch.setattr(GeometricMechanism, "draw", select)
    assert left(folder) == 0.5
    plan.run()
    assert left(folder) == 0.25  # the count was paid for again, the towns were not


def test_another_question_under_the_same_name_is_refused(folder: Path) -> None:
    dps.Plan.from_toml(folder / "plan.toml").run()
    plan = dps.Plan.from_toml(edited(folder, ("share = 0.5", "share = 0.4")))
    for act in (plan.forecast, plan.run):
        with pytest.raises(RequestReusedError, match=r"request='plan/typical_age': .*another name"):
            act()
    assert left(folder) == 0.5


BAD: list[tuple[tuple[str, str], type[Exception], str]] = [
    (("share = 0.5", "share = 1.5"), InvalidParameterError, r"questions\.typical_age\.share=1\.5: .*at most 1"),
    (("share = 0.5", "within = 1"), InvalidParameterError, r"typical_age\.within=1\.0: .*it is 9.*Allow a"),
    (("epsilon = 1.0", "epsilom = 1.0"), InvalidParameterError, "epsilom=<unknown key>: .*Did you mean 'epsilon'"),
    (("bounds =", "bound ="), InvalidParameterError, r"questions\.typical_age\.bound=.*Did you mean 'bounds'"),
    (("share =", "shares ="), InvalidParameterError, r"questions\.typical_age\.shares=.*Did you mean 'share'"),
    (('"median"', '"meadian"'), InvalidParameterError, r"questions\.typical_age\.ask='meadian': .*mean 'median'"),
    (('"top_k"', '"top-k"'), InvalidParameterError, r"questions\.towns\.ask='top-k': .*Did you mean 'top_k'"),
    (('ask = "count"', ""), InvalidParameterError, r"questions\.how_many\.ask=None"),
    (("k = 2", ""), InvalidParameterError, r"questions\.towns\.k=None: expected a value, which top_k needs"),
    (("k = 2", "k = 9"), InvalidParameterError, r"questions\.towns\.k=9"),
    (("step = 1", "step = 7"), InvalidParameterError, r"questions\.typical_age\.step=7"),
    (("table = ", "source = "), InvalidParameterError, r"source=<unknown key>: .*Did you mean 'table'\?"),
    (("k = 2", 'k = 2\nrequest = "mine"'), InvalidParameterError, r"questions\.towns\.request=<unknown key>"),
    (('"age"', '"agee"'), InvalidDataError, r"questions\.typical_age\.column='agee'"),
    (('unit = "who"', 'unit = "whom"'), InvalidDataError, "unit='whom'"),
    (('unit = "who"', ""), InvalidParameterError, "unit=None: expected a value, which every plan needs"),
    (('account = "people"', ""), InvalidParameterError, "account=None: .*together"),
    (('"people"', '"peopel"'), InvalidAccountError, "account='peopel': .*Did you mean 'people'"),
    (('"@towns.txt"', '"@nowhere.txt"'), InvalidCandidatesError, r"questions\.towns\.candidates='@nowhere\.txt'"),
    (('"@towns.txt"', '"A,B"'), InvalidParameterError, r"questions\.towns\.candidates='A,B': .*a list such as"),
    (('"@towns.txt"', '"@people.csv:town"'), InvalidCandidatesError, r"questions\.towns\.candidates=.*a public file"),
    (('"people.csv"', "5"), InvalidParameterError, "table=5: expected a text"),
    (("epsilon = 1.0", "epsilon = 1,0"), InvalidParameterError, "plan=.*a file in TOML.*line 6"),
    (("epsilon = 1.0", "epsilon = -1"), InvalidParameterError, "epsilon=-1"),
    (("epsilon = 1.0", 'epsilon = 1.0\nformat = { decimals = "," }'), InvalidParameterError, "mean 'decimal'"),
    (("[questions.towns]", '[questions."../towns"]'), InvalidParameterError, "questions='../towns': .*letters"),
    (("[questions.towns]", "[questions.How_Many]"), InvalidParameterError, "questions='How_Many': .*capitals"),
]


@pytest.mark.sampled(14)
@pytest.mark.parametrize(("change", "error", "said"), BAD)
def test_bad_input_names_the_key_and_charges_nothing(
    folder: Path, change: tuple[str, str], error: type[Exception], said: str
) -> None:
    edited(folder, change)
    for act in ("forecast", "run"):
        with pytest.raises(error, match=said):
            getattr(dps.Plan.from_toml(folder / "plan.toml"), act)()
    assert left(folder) == 1.5


@pytest.mark.parametrize(
    "value", ["[" * 3000 + "]" * 3000, "{a=" * 3000 + "1" + "}" * 3000, "9" * 5000, "[" * 3000, "." * 3000]
)
def test_what_is_nested_too_deep_is_no_toml(folder: Path, value: str) -> None:
    edited(folder, ("step = 1", f"step = {value}"))
    with pytest.raises(InvalidParameterError, match=r"^plan=.*plan\.toml': expected a file in TOML\. .*\.$") as refused:
        dps.Plan.from_toml(folder / "plan.toml")
    assert len(str(refused.value)) < 1000


def test_keys_in_keys_are_no_question(folder: Path) -> None:
    edited(folder, ("step = 1", f"step{'.a' * 3000} = 1"))
    with pytest.raises(InvalidParameterError, match=r"^questions\.typical_age\.step=<dict>: "):
        dps.Plan.from_toml(folder / "plan.toml").forecast()


def test_a_table_that_is_missing_can_be_planned_for_but_not_asked(folder: Path) -> None:
    plan = dps.Plan.from_toml(edited(folder, ("people.csv", "nowhere.csv"), ("k = 2", "k = 2\nwithin = 50")))
    assert plan.forecast().unchecked == "there is no such file"
    with pytest.raises(InvalidDataError, match=r"table='.*nowhere\.csv'"):
        plan.run(out=folder / "out")
    assert left(folder) == 1.5


def test_a_table_that_changes_while_it_is_read_costs_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def replace(_: str) -> None:
        write_csv(folder / "people.csv", [b"1,2,A"], header=b"who,town,age\n")

    before_each_pass(monkeypatch, replace)
    with pytest.raises(InvalidDataError, match=r"table='.*people\.csv': .*changed while it was read"):
        dps.Plan.from_toml(folder / "plan.toml").run(out=folder / "out")
    assert left(folder) == 1.5
    assert not (folder / "out" / "answers.json").exists()


@pytest.mark.parametrize("path", ["nowhere.toml", ".", "binary.toml"])
def test_a_file_that_is_no_plan_is_refused(folder: Path, path: str) -> None:
    (folder / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidParameterError, match="plan="):
        dps.Plan.from_toml(folder / path)


def test_the_same_plan_in_python(folder: Path) -> None:
    about: dict[str, Any] = {"table": str(folder / "people.csv"), "unit": "who", "epsilon": 1.0}
    how_many = {"how_many": {"ask": "count"}}
    assert dps.Plan(**about, questions=how_many).run()["how_many"].epsilon == 1.0
    paying: dict[str, Any] = {"ledger": folder / "budget.db", "account": "people"}
    with pytest.raises(InvalidParameterError, match="name=None"):
        dps.Plan(**about, **paying, questions=how_many)
    assert dps.Plan(**about, **paying, name="mine", questions=how_many).run().account is not None
    assert left(folder) == 0.5
    for questions, expected in (
        ({}, "at least one"),
        ([{"ask": "count"}], "a mapping of names"),
        ({"a": 5}, ""),
        ({5: {}}, ""),
    ):
        with pytest.raises(InvalidParameterError, match=f"questions.*: expected {expected}"):
            dps.Plan(**about, questions=questions)  # pyright: ignore


def test_without_a_ledger_answers_are_not_replaced(folder: Path) -> None:
    edited(folder, ('ledger = "sqlite:///budget.db"\naccount = "people"\n', ""))
    plan = dps.Plan.from_toml(folder / "plan.toml")
    plan.run(out=folder / "out")
    kept = (folder / "out" / "answers.json").read_bytes()
    with pytest.raises(InvalidParameterError, match=r"out=.*another run"):
        plan.run(out=folder / "out")
    assert (folder / "out" / "answers.json").read_bytes() == kept
    (folder / "file").write_text("")
    with pytest.raises(InvalidParameterError, match=r"out=.*can be written to"):
        plan.run(out=folder / "file")


def told(capsys: Captured, *arguments: object) -> tuple[int, str, str]:
    status = main([*map(str, arguments)])
    return status, *capsys.readouterr()


def test_the_command_runs_a_plan(folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    status, out, err = told(capsys, "run", "plan.toml", "--dry-run")
    assert (status, err, left(folder)) == (0, "", 1.5)
    assert out.splitlines()[0].split() == ["question", "asks", "epsilon", "error", "(99%)", "mechanism"]
    assert out.splitlines()[4].split() == ["together", "of", "1", "1"]
    assert json.loads(told(capsys, "run", "plan.toml", "--dry-run", "--json")[1])["fits"] is True
    (folder / "people.csv").rename(folder / "away.csv")
    unchecked = "here is no such file: computed from the arguments alone, no column is checked."
    assert f"T{unchecked}\n" in told(capsys, "run", "plan.toml", "--dry-run")[1]
    assert told(capsys, "run", "plan.toml", "--dry-run", "--quiet")[1:] == ("1.0\n", f"dpselect: t{unchecked}\n")
    (folder / "away.csv").rename(folder / "people.csv")
    assert told(capsys, "run", "plan.toml", "--dry-run", "--quiet")[1] == "1.0\n"
    status, out, err = told(capsys, "run", "plan.toml")
    assert (status, err, left(folder)) == (0, "", 0.5)
    assert "typical_age (median of age)\n" in out
    assert out.endswith("Written to plan-answers: answers.json, report.html and certificates.\n")
    status, out, _ = told(capsys, "run", "plan.toml", "--json", "--out", "other")
    assert (status, left(folder)) == (0, 0.5)
    assert json.loads(out) == json.loads((folder / "plan-answers" / "answers.json").read_text())


def test_the_command_refuses_with_one_line(folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    edited(folder, ("step = 1", "step = 1\nstop = 2"))
    status, out, err = told(capsys, "run", "plan.toml")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "questions.typical_age.stop=<unknown key>" in err
    edited(folder, ("\nstop = 2", ""), ("epsilon = 1.0", "epsilon = 5.0"))
    status, out, err = told(capsys, "run", "plan.toml", "--dry-run")
    assert (status, err) == (2, "")
    assert "Refused: account 'people' has epsilon=1.5 left" in out
    assert told(capsys, "run", "plan.toml")[0] == 2
    assert left(folder) == 1.5


def test_several_questions_of_a_data_set_in_order(folder: Path) -> None:
    data = dps.Dataset(folder / "people.csv", unit="who", ledger=folder / "budget.db", account="people")
    asked: list[dict[str, Any]] = [
        {"ask": "count", "epsilon": 0.5, "request": "a"},
        {"ask": "median", "column": "age", "bounds": [0, 120], "step": 1, "epsilon": 0.5, "request": "b"},
    ]
    first, second = data.ask(asked)
    assert (first.task, second.task, left(folder)) == ("count", "median", 0.5)
    assert data.ask(asked) == [first, second]
    assert data.ask([]) == []
    with pytest.raises(ChargeRefusedError, match="the sum of its parts"):
        data.ask([{"ask": "count", "epsilon": 0.3}, {"ask": "count", "epsilon": 0.3}])
    with pytest.raises(InvalidParameterError, match=r"questions\[1\]\.request='c': expected an id of its own"):
        data.ask([{"ask": "count", "epsilon": 0.1, "request": "c"}] * 2)
    with pytest.raises(InvalidParameterError, match=r"questions\[0\]\.epsilon=None"):
        data.ask([{"ask": "count"}])
    assert left(folder) == 0.5
