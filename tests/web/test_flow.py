"""From a question to its answer: what is planned, what is charged, and that it is charged once."""

from __future__ import annotations

import json
import re
import shlex
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import dpselect as dps
from dpselect.questions import BY_NAME
from dpselect.web import Site
from dpselect.web.forms import Form
from dpselect.web.planning import ErrorCurve
from tests.web.visitor import COMMON, MEDIAN, Visitor

DATA = Path(__file__).parents[2] / "examples" / "data"
ADULT = str(DATA / "adult.csv")


@pytest.fixture
def visitor() -> Visitor:
    return Visitor(Site(source=ADULT, unit="person_id")).enter()


@pytest.fixture
def ledger(tmp_path: Path) -> dps.Ledger:
    held = dps.Ledger(f"sqlite:///{tmp_path}/budget.db")
    held.open_account("adult", epsilon=1.0, unit="person_id")
    return held


@pytest.fixture
def payer(ledger: dps.Ledger) -> Visitor:
    return Visitor(Site(source=ADULT, unit="person_id", ledger=ledger, account="adult")).enter()


@pytest.mark.parametrize("name", BY_NAME)
def test_every_question_has_a_form(visitor: Visitor, name: str) -> None:
    came = visitor.get(f"/ask/{name}")
    assert came.status == 200
    assert Form.empty(BY_NAME[name], visitor.site).title in came.words


def test_the_title_says_what_is_asked(visitor: Visitor) -> None:
    assert "What are the most common values?" in visitor.get("/").words
    form = COMMON | {"k": "3"}
    live = visitor.post("/ask/top_k/plan", form)
    assert '<h1 id="asks" hx-swap-oob="true">What are the 3 most common values?</h1>' in live.text
    released = visitor.release("top_k", **form | {"with_counts": "on"})
    assert "What are the 3 most common values, and how many have each?" in released.words
    assert "What are the 3 most common values, and how many have each? (education_num)" in visitor.get("/").words


def test_a_median_is_released(visitor: Visitor) -> None:
    came = visitor.release("median", **MEDIAN)
    release = visitor.pages.questions.answered[0].release
    assert release.value in range(30, 45)
    assert f"Answer {release.value:.0f} With 99% confidence" in came.words
    assert "at most 1.65 times as likely" in came.words
    held = visitor.get(f"/release/{visitor.pages.questions.answered[0].id}/certificate.json")
    assert held.headers["content-disposition"].startswith("attachment")
    assert dps.Release.from_json(held.text) == release


def test_the_most_common_value_is_released(visitor: Visitor) -> None:
    assert "Answer 9 With" in visitor.release("most_common", **COMMON).words


def test_a_histogram_is_a_table_with_a_picture(visitor: Visitor) -> None:
    came = visitor.release("histogram", **COMMON)
    asked = visitor.pages.questions.answered[0]
    assert came.text.count("<tr>") == 17
    picture = visitor.get(f"/release/{asked.id}/chart.svg")
    assert picture.headers["content-type"] == "image/svg+xml"
    assert picture.text.startswith("<svg")


def test_the_plan_says_what_the_library_says(visitor: Visitor) -> None:
    came = visitor.post("/ask/median/plan", {name.replace("__", "."): text for name, text in MEDIAN.items()})
    expected = dps.DryRun(unit="person_id").median("age", bounds=(0, 120), step=1, epsilon=0.5)
    assert expected.accuracy in came.words


def test_the_error_gives_the_epsilon(visitor: Visitor) -> None:
    form = {name.replace("__", "."): text for name, text in MEDIAN.items()} | {"within": "30"}
    came = visitor.post("/ask/median/plan", form, hx_trigger_name="within")
    assert 'id="epsilon" name="epsilon" type="text" inputmode="decimal" size="8" value="0.32"' in came.text
    dry = dps.DryRun(unit="person_id")
    bounds = [dry.median("age", bounds=(0, 120), step=1, epsilon=each).error_bound for each in (0.31, 0.32)]
    assert bounds[0] > 30 >= bounds[1]
    unreachable = visitor.post("/ask/median/plan", form | {"within": "0.01"}, hx_trigger_name="within")
    assert "At epsilon = 10 the error is at most" in unreachable.words


def test_pressing_twice_spends_once(payer: Visitor, ledger: dps.Ledger) -> None:
    address = payer.confirm("median", **MEDIAN)
    presses = [threading.Thread(target=payer.post, args=(address,)) for _ in range(4)]
    for each in presses:
        each.start()
    for each in presses:
        each.join()
    payer.pages.questions.find(address.rpartition("/")[2]).work.wait(30)
    shown = payer.get(address).words
    for _ in range(2):  # reloaded, and sent again from a page that was kept
        assert payer.post(address).status == 303
        assert payer.get(address).words == shown
    assert ledger.account("adult").spent == 0.5
    assert len(ledger.history("adult")) == 2
    (verified,) = ledger.verify("adult")
    assert verified.entries == 2


def test_without_a_ledger_pressing_twice_draws_once(visitor: Visitor) -> None:
    address = visitor.confirm("median", **MEDIAN | {"epsilon": "0.01"})  # would hardly come out the same twice
    for _ in range(3):
        visitor.post(address)
        visitor.pages.questions.find(address.rpartition("/")[2]).work.wait(30)
    assert len(visitor.pages.questions.answered) == 1
    first = visitor.pages.questions.answered[0].release
    assert visitor.pages.questions.answered[0].release is first


def test_a_question_beyond_the_account_is_refused_and_charges_nothing(payer: Visitor, ledger: dps.Ledger) -> None:
    came = payer.release("median", **MEDIAN | {"epsilon": "2"})
    assert "has epsilon=1.0 left of 1.0; this would cost 2.0" in came.words
    assert ledger.account("adult").spent == 0


def test_an_answer_is_found_again_after_a_restart(payer: Visitor, ledger: dps.Ledger) -> None:
    address = payer.confirm("median", **MEDIAN)
    payer.post(address)
    payer.pages.questions.find(address.rpartition("/")[2]).work.wait(30)
    again = Visitor(payer.site).enter()
    value = payer.pages.questions.answered[0].release.value
    assert f"Answer {value:.0f}" in again.get(address).words
    assert again.post(address).status == 303
    assert ledger.account("adult").spent == 0.5


@pytest.mark.parametrize(
    ("question", "form"), [("median", MEDIAN), ("most_common", COMMON), ("top_k", COMMON | {"k": "3"})]
)
def test_the_command_does_the_same(
    ledger: dps.Ledger, question: str, form: dict[str, str], tmp_path: Path, capsys: Any
) -> None:
    from dpselect.cli.main import main
    from dpselect.web.answering import on_the_command_line

    url = f"sqlite:///{tmp_path}/budget.db"
    site = Site(source=ADULT, unit="person_id", ledger=ledger, ledger_url=url, account="adult")
    visitor = Visitor(site).enter()
    visitor.release(question, **form)
    asked = visitor.pages.questions.answered[0]
    words = shlex.split(on_the_command_line(asked))
    assert main([*words[1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["receipt"] == asked.release.to_dict()["receipt"]


def test_a_table_that_was_written_in_between_is_noticed(tmp_path: Path, ledger: dps.Ledger) -> None:
    table = tmp_path / "people.csv"
    table.write_text("person_id,age\n" + "".join(f"{place},{place % 90}\n" for place in range(500)))
    visitor = Visitor(Site(source=str(table), unit="person_id", ledger=ledger, account="adult")).enter()
    address = visitor.confirm("median", **MEDIAN)
    table.write_text("person_id,age\n1,40\n")
    visitor.post(address)
    visitor.pages.questions.find(address.rpartition("/")[2]).work.wait(30)
    refused = visitor.get(address)
    assert "was written after this page had been opened" in refused.words
    assert "Try again" not in refused.words
    assert f'href="/ask/median?from={address.rpartition("/")[2]}">Ask anew</a>' in refused.text
    assert ledger.account("adult").spent == 0
    anew = visitor.get(f"/ask/median?from={address.rpartition('/')[2]}")
    assert "What is the median?" in anew.words
    assert 'value="120"' in anew.text
    visitor.release("median", **MEDIAN)
    assert ledger.account("adult").spent == 0.5


def test_what_is_looked_at_is_marked(visitor: Visitor) -> None:
    form = {name.replace("__", "."): text for name, text in MEDIAN.items()}
    came = visitor.post("/ask/median/look", form)
    if 'hx-get="/looked/' in came.text:
        id = came.text.partition('hx-get="/looked/')[2].partition('"')[0]
        visitor.pages.questions.looked(id).wait(30)
        came = visitor.get(f"/looked/{id}")
    assert "Only for you: computed from the data without privacy protection" in came.words
    assert "32,561 of 32,561 rows count" in came.words


def test_without_a_table_there_are_plans_alone() -> None:
    visitor = Visitor(Site()).enter()
    assert "Planning without a table" in visitor.get("/").words
    form = {"unit": "person", "column": "value", "candidates": "1..100", "epsilon": "1"}
    assert "within 8 of the best" in visitor.post("/ask/most_common/plan", form).words
    assert "nothing is released" in visitor.submit("/ask/most_common/confirm", form).words
    assert visitor.post("/ask/most_common/look", form).status == 404


def test_the_first_page_is_small(visitor: Visitor) -> None:
    parts = ("/", "/static/style.css", "/static/page.js", "/static/htmx.min.js", "/static/icon.svg")
    came = [visitor.get(part) for part in parts]
    assert all(each.status == 200 for each in came)
    assert sum(len(each.body) for each in came) < 1_000_000


def test_moving_a_slider_moves_the_mark_on_one_curve(visitor: Visitor) -> None:
    form = {name.replace("__", "."): text for name, text in MEDIAN.items()}
    said, curves, marks = set[str](), set[str](), set[tuple[str, str]]()
    for place in range(100, 200, 20):
        for slider in ("epsilon-place", "error-place"):
            came = visitor.post("/ask/median/plan", form | {slider: str(place)}, hx_trigger_name=slider)
            said.add(came.words.partition("ranks")[0])
            curves |= {*re.findall(r'<polyline points="([^"]+)"', came.text)}
            marks |= {*re.findall(r'class="marker" cx="([0-9.]+)" cy="([0-9.]+)"', came.text)}
    assert len(curves) == 1
    assert len(said) > 5
    assert len(marks) > 5
    (points,) = curves
    placed = [tuple(map(float, each.split(","))) for each in points.split()]
    assert [each[0] for each in placed] == sorted(each[0] for each in placed)  # epsilon grows to the right
    assert [each[1] for each in placed] == sorted(each[1] for each in placed)  # and the error falls
    other = visitor.post("/ask/median/plan", form | {"bounds.upper-end": "90"})
    assert points not in other.text


def test_the_mark_is_on_the_curve() -> None:
    curve = ErrorCurve({0.01: 1000.0, 0.1: 100.0, 1.0: 10.0})
    assert (curve.lowest, curve.highest) == (10.0, 1000.0)
    assert curve.points == f"56.0,10.0 {56 + 356 / 3:.1f},107.0 {56 + 356 * 2 / 3:.1f},204.0"
    assert [text for _, text in curve.across] == ["0.01", "0.1", "1", "10"]
    assert [text for _, text in curve.up] == ["10", "100", "1,000"]
    assert curve.place(0.1, 100.0) == (174.7, 107.0)
    assert curve.place(0.001, 100.0) is curve.place(0.1, 5000.0) is None


def test_the_wrong_field_has_the_focus(visitor: Visitor) -> None:
    form = {name.replace("__", "."): text for name, text in MEDIAN.items()}
    came = visitor.submit("/ask/median/confirm", form | {"usable_epsilon": "x"})
    focused = [line for line in came.text.splitlines() if " autofocus" in line]
    assert len(focused) == 1
    assert 'id="usable_epsilon"' in focused[0]
    assert "<details open>" in came.text


def test_the_unit_is_chosen_on_the_page_if_it_was_not_given() -> None:
    visitor = Visitor(Site(source=ADULT)).enter()
    came = visitor.post("/ask/median/plan", {name.replace("__", "."): text for name, text in MEDIAN.items()})
    assert "Still needed: unit." in came.words
    assert "Answer 3" in visitor.release("median", **MEDIAN, unit="person_id").words


def test_without_the_library_of_charts_there_are_tables(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    form = {name.replace("__", "."): text for name, text in MEDIAN.items()}
    planned = visitor.post("/ask/median/plan", form)
    answered = visitor.release("histogram", **COMMON)
    assert "<polyline" in planned.text
    assert "No picture: plots: this needs the extra 'plots'" in answered.words
    assert "<img" not in answered.text
    assert "<table" in answered.text
