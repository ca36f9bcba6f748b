"""Numbers, needed fields, addresses of forms and names that the pages show."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpselect as dps
from dpselect.web import Site
from tests.web.visitor import COMMON, MEDIAN, Visitor

ADULT = str(Path(__file__).parents[2] / "examples" / "data" / "adult.csv")
FORM = {name.replace("__", "."): text for name, text in MEDIAN.items()}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[dps.Ledger]:
    with dps.Ledger(f"sqlite:///{tmp_path}/budget.db") as held:
        held.open_account("adult", epsilon=3.0, unit="person_id")
        yield held


@pytest.fixture
def payer(ledger: dps.Ledger) -> Visitor:
    return Visitor(Site(source=ADULT, unit="person_id", ledger=ledger, account="adult")).enter()


def test_what_is_left_has_few_digits(payer: Visitor, ledger: dps.Ledger) -> None:
    answer = payer.release("median", **MEDIAN | {"epsilon": "0.3"})
    assert repr(ledger.account("adult").left) == "2.6999999999999997"
    plan = payer.post("/ask/median/plan", FORM)
    confirmation = payer.get(payer.confirm("median", **MEDIAN))
    for page in (answer, plan, confirmation):
        assert "epsilon = 2.7 left" in page.words
        assert "2.69" not in page.words


def test_the_field_of_the_error_says_what_the_sentence_says() -> None:
    visitor = Visitor(Site(source=ADULT, unit="person_id")).enter()
    plan = visitor.post("/ask/most_common/plan", COMMON | {"epsilon": "1"})
    within = plan.words.partition("is within ")[2].partition(" ")[0]
    field = plan.text.partition('<input id="within"')[2].partition(">")[0]
    assert within.isdigit()
    assert f' value="{within}"' in field
    refused = visitor.post("/ask/most_common/plan", COMMON | {"within": "x"}, hx_trigger_name="within")
    assert "error: expected a number, such as 20." in refused.words


def test_an_empty_field_that_this_table_needs_is_no_error(payer: Visitor) -> None:
    plan = payer.post("/ask/median/plan", FORM | {"step": ""})
    assert "Still needed: step." in plan.words
    assert "step=None" not in plan.text
    confirmed = payer.post("/ask/median/confirm", FORM | {"step": ""})
    assert confirmed.status == 422
    assert 'id="step-error">This is needed.<' in confirmed.text
    wrong = payer.post("/ask/median/plan", FORM | {"step": "0"})
    assert "Still needed" not in wrong.words
    assert "step=0" in wrong.words


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("/ledger/verify", "/ledger"),
        ("/ledger/lower", "/ledger"),
        ("/ask/median/confirm", "/ask/median"),
        ("/ask/median/plan", "/ask/median"),
        ("/release/x/stop", "/release/x"),
        ("/looked/x/stop", "/"),
    ],
)
def test_the_address_of_a_form_leads_to_its_page(payer: Visitor, path: str, page: str) -> None:
    came = payer.get(path)
    assert (came.status, came.headers["location"]) == (303, page)
    assert payer.post("/ledger/account", {}).status == 405


def test_an_account_without_a_delta_says_how_to_get_one(payer: Visitor) -> None:
    plan = payer.post("/ask/values/plan", {"column": "age", "epsilon": "0.5", "delta": "1e-6"})
    assert "it has delta = 0.0 left of what it sets aside" in plan.words
    assert "dpselect ledger open ... --delta --set-aside" in plan.words


def test_without_a_ledger_no_column_is_made_up() -> None:
    unknown = Visitor(Site(source=ADULT)).enter().get("/ledger")
    assert f"dpselect serve {shlex.quote(ADULT)} --unit COLUMN --ledger" in unknown.words
    assert "person_id" not in unknown.words
    known = Visitor(Site(source=ADULT, unit="person_id")).enter().get("/ledger")
    assert "--epsilon 1 --unit person_id" in known.words


def test_the_history_names_the_question(payer: Visitor) -> None:
    payer.release("median", **MEDIAN)
    id = payer.pages.questions.answered[0].id
    said = payer.get("/ledger/account?name=adult").text
    assert f'<a href="/release/{id}">median of age (' in said, said
