"""From opening the pages to a certificate, in a real browser."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Page

import dpselect as dps
from dpselect import verify
from tests.question_words import NAMES
from tests.web import pictures
from tests.web.axe import violations
from tests.web.person import NARROW, WIDE, Person, go_on, visiting
from tests.web.served import serving
from tests.web.spoken import focused, tree, unclear

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Request

DATA = Path(__file__).parents[2] / "examples" / "data"
MOST_ACTIONS = 12
MOST_TO_A_REPORT = 24
"""Clicks, choices and fields filled in, from `dpselect serve` to a report on three answers."""

MOST_HEIGHT = 844 * 3 // 2
"""Of a phone's screen, and a half: there the button is."""
MOST_BYTES = 120_000
MOST_SHIFT = 0.05
"""Share of the window by which things move that nobody has moved: an error that appears moves what is below it."""

_SHIFT = """
() => new Promise(done => {
    let sum = 0;
    new PerformanceObserver(list => {
        for (const each of list.getEntries()) if (!each.hadRecentInput) sum += each.value;
    }).observe({type: "layout-shift", buffered: true});
    setTimeout(() => done(sum), 50);
})
"""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('ledger') / 'budget.db'}"


@pytest.fixture(scope="module")
def ledger(url: str) -> Iterator[dps.Ledger]:
    with dps.Ledger(url) as ledger:
        ledger.open_account("people", epsilon=3.0, unit="person_id")
        yield ledger


@pytest.fixture(scope="module")
def person(browser: Browser, url: str, ledger: dps.Ledger) -> Iterator[Person]:
    """Somebody who has adult.csv and an account."""
    payer = "--ledger", url, "--account", "people"
    with (
        serving("adult.csv", "--unit", "person_id", *payer, folder=DATA) as server,
        visiting(browser, server) as person,
    ):
        yield person


def median(person: Person, *, epsilon: str = "", picture: str = "") -> None:
    """From the first page to the confirmation of a median, with as few clicks and keys as it takes."""
    person.click(person.page.get_by_role("link", name="What is the median? middle value"))
    person.page.locator("#column:focus").wait_for()
    person.press("a", "Tab", "0", "Tab", "1", "2", "0")  # age, from 0 to 120
    if epsilon:
        person.page.get_by_label("epsilon", exact=True).fill(epsilon)
    if picture:
        person.page.wait_for_load_state("networkidle")
        pictures.take(person.page, picture)
    person.press("Enter")
    person.page.get_by_role("button", name="Spend it").wait_for()


def spend(person: Person) -> None:
    """From the confirmation to the answer."""
    person.click(person.page.get_by_role("button", name="Spend it"))
    person.page.get_by_role("heading", name="Take it along").wait_for()


def test_a_median_takes_few_clicks_and_keys_and_comes_with_its_certificate(person: Person, ledger: dps.Ledger) -> None:
    before = ledger.account("people").entries
    person.actions = 0
    median(person)
    assert person.heading() == "Spend epsilon 0.5?"
    assert ledger.account("people").entries == before
    spend(person)
    assert person.actions <= MOST_ACTIONS
    assert 30 < float(person.page.locator(".value").inner_text()) < 45
    with person.page.expect_download() as downloading:
        person.page.get_by_role("link", name="Certificate").click()
    certificate = downloading.value.path().read_text(encoding="utf-8")
    checked = verify(certificate, ledger=ledger)
    assert (checked.epsilon, checked.charged, checked.value) == (0.5, True, True)
    (charged,) = ledger.history("people")[before:]
    assert (charged.epsilon, json.loads(certificate)["receipt"]["hash"]) == (0.5, charged.hash)
    assert f"as entry {charged.sequence}" in person.page.locator("main").inner_text()


def bytes_of_first_page(person: Person) -> int:
    """All that is sent for the first page, with the names of its parts and none of it remembered from before."""
    sent: list[Request] = []
    page = person.tab()
    page.on("requestfinished", lambda request: sent.append(request))
    person.go("/")
    page.wait_for_load_state("networkidle")
    sizes = {each.url: each.sizes() for each in sent}
    assert len(sizes) >= 4  # with styles and scripts
    return sum(each["responseBodySize"] + each["responseHeadersSize"] for each in sizes.values())


def test_all_that_is_sent_for_the_first_page_is_small(person: Person) -> None:
    assert 10_000 < bytes_of_first_page(person) <= MOST_BYTES


def pages(person: Person) -> Iterator[str]:
    """Every page of the way, one after the other in front of the person; its name."""
    person.go("/")
    yield "questions"
    person.go("/ask/top_k")
    yield "empty question"
    person.page.get_by_label("column", exact=True).select_option("education_num")
    person.page.locator("#candidates").fill("a,,b")
    person.page.get_by_label("epsilon", exact=True).fill("-1")
    person.page.locator("#epsilon-error").filter(has_text="Expected").wait_for()
    yield "question with errors"
    person.go("/")
    median(person, epsilon="0.01")
    yield "confirmation"
    spend(person)
    yield "answer"
    person.go("/ledger")
    yield "account"
    person.go("/nowhere")
    yield "no page"


@pytest.mark.parametrize(
    ("width", "colours"),
    [
        (WIDE, "light"),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in ((WIDE, "dark"), (NARROW, "light"), (NARROW, "dark"))
        ),
    ],
)
def test_everybody_can_use_every_page(person: Person, width: tuple[int, int], colours: str) -> None:
    page = person.tab()
    page.set_viewport_size({"width": width[0], "height": width[1]})
    page.emulate_media(color_scheme="dark" if colours == "dark" else "light")
    found: dict[str, list[str]] = {}
    for name in pages(person):
        page.wait_for_load_state("load")  # to look earlier would lay the page out without its style sheet
        found[name] = violations(page) + unclear(page)
        if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
            found[name].append("wider than the window")
        if (shift := page.evaluate(_SHIFT)) > MOST_SHIFT:
            found[name].append(f"moves by {shift}")
    assert len(found) > 6
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def end_of_go_on(page: Page) -> float:
    """Where the button ends on the page, in pixels."""
    box = page.get_by_role("button", name="Go on").bounding_box()
    assert box is not None
    return box["y"] + box["height"] + page.evaluate("scrollY")


@pytest.mark.parametrize("question", NAMES)
def test_on_a_phone_the_button_is_on_the_first_screen_and_a_half(person: Person, question: str) -> None:
    page = person.tab()
    page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    person.go(f"/ask/{question}")
    before, waiting = end_of_go_on(page), page.locator("#plan").inner_text()
    for name, text in {
        "bounds.lower-end": "0",
        "bounds.upper-end": "100",
        "candidates": "1..16",
        "people": "9",
    }.items():
        field = page.locator(f'[id="{name}"]')
        if field.is_visible():
            field.fill("2026-01-01" if field.get_attribute("type") == "date" else text)
    if page.locator("#column").is_visible():
        page.locator("#column").select_option("education_num")
    if question != "count":  # whose plan needs nothing more
        page.wait_for_function("before => document.getElementById('plan').innerText !== before", arg=waiting)
    page.wait_for_load_state("networkidle")
    assert end_of_go_on(page) <= MOST_HEIGHT
    assert end_of_go_on(page) == before  # a plan that comes takes it from under nobody's mouse
    assert not page.locator("#where").is_visible()  # nor what few need


def test_the_slider_moves_the_plan(person: Person) -> None:
    page = person.tab()
    person.go("/ask/count")
    page.locator("#plan .value").filter(has_text="± 9").wait_for()
    page.locator("#epsilon").fill("0.1")
    page.locator("#plan .value").filter(has_text="± 46").wait_for()
    slider = page.get_by_label("epsilon by a slider")
    assert slider.input_value() == "90"
    slider.fill("180")
    page.locator("#plan .value").filter(has_text="± 4").wait_for()
    assert (page.locator("#epsilon").input_value(), slider.get_attribute("aria-valuetext")) == ("1", "1")


def test_while_a_plan_is_made_no_earlier_error_is_shown(person: Person) -> None:
    page = person.tab()
    person.go("/ask/median")
    page.locator("#step").fill("x")
    page.locator("#step-error").filter(has_text="Expected").wait_for()
    held: list[Any] = []
    page.route("**/ask/median/plan", lambda route: held.append(route))
    page.locator("#step").fill("1")
    page.locator("#busy").filter(has_text="Planning").wait_for()
    assert page.locator("#plan").get_attribute("aria-busy") == "true"
    assert not page.locator("#step-error").is_visible()
    held[0].continue_()
    page.locator("#busy").wait_for(state="hidden")
    assert page.locator("#step-error").inner_text() == ""
    page.unroute("**/ask/median/plan")


def test_what_is_typed_before_the_scripts_have_come_is_planned(person: Person) -> None:
    page = person.tab()
    held: list[Any] = []
    page.route("**/static/htmx.min.js", lambda route: held.append(route))
    page.goto(person.server.origin + "/ask/count", wait_until="commit")
    page.locator("#epsilon").fill("0.1")
    page.wait_for_function("() => document.styleSheets.length > 0")
    assert page.locator("#plan .value").inner_text() == "± 9"  # of the epsilon that the page came with
    held[0].continue_()
    page.locator("#plan .value").filter(has_text="± 46").wait_for()
    held.clear()
    page.route(
        "**/ask/count/plan", lambda route: held.append(route)
    )  # and one that is replaced before its plan has come
    page.goto(person.server.origin + "/ask/count", wait_until="commit")
    page.locator("#epsilon").fill("0.1")
    with page.expect_request("**/ask/count/plan"):
        held[0].continue_()
    page.unroute("**/ask/count/plan")
    page.locator("#epsilon").fill("1")
    page.locator("#plan .value").filter(has_text="± 4").wait_for()
    page.unroute("**/static/htmx.min.js")
    assert person.problems == []


@pytest.mark.slow
def test_from_the_folder_to_a_report_on_three_answers(browser: Browser, tmp_path: Path) -> None:
    """As somebody who has never seen it, and who keeps a ledger; `MOST_TO_A_REPORT` is told in docs/page.md."""
    shutil.copy(DATA / "adult.csv", tmp_path)
    with serving(folder=tmp_path) as server, visiting(browser, server) as person:
        page = person.page
        person.actions = 0
        pictures.take(page, "page_tables", height=420)
        person.click(page.get_by_role("link", name="adult.csv"))
        person.choose("unit", "person_id")
        person.click(page.get_by_label("A new account"))
        assert violations(page) == []
        pictures.take(page, "page_table")
        person.click(page.get_by_role("button", name="Go on to the questions"))
        person.click(page.get_by_role("link", name="How many people are there?"))
        person.type("epsilon", "0.25")
        answer(person)
        person.click(page.get_by_role("link", name="average"))
        person.choose("column", "age")
        person.type("bounds.lower-end", "0")
        person.type("bounds.upper-end", "120")
        person.type("epsilon", "0.25")
        answer(person)
        assert re.fullmatch(r"38\.[0-9]{1,2}", page.locator(".value").inner_text())
        assert violations(page) == []
        person.click(page.get_by_role("link", name="counts of values"))
        person.choose("column", "education_num")
        person.type("candidates", "1..16")
        answer(person)
        assert page.locator("tbody tr").count() == 16
        assert violations(page) == []
        with page.expect_download() as downloading:
            person.click(page.get_by_role("link", name="Report on 3 answers"))
        report = downloading.value.path().read_text(encoding="utf-8")
        assert report.count("<section>") >= 3
        assert "(epsilon = 1, for all answers here together)" in report
        assert person.actions == MOST_TO_A_REPORT
    assert dps.Ledger(f"sqlite:///{tmp_path / 'budget.db'}").account("adult").left == 0.0


def answer(person: Person) -> None:
    """From a question that is filled in to its answer."""
    person.actions += 1
    go_on(person.page)
    spend(person)


def test_a_listener_hears_the_plan_the_error_and_the_answer(person: Person) -> None:
    page = person.page
    person.go("/ask/median")
    said = page.locator("#said")
    assert said.get_attribute("role") == "status"
    said.evaluate("each => { each.dataset.kept = 'yes' }")
    page.locator("#column").select_option("age")
    page.get_by_label("smallest").fill("0")
    page.get_by_label("largest").fill("120")
    page.get_by_label("step", exact=True).fill("1")
    page.get_by_label("epsilon", exact=True).fill("0.02")
    said.filter(has_text="With 99% confidence").wait_for(state="attached")
    page.get_by_label("step", exact=True).fill("0")
    said.filter(has_text="Expected a finite number").wait_for(state="attached")
    assert said.get_attribute("data-kept") == "yes"  # a region that comes with its text is not read aloud
    assert any(node["role"]["value"] == "status" for node in tree(page))
    go_on(page)
    page.wait_for_url("**/ask/median/confirm")
    assert focused(page) == ("textbox", "step")
    assert "Expected a finite number" in page.locator("#step-error").inner_text()
    page.reload()
    page.get_by_label("step", exact=True).fill("1")
    go_on(page)
    spend(person)
    page.locator("#answer-head:focus").wait_for()
    assert focused(page) == ("heading", "Answer")


def test_what_a_listener_would_miss_is_found(person: Person) -> None:
    page = person.tab()
    page.set_content("<h2>a</h2><h4>b</h4><input type=range><button></button><a href='/'></a>")
    assert sorted(unclear(page)) == [
        "button without a name",
        "heading 4 follows 2",
        "headings begin [2, 4]",
        "link without a name",
        "slider without a name",
    ]
    assert focused(page) == ("", "")


@pytest.mark.slow
def test_the_most_visited_pages_are_released_with_their_counts(browser: Browser, tmp_path: Path) -> None:
    ledger = dps.Ledger(f"sqlite:///{tmp_path / 'budget.db'}")
    ledger.open_account("visits", epsilon=3.0, unit="session")
    shutil.copy(DATA / "clicks.parquet", tmp_path)
    payer = "--ledger", "sqlite:///budget.db", "--account", "visits"
    with (
        serving("clicks.parquet", "--unit", "session", *payer, folder=tmp_path) as server,
        visiting(browser, server) as person,
    ):
        page = person.page
        pictures.take(page, "page_questions", height=760)
        page.get_by_role("link", name="What are the most common values?").click()
        page.locator("#column:focus").wait_for()
        page.locator("#column").select_option("page")
        page.locator("#k").fill("10")
        page.locator("#candidates").fill("1..41270")
        page.get_by_label("with counts").check()
        page.get_by_label("epsilon", exact=True).fill("1")
        page.locator(".accuracy").filter(has_text="within").wait_for()
        page.wait_for_load_state("networkidle")
        page.locator("h1").click()  # away from the field
        pictures.take(page, "page_plan")
        pictures.take(page, "page_phone", width=390, height=844, is_dark=True, top="label[for=epsilon]")
        go_on(page)
        page.get_by_role("button", name="Spend it").wait_for()
        pictures.take(page, "page_confirmation")
        spend(person)
        assert page.locator("tbody tr").count() == 10
        page.wait_for_load_state("networkidle")
        assert page.locator("figure img").evaluate("each => each.complete && each.naturalWidth > 0")
        pictures.take(page, "page_answer")
        assert violations(page) == []
        person.go("/ledger")
        pictures.take(page, "page_account")
    assert ledger.account("visits").left == 2.0
