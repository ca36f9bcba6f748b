"""The pages of the ledger: what they show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

import dpselect as dps
from dpselect.web import Site
from tests.web.visitor import Visitor

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
    site = Site(source=str(ADULT), unit="person_id", ledger=ledger, account="people")
    return Visitor(site).enter()


def test_accounts_are_shown_with_what_is_left(visitor: Visitor, ledger: dps.Ledger) -> None:
    dps.Dataset(ADULT, unit="person_id", ledger=ledger, account="people").count(epsilon=0.5)
    shown = visitor.get("/ledger").text
    assert "epsilon = 1.5 left of 2." in shown
    assert "a &#34;b&#34; &lt;i&gt;&amp;/é" in shown
    links = [unescape(each) for each in re.findall(r'<h2><a href="(.*?)">', shown)]
    pages = [visitor.get(link) for link in links]
    assert [page.status for page in pages] == [200, 200]
    assert "charge: GeometricMechanism" in pages[0].text
    assert "charge" not in pages[1].text


def test_without_a_ledger_the_page_leads_to_where_one_is_opened() -> None:
    visitor = Visitor(Site(source=str(ADULT), unit="person_id")).enter()
    for page in (visitor.get("/ledger"), visitor.get("/ledger/account?name=x")):
        assert '<a class="button" href="/table">Keep one from now on</a>' in page.text


def test_an_unknown_account_is_no_page(visitor: Visitor) -> None:
    assert visitor.get("/ledger/account?name=nobody").status == 404
    assert visitor.get("/ledger/account").status >= 400


def test_a_question_without_a_column_is_confirmed_answered_and_listed(visitor: Visitor, ledger: dps.Ledger) -> None:
    answer = visitor.release("count", epsilon="0.5")
    assert "How many people are there?" in answer.words
    assert "How many people are there?" in visitor.get("/").words.partition("Answered so far")[2]
    assert "GeometricMechanism" in visitor.get("/ledger/account?name=people").words
