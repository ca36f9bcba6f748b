"""The report: one page that needs nothing else, says everything that was released, and is safe to open."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import replace
from email.message import Message
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import dpselect as dps
from dpselect.charts import drawing
from dpselect.errors import MissingExtraError
from dpselect.plans import answers as module
from tests.rows.tables import write_csv

NASTY = "<script>alert(1)</script>\"'&"
ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "section", "h1", "h2", "p", "span", "code"),
    *("div", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "img", "a"),
}


class Page(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, Mapping[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += "" if "style" in self.open else f"{data} "


def refused(page: Page) -> list[str]:
    """What a page of this kind must not have: other elements, handlers of events, and anything from elsewhere."""
    found = [tag for tag, _ in page.elements if tag not in ALLOWED]
    for tag, attributes in page.elements:
        found += [name for name in attributes if name.startswith("on") or name in ("action", "srcset")]
        found += [name for name in attributes if name == "href" and tag != "a"]
        found += [
            str(value) for name, value in attributes.items() if name == "src" and not str(value).startswith("data:")
        ]
    return found


def plan(folder: Path, **about: Any) -> dps.Plan:
    lines = [b"%d,%d,%d" % (person, person % 90, person % 4) for person in range(300)]
    write_csv(folder / "people.csv", lines, header=f'who,age,"{NASTY.replace(chr(34), chr(34) * 2)}"\n'.encode())
    questions: dict[str, Any] = {
        "typical_age": {"ask": "median", "column": "age", "bounds": [0, 120], "step": 1},
        "by_kind": {"ask": "histogram", "column": NASTY, "candidates": [0, 1, 2, 3]},
        "ages": {"ask": "histogram", "column": "age", "candidates": "0..89"},
        "in_groups": {"ask": "count", "by": NASTY, "groups": [0, 1]},
        "common": {"ask": "top_k", "column": NASTY, "k": 2, "candidates": [0, 1, 2, 3], "with_counts": True},
    }
    return dps.Plan(table=str(folder / "people.csv"), unit="who", epsilon=5.0, questions=questions, **about)


def no_renderer(_: str) -> Any:
    raise MissingExtraError("plots", "plots")


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """To draw them takes longest."""
    monkeypatch.setattr(drawing, "loaded", no_renderer)


def test_the_page_says_what_was_released(tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("people", epsilon=8)
    answers = plan(tmp_path, name="Kinds & ages", ledger=ledger, account="people").run(out=tmp_path / "out")
    page = Page((tmp_path / "out" / "report.html").read_text())
    assert page.open == []
    assert ("html", {"lang": "en"}) in page.elements
    said = " ".join(page.text.split())
    for release in answers.values():
        assert release.accuracy in said
        assert release.mechanism in said
        for proof in release.proofs:
            assert proof in said
    for number in [answers["typical_age"].value, *answers["by_kind"].value, *answers["common"].counts]:
        assert f" {dps_text(number)} " in said
    assert "Kinds & ages" in said
    assert "Table: people.csv. Protected: each who." in said
    assert "becomes at most 149 times as likely or unlikely by it (epsilon = 5, for all answers" in said  # e^5 = 148.4
    assert "promises epsilon = 8 in all; 5 of it is spent, with these answers, and 3 is left." in said
    assert ledger.account("people").head in said
    assert "40 more rows are in the certificate." in said


@pytest.mark.usefixtures("without_pictures")
def test_what_readers_ask_is_said_once(tmp_path: Path) -> None:
    said = plan(tmp_path).run().report()
    assert said.count("The number of units with usable rows was not released") == 1
    assert "usable_epsilon" not in said
    assert said.count("Ranks count rows in the order of their values") == 1
    assert said.count("Epsilon measures how much an answer may show") == 1
    about: dict[str, Any] = {"table": str(tmp_path / "people.csv"), "unit": "who", "epsilon": 1.0}
    counted = dps.Plan(**about, questions={"all": {"ask": "count"}}).run().report()
    assert "Ranks count" not in counted


@pytest.mark.usefixtures("without_pictures")
def test_a_single_number_stands_with_its_interval(tmp_path: Path) -> None:
    plan(tmp_path)
    mean = dps.Dataset(tmp_path / "people.csv", unit="who").mean("age", bounds=(0, 120), epsilon=1.0)
    lower, upper = mean.table()[1][0][-1].split(" to ")
    assert f"99% interval: {lower} to {upper}." in Page(dps.report([mean])).text
    assert len(lower.partition(".")[2]) == len(upper.partition(".")[2]) > 0


def dps_text(number: object) -> str:
    return str(number).removesuffix(".0")


def test_the_page_needs_and_runs_nothing(tmp_path: Path) -> None:
    text = plan(tmp_path, name=NASTY).run().report()
    page = Page(text)
    assert refused(page) == []
    assert NASTY in page.text
    (policy,) = [each["content"] for tag, each in page.elements if tag == "meta" and "http-equiv" in each]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    own = re.sub(r'data:image/svg\+xml;base64,[\w+/=]+|<a href="[^"]+"', "", text)  # a link is followed by hand
    assert re.findall(r"https?:|//[a-z]|@import|url\(", own) == []
    pictures = [each for tag, each in page.elements if tag == "img"]
    assert len(pictures) == 4  # all but that of the median
    assert all(each["alt"] for each in pictures)


@pytest.mark.parametrize(
    "bad",
    ["<script></script>", '<p onclick="go()"></p>', '<img src="https://example.org/a.png">', '<link href="x.css">'],
)
def test_a_page_that_runs_or_loads_something_is_found(bad: str) -> None:
    assert refused(Page(bad)) != []


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize("site", ["https://example.org/dpselect", "https://example.org/dpselect/", ""])
def test_proofs_are_links_where_the_package_knows_its_documentation(
    site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = Message()
    about["Project-URL"] = "Source, https://example.org/source"
    if site:
        about["Project-URL"] = f"Documentation, {site}"

    def metadata(_: str) -> Message:
        return about

    monkeypatch.setattr(module, "metadata", metadata)
    answers = plan(tmp_path).run()
    page = Page(answers.report())
    assert (page.open, refused(page)) == ([], [])
    pages = {"proofs/composition.md"}.union(*(each.proofs for each in answers.values()))
    assert all(each in page.text for each in pages)
    linked = {each["href"] for tag, each in page.elements if tag == "a" and "download" not in each}
    assert linked == {f"https://example.org/dpselect/{each.removesuffix('.md')}.html" for each in pages if site}


@pytest.mark.usefixtures("without_pictures")
def test_every_number_can_be_checked_against_the_certificate_beside_it(tmp_path: Path) -> None:
    answers = plan(tmp_path).run()
    page = Page(answers.report())
    held = {str(each["download"]): str(each["href"]) for tag, each in page.elements if "download" in each}
    assert [*held] == [f"{name}.json" for name in answers]
    for name, address in held.items():
        kind, _, text = address.partition(",")
        assert kind == "data:application/json;base64"
        assert dps.verify(b64decode(text).decode()).release == answers[name.removesuffix(".json")]
    shown = page.text.split()
    for release in answers.values():
        cells = [cell for row in release.table()[1][:50] for cell in row[len(row) > 1 :]]
        assert [word for each in cells for word in each.split() if word not in shown] == []


@pytest.mark.usefixtures("without_pictures")
def test_a_large_epsilon_is_called_hardly_any_protection(tmp_path: Path) -> None:
    assert "hardly any protection" not in plan(tmp_path).run().report()
    about: dict[str, Any] = {
        "table": str(tmp_path / "people.csv"),
        "unit": "who",
        "questions": {"all": {"ask": "count"}},
    }
    said = dps.Plan(**about, epsilon=5.5).run().report()
    assert "This is hardly any protection." in said
    assert "hardly changes" not in said


@pytest.mark.usefixtures("without_pictures")
def test_without_the_extra_there_are_no_pictures(tmp_path: Path) -> None:
    page = Page(plan(tmp_path).run().report())
    assert not [tag for tag, _ in page.elements if tag == "img"]
    assert "Nothing was charged to a ledger" in page.text


@pytest.mark.usefixtures("without_pictures")
def test_a_delta_is_said_and_a_seed_is_loud(tmp_path: Path) -> None:
    answers = plan(tmp_path).run()
    assert "This may fail" not in answers.report()
    releases = {name: replace(each, delta=1e-6) for name, each in answers.items()}
    about: dict[str, Any] = {"name": "x", "account": None, "epsilon": answers.epsilon, "delta": 5e-6}
    said = " ".join(dps.Answers(by_name=releases, **about).report().split())
    assert "This may fail with a probability of at most delta = 5e-06." in said
    with dps.testing.seeded(7):
        page = plan(tmp_path).run().report()
    assert "Seeded: not private." in page
    assert "hardly changes" not in page


def test_the_promise_of_replaced_units_is_another(tmp_path: Path) -> None:
    write_csv(tmp_path / "people.csv", [b"1,2", b"2,2"], header=b"who,age\n")
    about: dict[str, Any] = {"table": str(tmp_path / "people.csv"), "unit": "who", "epsilon": 1.0}
    questions: dict[str, Any] = {"q": {"ask": "histogram", "column": "age", "candidates": [1, 2]}}
    said = dps.Plan(**about, questions=questions, neighbours="replace_one").run().report()
    assert "Which rows any one who has in the table hardly changes these answers" in said


@pytest.mark.usefixtures("without_pictures")
def test_answers_that_were_asked_one_by_one_have_a_report(tmp_path: Path) -> None:
    plan(tmp_path)
    data = dps.Dataset(tmp_path / "people.csv", unit="who")
    first, second = data.count(epsilon=0.5), data.where(age=(18, None)).count(epsilon=0.25)
    age = data.median("age", bounds=(0, 120), step=1, epsilon=0.125)
    page = Page(dps.report([first, second, age], title=NASTY))
    assert (page.open, refused(page)) == ([], [])
    said = " ".join(page.text.split())
    assert "(epsilon = 0.875, for all answers here together)" in said
    assert [each["download"] for tag, each in page.elements if tag == "a" and "download" in each] == [
        *("1. count.json", "2. count.json", "median of age.json")
    ]
    assert "Nothing was charged to a ledger" in said
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("people", epsilon=8)
    paid = dps.Dataset(tmp_path / "people.csv", unit="who", ledger=ledger, account="people").count(epsilon=0.5)
    assert "Charged to the accounts of a ledger: people (entry 1)." in dps.report([paid])


def test_a_report_is_about_answers_about_one_table(tmp_path: Path) -> None:
    plan(tmp_path)
    count = dps.Dataset(tmp_path / "people.csv", unit="who").count(epsilon=0.5)
    other = dps.Dataset(tmp_path / "people.csv", unit="age").count(epsilon=0.5)
    bad: list[tuple[Any, str]] = [
        ([], "<0 entries>"),
        ([count, 5], "<2 entries>"),
        ([count, other], "<several tables>"),
    ]
    for releases, got in bad:
        with pytest.raises(dps.errors.InvalidParameterError, match=f"releases={got}: expected answers"):
            dps.report(releases)
