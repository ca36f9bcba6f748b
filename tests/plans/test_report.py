"""The report: one page that needs nothing else, says everything that was released, and is safe to open."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from docs import proof_texts

import dpselect as dps
from dpselect import mechanisms
from dpselect.charts import files
from dpselect.errors import InvalidParameterError, MissingExtraError
from dpselect.plans import pdf, proof_pages
from dpselect.plans.report import PLAINLY
from tests.backends.tables import write_csv

NASTY = "<script>alert(1)</script>\"'&"
ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "section", "h1", "h2", "p", "span", "code"),
    *("div", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "img", "b"),
    *("details", "summary", "h3", "pre", "a", "i", "strong", "em"),
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
    for _, attributes in page.elements:
        found += [name for name in attributes if name.startswith("on") or name in ("action", "srcset")]
        found += [name for name, value in attributes.items() if name == "href" and not str(value).startswith("#")]
        found += [value for name, value in attributes.items() if name == "src" and not str(value).startswith("data:")]
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
    assert "40 more rows are in answers.json." in said


def test_what_readers_ask_is_said_once(tmp_path: Path) -> None:
    said = plan(tmp_path).run().report()
    assert said.count("How many had rows that could be used was not asked") == 1
    assert "usable_epsilon" not in said
    assert said.count("Ranks count rows in the order of their values") == 1
    assert said.count("GeometricMechanism adds a random whole number to each count.") == 1
    assert all(hasattr(mechanisms, name) for name in PLAINLY)
    about: dict[str, Any] = {"table": str(tmp_path / "people.csv"), "unit": "who", "epsilon": 1.0}
    counted = dps.Plan(**about, questions={"all": {"ask": "count"}}).run().report()
    assert "Ranks count" not in counted
    assert "QuantileMechanism" not in counted


def dps_text(number: float) -> str:
    return str(number).removesuffix(".0")


def test_the_page_needs_and_runs_nothing(tmp_path: Path) -> None:
    text = plan(tmp_path, name=NASTY).run().report()
    page = Page(text)
    assert refused(page) == []
    assert NASTY in page.text
    (policy,) = [each["content"] for tag, each in page.elements if tag == "meta" and "http-equiv" in each]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert (
        re.findall(r"https?:|//[a-z]|@import|url\(", re.sub(r"data:image/svg\+xml;base64,[A-Za-z0-9+/=]+", "", text))
        == []
    )
    pictures = [each for tag, each in page.elements if tag == "img"]
    assert len(pictures) == 4  # all but that of the median
    assert all(each["alt"] for each in pictures)


@pytest.mark.parametrize(
    "bad",
    ["<script></script>", '<p onclick="go()"></p>', '<img src="https://example.org/a.png">', '<a href="x"></a>'],
)
def test_a_page_that_runs_or_loads_something_is_found(bad: str) -> None:
    assert refused(Page(bad)) != []


def dead(page: Page) -> list[str]:
    """Links to places that the page does not have."""
    places = {f"#{each['id']}" for _, each in page.elements if "id" in each}
    return [str(each["href"]) for tag, each in page.elements if tag == "a" and each["href"] not in places]


def test_the_page_has_the_proofs_and_links_lead_to_them(tmp_path: Path) -> None:
    answers = plan(tmp_path).run()
    page = Page(answers.report())
    assert dead(page) == []
    assert page.open == []
    links = {each["href"] for tag, each in page.elements if tag == "a"}
    for release in answers.values():
        assert {f"#proof-{name.removeprefix('proofs/').removesuffix('.md')}" for name in release.proofs} <= links
    assert "#proof-composition" in links
    said = " ".join(page.text.split())
    assert "The score c_v(D) of a public candidate v is the number of different units" in said
    assert dead(Page('<a href="#nowhere">x</a>')) == ["#nowhere"]  # the control


def test_the_proofs_are_those_of_the_sources_and_small_enough() -> None:
    assert proof_texts.held() == proof_texts.texts(), "run python docs/proof_texts.py"
    pages = [*proof_pages.texts()]
    assert len(pages) > 40
    whole = proof_pages.links(pages) + proof_pages.appendix(pages)
    assert len(whole.encode()) < 500_000
    page = Page(whole)
    assert (page.open, refused(page), dead(page)) == ([], [], [])
    for name, held in proof_pages.texts().items():
        assert len(held["text"]) > 1000, name
        assert "## Pseudocode" not in held["text"]
    assert not re.search(r"\]\([a-z_]+\.md", re.sub(r"<pre>.*?</pre>", "", whole, flags=re.DOTALL))


def test_what_a_proof_says_is_only_text() -> None:
    marked = proof_pages._marked(f"{NASTY} $a<b$ [x](<b>)", frozenset())  # pyright: ignore[reportPrivateUsage]
    assert Page(marked).elements == [("i", {})]


def test_without_the_extra_there_are_no_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise MissingExtraError("plots", "plots")

    monkeypatch.setattr(files, "_loaded", missing)
    page = Page(plan(tmp_path).run().report())
    assert not [tag for tag, _ in page.elements if tag == "img"]
    assert "Nothing was charged to a ledger" in page.text


def test_a_delta_is_said_and_a_seed_is_loud(tmp_path: Path) -> None:
    answers = plan(tmp_path).run()
    assert "This may fail" not in answers.report()
    releases = {name: replace(each, delta=1e-6) for name, each in answers.items()}
    about: dict[str, Any] = {"name": "x", "words": answers.words, "account": None}
    said = " ".join(dps.Answers(releases, **about).report().split())
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


def weasyprint_or_skip() -> Any:
    """The library; it cannot be imported where the system has no Pango."""
    try:
        return importlib.import_module("weasyprint")
    except (ImportError, OSError) as missing:
        pytest.skip(f"PDF needs WeasyPrint and Pango (on Debian: apt install libpango-1.0-0): {type(missing).__name__}")


def test_the_report_is_printed_as_pdf(tmp_path: Path) -> None:
    """Its text is compressed and encoded by font; so what is looked at is the text that the library lays out."""
    weasyprint = weasyprint_or_skip()
    answers = plan(tmp_path).run(out=tmp_path / "out", pdf=True)
    held = (tmp_path / "out" / "report.pdf").read_bytes()
    assert held.startswith(b"%PDF-")
    assert b"/CreationDate" not in held  # nothing tells the time
    laid_out = weasyprint.HTML(string=answers.report()).render()
    boxes = [each for page in laid_out.pages for each in page._page_box.descendants()]
    text = " ".join(each.text for each in boxes if type(each).__name__ == "TextBox")
    for name, release in answers.items():
        assert name.replace("_", " ") in text
        if isinstance(release.value, int | float):
            assert str(release.value).removesuffix(".0") in text


def test_a_pdf_that_cannot_be_made_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    monkeypatch.setattr(dps.Dataset, "ask", lambda *_: pytest.fail("asked"))
    with pytest.raises(MissingExtraError, match="extra 'pdf'"):
        plan(tmp_path).run(out=tmp_path / "out", pdf=True)
    with pytest.raises(InvalidParameterError, match="pdf=True: expected a folder"):
        plan(tmp_path).run(pdf=True)
    assert not (tmp_path / "out").exists()


def test_the_pdf_loads_nothing(tmp_path: Path) -> None:
    weasyprint = weasyprint_or_skip()
    (tmp_path / "near.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>")
    _, fetcher = pdf._library()
    with pytest.raises(Exception, match=r"protocol|not allowed|[Ff]orbidden"):
        fetcher.fetch((tmp_path / "near.svg").as_uri())
    assert weasyprint.urls.URLFetcher().fetch((tmp_path / "near.svg").as_uri()) is not None  # control
