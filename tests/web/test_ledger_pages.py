"""The pages of the ledger: what they show, and that nothing changes before it was confirmed."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

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
    site = Site(source=str(ADULT), unit="person_id", ledger=ledger, ledger_url="sqlite:///b.db", account="people")
    return Visitor(site).enter()


def hidden(page: str) -> dict[str, str]:
    """The hidden fields of a page's forms."""
    return {name: unescape(value) for name, value in re.findall(r'type="hidden" name="(\w+)" value="(.*?)"', page)}


def test_accounts_are_shown_with_what_is_left(visitor: Visitor, ledger: dps.Ledger) -> None:
    dps.Dataset(ADULT, unit="person_id", ledger=ledger, account="people").count(epsilon=0.5)
    shown = visitor.get("/ledger").text
    assert "epsilon = 1.5 left of 2; 0.5 spent." in shown
    assert "a &#34;b&#34; &lt;i&gt;&amp;/é" in shown
    links = [unescape(each) for each in re.findall(r'<h2><a href="(.*?)">', shown)]
    pages = [visitor.get(link) for link in links]
    assert [page.status for page in pages] == [200, 200]
    assert "charge: GeometricMechanism" in pages[0].text
    assert "charge" not in pages[1].text


def test_without_a_ledger_the_page_says_how_to_open_one() -> None:
    visitor = Visitor(Site(source=str(ADULT), unit="person_id")).enter()
    for page in (visitor.get("/ledger"), visitor.get("/ledger/account?name=x"), visitor.get("/ledger/close")):
        assert "dpselect ledger open sqlite:///budget.db people --epsilon 1 --unit person_id" in page.text


@pytest.mark.parametrize("name", NAMES)
def test_a_limit_is_lowered_once_it_was_confirmed(visitor: Visitor, ledger: dps.Ledger, name: str) -> None:
    asked = visitor.get("/ledger/lower?" + urlencode({"name": name, "limit": "1.5", "reason": "less"}))
    assert "from 2 to 1.5?" in asked.text
    assert ledger.account(name).epsilon == 2
    done = visitor.post("/ledger/change", hidden(asked.text))
    assert done.status == 303
    assert "epsilon = 1.5 left of 1.5" in visitor.get(done.headers["location"]).text
    assert ledger.history(name)[-1].note == "less"
    again = visitor.post("/ledger/change", hidden(asked.text))
    assert (again.status, ledger.account(name).entries) == (400, 2)


def test_an_account_is_closed_once_it_was_confirmed(visitor: Visitor, ledger: dps.Ledger) -> None:
    asked = visitor.get("/ledger/close?" + urlencode({"name": "people"}))
    assert "Close people for ever?" in asked.text
    assert ledger.account("people").is_open
    closed = visitor.post("/ledger/change", hidden(asked.text))
    assert not ledger.account("people").is_open
    assert "Change it" not in visitor.get(closed.headers["location"]).text
    assert visitor.post("/ledger/change", hidden(asked.text)).status == 400


def test_what_was_confirmed_is_not_done_if_something_was_charged_since(visitor: Visitor, ledger: dps.Ledger) -> None:
    asked = visitor.get("/ledger/close?" + urlencode({"name": "people"}))
    dps.Dataset(ADULT, unit="person_id", ledger=ledger, account="people").count(epsilon=0.5)
    refused = visitor.post("/ledger/change", hidden(asked.text))
    assert (refused.status, "Nothing was changed" in refused.text) == (400, True)
    assert ledger.account("people").is_open


def test_a_confirmation_cannot_be_made_up(visitor: Visitor, ledger: dps.Ledger) -> None:
    for made_up in ({}, {"seen": ""}, {"seen": "0" * 64}):
        assert visitor.post("/ledger/change", {"name": "people", **made_up}).status == 400
    assert visitor.post("/ledger/change", {"name": "people", "limit": "1"}).status == 400
    assert visitor.get("/ledger/change").status == visitor.get("/ledger/close").status == 303
    assert ledger.account("people").entries == 1


@pytest.mark.parametrize("limit", ["3", "2", "x", "", "-1"])
def test_a_limit_that_is_refused_is_explained_beside_its_field(
    visitor: Visitor, ledger: dps.Ledger, limit: str
) -> None:
    refused = visitor.get("/ledger/lower?" + urlencode({"name": "people", "limit": limit, "reason": "r"}))
    assert refused.status == 400
    assert 'id="refused" role="alert">limit=' in refused.text
    assert 'value="r"' in refused.text
    assert ledger.account("people").entries == 1


def test_an_unknown_account_is_no_page(visitor: Visitor) -> None:
    assert visitor.get("/ledger/account?name=nobody").status == 404
    assert visitor.get("/ledger/account").status >= 400


def test_a_whole_ledger_is_verified_and_damage_is_told(visitor: Visitor, tmp_path: Path) -> None:
    sent = visitor.post("/ledger/verify")
    assert (sent.status, sent.headers["location"]) == (303, "/ledger/verified")
    assert "All entries are those that were written" in visitor.get("/ledger/verified").text
    with closing(sqlite3.connect(tmp_path / "budget.db")) as raw, raw:
        for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            raw.execute(f"DROP TRIGGER {name}")
        raw.execute('UPDATE dpselect_entries SET body = replace(body, \'"epsilon":"2"\', \'"epsilon":"9"\')')
    damaged = visitor.get("/ledger/verified")
    assert (damaged.status, 'role="alert"' in damaged.text) == (409, True)
    assert "All entries are those" not in damaged.text


def test_a_question_without_a_column_is_confirmed_answered_and_listed(visitor: Visitor, ledger: dps.Ledger) -> None:
    answer = visitor.release("count", epsilon="0.5")
    assert "How many people are there?" in answer.words
    assert "How many people are there?" in visitor.get("/").words.partition("Answered since")[2]
    assert "GeometricMechanism" in visitor.get("/ledger/account?name=people").words
