"""Numbers, needed fields, addresses of forms and names that the pages show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpselect as dps
from tests.question_words import NAMES
from tests.web import filled_forms
from tests.web.visitor import MEDIAN, Visitor, visit

ADULT = str(Path(__file__).parents[2] / "examples" / "data" / "adult.csv")
FORM = {name.replace("__", "."): text for name, text in MEDIAN.items()}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[dps.Ledger]:
    with dps.Ledger(f"sqlite:///{tmp_path}/budget.db") as held:
        held.open_account("adult", epsilon=3.0, unit="person_id")
        yield held


@pytest.fixture
def payer(ledger: dps.Ledger) -> Visitor:
    return visit(ADULT, "person_id", ledger=ledger, account="adult")


def test_what_is_left_has_few_digits(payer: Visitor, ledger: dps.Ledger) -> None:
    answer = payer.release("median", **MEDIAN | {"epsilon": "0.3"})
    assert repr(ledger.account("adult").left) == "2.6999999999999997"
    plan = payer.post("/ask/median/plan", FORM)
    confirmation = payer.get(payer.confirm("median", **MEDIAN))
    for page in (answer, plan, confirmation):
        assert "epsilon = 2.69999 left" in page.words
        assert "2.699999" not in page.words


def test_an_empty_field_that_this_table_needs_is_no_error(payer: Visitor) -> None:
    plan = payer.post("/ask/median/plan", FORM | {"step": ""})
    assert "Still needed: step." in plan.words
    assert "None" not in plan.words
    confirmed = payer.submit("/ask/median/confirm", FORM | {"step": ""})
    assert confirmed.status == 422
    assert 'id="step-error">This is needed.<' in confirmed.text
    wrong = payer.post("/ask/median/plan", FORM | {"step": "0"})
    assert "Still needed" not in wrong.words
    assert "Expected a finite number" in wrong.text.partition('id="step-error"')[2].partition("</p>")[0]


def test_a_median_of_dates_is_planned_in_steps_of_days(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("who,day\n1,2026-02-03\n")
    ends = {"bounds.lower-end": "2026-01-01", "bounds.upper-end": "2026-12-31"}
    asked = {"column": "day", "step": "1", "epsilon": "0.5", **ends}
    assert "steps of 1 day" in visit(str(tmp_path / "visits.csv"), "who").post("/ask/median/plan", asked).words


def test_an_unknown_column_of_a_condition_is_refused_in_words_of_the_page(payer: Visitor) -> None:
    sent = payer.post("/ask/count/confirm", {"epsilon": "0.5", "where": "nowhere=3"})
    said = sent.text.partition('id="where-error">')[2].partition("</p>")[0]
    assert said.startswith("Expected a column of the data.")
    assert "dpselect" not in said


def test_a_condition_that_is_none_is_met_with_one(payer: Visitor) -> None:
    sent = payer.post("/ask/count/confirm", {"epsilon": "0.5", "where": "age>3"})
    assert 'id="where-error">Expected a column and what it has to be: age=18..65.<' in sent.text


def test_an_interval_is_written_as_its_number_is(payer: Visitor) -> None:
    clip = {"clip.lower-end": "0", "clip.upper-end": "100"}
    answer = payer.release("sum", column="hours_per_week", epsilon="0.5", **clip)
    interval = re.search("the truth is between (.*?) and (.*?)[.] ", answer.words)
    assert interval
    assert all(re.fullmatch("1,[0-9]{3},[0-9]{3}", end) for end in interval.groups())


@pytest.mark.parametrize("name", [each for each in NAMES if each != "count"])  # which needs nothing but epsilon
def test_a_form_that_is_sent_empty_names_each_field_that_is_needed(payer: Visitor, name: str) -> None:
    sent = payer.post(f"/ask/{name}/confirm", {"epsilon": "0.5"})
    assert sent.status == 422
    errors = dict(re.findall('id="([^"]*)-error"[^>]*>([^<]+)<', sent.text))
    needed = {each.name for each in filled_forms.empty(name).fields if each.is_needed} - {"epsilon"}
    assert needed <= errors.keys()
    assert set(errors.values()) == {"This is needed."}


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("/ask/median/confirm", "/ask/median"),
        ("/ask/median/plan", "/ask/median"),
        ("/release/x/stop", "/release/x"),
        ("/looked/x/stop", "/"),
    ],
)
def test_the_address_of_a_form_leads_to_its_page(payer: Visitor, path: str, page: str) -> None:
    came = payer.get(path)
    assert (came.status, came.headers["location"]) == (303, page)
    assert payer.post("/ledger", {}).status == 405


def test_an_account_without_a_delta_says_how_to_get_one(payer: Visitor) -> None:
    plan = payer.post("/ask/values/plan", {"column": "age", "epsilon": "0.5", "delta": "1e-6"})
    said = "has no delta set aside for this question: open an account with a delta. "
    assert f"Refused: account 'adult' {said}" in plan.words
    assert "ledger open" not in plan.words


def test_the_history_names_the_question(payer: Visitor) -> None:
    payer.release("median", **MEDIAN)
    id = payer.pages.answered[0].id
    said = payer.get("/ledger").text
    assert f'<a href="/release/{id}">median of age<' in said, said


def test_a_form_with_something_wrong_comes_back_with_it(payer: Visitor, ledger: dps.Ledger) -> None:
    page = payer.post("/ask/median/confirm", FORM | {"step": "x"})
    assert page.status == 422
    assert "Expected a number" in page.text.partition('id="step-error"')[2].partition("</p>")[0]
    assert 'value="x"' in page.text
    assert payer.get("/ask/median/confirm").headers["location"] == "/ask/median"  # the address alone is an empty form
    assert ledger.account("adult").entries == 1


@pytest.mark.parametrize("epsilon", ["1001", "1e308"])
def test_an_epsilon_that_protects_nobody_is_refused_beside_its_field(payer: Visitor, epsilon: str) -> None:
    for came in (
        payer.post("/ask/median/plan", FORM | {"epsilon": epsilon}),
        payer.submit("/ask/median/confirm", FORM | {"epsilon": epsilon}),
    ):
        assert "Expected a number up to 1000" in came.text.partition('id="epsilon-error"')[2].partition("</p>")[0]
    assert "With 99% confidence" in payer.post("/ask/median/plan", FORM | {"epsilon": "1000"}).words


def test_the_column_of_the_unit_is_no_column_to_ask_about() -> None:
    visitor = visit(ADULT, "person_id")
    plan = visitor.post("/ask/median/plan", FORM | {"column": "person_id"})
    assert "Expected another column than the unit" in plan.text.partition('id="column-error"')[2].partition("</p>")[0]


def test_blanks_around_a_released_value_are_seen(tmp_path: Path) -> None:
    table = tmp_path / "cities.csv"
    cities = [" Paris"] * 400 + ["Lyon"] * 400
    table.write_text("id,city\n" + "".join(f"{number},{city}\n" for number, city in enumerate(cities)))
    answer = visit(str(table), "id").release("values", column="city", epsilon="1", delta="1e-6")
    assert '<td class="short">&#34; Paris&#34;</td>' in answer.text
    assert '<td class="short">Lyon</td>' in answer.text
    assert '<th scope="col" class="short">city</th>' in answer.text


def test_a_refusal_never_rounds_what_is_left_up(payer: Visitor, ledger: dps.Ledger) -> None:
    payer.release("median", **MEDIAN | {"epsilon": "0.3"})
    with pytest.raises(
        dps.errors.ChargeRefusedError, match=r"has epsilon=2\.69999 left of 3\.0; this would cost 2\.7\. N"
    ):
        dps.Dataset(ADULT, unit="person_id", ledger=ledger, account="adult").count(epsilon=2.7)
    with pytest.raises(dps.errors.ChargeRefusedError, match=r"this would cost 3\.33334\. N"):
        dps.Dataset(ADULT, unit="person_id", ledger=ledger, account="adult").count(epsilon=10 / 3)
