"""The pages of the ledger: what they show."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import dpselect as dps
from tests.web.visitor import MEDIAN, Visitor, visit

ADULT = Path(__file__).parents[2] / "examples" / "data" / "adult.csv"
NAMES = ("people", 'a "b" <i>&/é')


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[dps.Ledger]:
    with dps.Ledger(f"sqlite:///{tmp_path / 'budget.db'}") as ledger:
        for name in NAMES:
            ledger.open_account(name, epsilon=2.0, unit="person_id")
        yield ledger


@pytest.fixture
def visitor(ledger: dps.Ledger) -> Visitor:
    return visit(str(ADULT), "person_id", ledger=ledger, account="people")


def test_the_account_that_pays_is_shown_and_no_other(visitor: Visitor, ledger: dps.Ledger) -> None:
    dps.Dataset(ADULT, unit="person_id", ledger=ledger, account="people").count(epsilon=0.5)
    shown = visitor.get("/ledger").text
    assert "epsilon = 1.5 left of 2." in shown
    assert "charge: GeometricMechanism" in shown
    assert "&lt;i&gt;" not in shown
    visitor.site.account = NAMES[1]
    other = visitor.get("/ledger").text
    assert "Account a &#34;b&#34; &lt;i&gt;&amp;/é" in other
    assert "charge" not in other


def test_without_a_ledger_the_page_leads_to_where_one_is_opened() -> None:
    visitor = visit(str(ADULT), "person_id")
    assert '<a class="button" href="/table">Keep one from now on</a>' in visitor.get("/ledger").text


def test_a_question_without_a_column_is_confirmed_answered_and_listed(visitor: Visitor, ledger: dps.Ledger) -> None:
    answer = visitor.release("count", epsilon="0.5")
    assert "How many people are there?" in answer.words
    assert "How many people are there?" in visitor.get("/").words.partition("Answered so far")[2]
    assert "charge: count" in visitor.get("/ledger").words


def test_which_rows_count_is_said_before_anything_is_spent_and_after(visitor: Visitor) -> None:
    form = {"epsilon": "0.1", "where": "age=65.."}
    said = "Only rows where age is at least 65 count."
    assert said in visitor.post("/ask/count/plan", form).words
    assert said in visitor.get(visitor.confirm("count", **form)).words
    assert visitor.release("count", **form).words.count(said) == 1
    visitor.release("median", **MEDIAN | form | {"usable_epsilon": "0.05"})
    listed = visitor.get("/").words.partition("Answered so far")[2]
    assert (
        f"What is the median? (age) {said} epsilon 0.1 + 0.05 How many people are there? {said} epsilon 0.1" in listed
    )
    assert f"charge: count {said}" in visitor.get("/ledger").words


def test_that_each_group_has_an_answer_is_said_before_anything_is_spent_and_after(visitor: Visitor) -> None:
    form = {"epsilon": "0.1", "by": "education_num", "groups": "9..10"}
    said = "One answer for each education_num."
    assert said in visitor.post("/ask/count/plan", form).words
    assert said in visitor.get(visitor.confirm("count", **form)).words
    assert said in visitor.release("count", **form | {"where": "age=65.."}).words
    assert f"How many people are there? Only rows where age is at least 65 count. {said}" in visitor.get("/").words
    assert f"charge: count Only rows where age is at least 65 count. {said}" in visitor.get("/ledger").words
