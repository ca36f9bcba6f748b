"""What people do with pages: press twice, go back, reload, open tabs; and servers and budgets that end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import dpselect as dps
from tests.web.person import Person, go_on, visiting
from tests.web.served import Served, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

ROWS = 3_000_000
"""Which take long enough to read that one can reload meanwhile."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("awkward")
    (folder / "small.csv").write_text("person,age\n" + "".join(f"{each},{each % 90}\n" for each in range(1000)))
    (folder / "large.csv").write_text("person,age\n" + "".join(f"{each},{each % 90}\n" for each in range(ROWS)))
    return folder


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[dps.Ledger]:
    with dps.Ledger(f"sqlite:///{tmp_path / 'budget.db'}") as ledger:
        ledger.open_account("people", epsilon=2.0, unit="person")
        yield ledger


Serve = Callable[..., AbstractContextManager[Served]]


@pytest.fixture
def serve(folder: Path, tmp_path: Path, ledger: dps.Ledger) -> Serve:
    """Start a server about a table, on a port."""

    def start(table: str = "small.csv", port: int = 0) -> AbstractContextManager[Served]:
        payer = "--ledger", f"sqlite:///{tmp_path / 'budget.db'}", "--account", "people"
        return serving(table, "--unit", "person", *payer, folder=folder, port=port)

    return start


@pytest.fixture
def person(browser: Browser, serve: Serve) -> Iterator[Person]:
    with serve() as server, visiting(browser, server) as person:
        yield person


def confirm(person: Person, page: Page | None = None, *, epsilon: str = "0.5") -> None:
    """Go to the confirmation of a median."""
    page = page or person.page
    page.goto(person.server.origin + "/ask/median")
    page.get_by_label("column", exact=True).select_option("age")
    page.get_by_label("smallest").fill("0")
    page.get_by_label("largest").fill("120")
    page.get_by_label("step", exact=True).fill("1")
    page.get_by_label("epsilon", exact=True).fill(epsilon)
    go_on(page)
    page.get_by_role("button", name="Spend it").wait_for()


def answered(page: Page) -> str:
    """Wait for the answer."""
    page.get_by_role("heading", name="Take it along").wait_for()
    return page.locator(".value").inner_text()


def spent(ledger: dps.Ledger) -> float:
    return float(ledger.account("people").spent)


def test_a_double_click_spends_once(person: Person, ledger: dps.Ledger) -> None:
    confirm(person)
    person.page.get_by_role("button", name="Spend it").dblclick()
    answered(person.page)
    assert spent(ledger) == 0.5


def test_without_scripts_a_double_click_spends_once_too(person: Person, browser: Browser, ledger: dps.Ledger) -> None:
    confirm(person)
    context = browser.new_context(java_script_enabled=False, storage_state=person.context.storage_state())
    page = context.new_page()
    page.goto(person.page.url)
    page.get_by_role("button", name="Spend it").dblclick()
    answered(page)
    page.goto(person.server.origin + "/ask/count")
    page.locator("#epsilon").fill("0.25")
    go_on(page)
    page.get_by_role("button", name="Spend it").click()
    answered(page)
    context.close()
    assert spent(ledger) == 0.75


def test_going_back_and_pressing_again_shows_the_same_answer(person: Person, ledger: dps.Ledger) -> None:
    confirm(person)
    person.page.get_by_role("button", name="Spend it").click()
    first = answered(person.page)
    for _ in range(3):
        person.page.go_back()
        person.page.wait_for_load_state()
        if (again := person.page.get_by_role("button", name="Spend it")).count():
            again.click()
            assert answered(person.page) == first
    person.page.go_forward()
    assert spent(ledger) == 0.5


def test_what_was_typed_is_there_again_after_going_back(person: Person, ledger: dps.Ledger) -> None:
    confirm(person, epsilon="0.25")
    person.page.get_by_role("link", name="Back to the question").click()
    assert person.page.get_by_label("largest").input_value() == "120"
    assert person.page.get_by_label("epsilon", exact=True).input_value() == "0.25"
    assert person.page.get_by_label("column", exact=True).input_value() == "age"
    assert spent(ledger) == 0


def test_two_tabs_with_one_confirmation_spend_once_and_with_two_of_them_twice(
    person: Person, ledger: dps.Ledger
) -> None:
    confirm(person)
    other = person.context.new_page()
    other.goto(person.page.url)
    for page in (person.page, other):
        page.get_by_role("button", name="Spend it").click(no_wait_after=True)
    assert answered(person.page) == answered(other)
    assert spent(ledger) == 0.5
    confirm(person)
    confirm(person, other)
    for page in (person.page, other):
        page.get_by_role("button", name="Spend it").click()
        answered(page)
    assert spent(ledger) == 1.5


def test_reloading_while_rows_are_read_neither_stops_nor_spends_twice(
    browser: Browser, serve: Serve, ledger: dps.Ledger
) -> None:
    with serve("large.csv") as server, visiting(browser, server) as person:
        confirm(person)
        person.page.get_by_role("button", name="Spend it").click()
        assert person.heading() == "Reading the table"
        for _ in range(3):
            person.page.reload()
        value = answered(person.page)
        person.page.reload()
        assert answered(person.page) == value
        assert spent(ledger) == 0.5


def test_reading_can_be_stopped_and_then_nothing_is_spent(browser: Browser, serve: Serve, ledger: dps.Ledger) -> None:
    with serve("large.csv") as server, visiting(browser, server) as person:
        confirm(person)
        person.page.get_by_role("button", name="Spend it").click()
        person.page.get_by_role("button", name="Stop").click()
        assert person.heading() == "Stopped"
        assert spent(ledger) == 0
        person.page.get_by_role("button", name="Try again").click()
        answered(person.page)
        assert spent(ledger) == 0.5


def test_a_server_that_is_lost_spends_nothing_and_its_answers_are_there_again(
    browser: Browser, serve: Serve, ledger: dps.Ledger
) -> None:
    with serve() as server, visiting(browser, server) as person:
        port = server.port
        confirm(person)
        person.page.get_by_role("button", name="Spend it").click()
        value, kept = answered(person.page), person.page.url.removeprefix(server.origin)
        confirm(person)
        waiting = person.page.url.removeprefix(server.origin)
        server.stop()
        with person.page.expect_event("requestfailed"):
            person.page.get_by_role("button", name="Spend it").click(no_wait_after=True)
    assert spent(ledger) == 0.5
    with serve(port=port) as server, visiting(browser, server) as person:
        person.go(waiting)
        assert person.heading() == "No such question"
        person.go(kept)
        assert answered(person.page) == value
        assert spent(ledger) == 0.5


def test_a_table_that_is_written_meanwhile_is_noticed_and_nothing_is_spent(
    person: Person, folder: Path, ledger: dps.Ledger
) -> None:
    confirm(person)
    with (folder / "small.csv").open("a", encoding="utf-8") as file:
        file.write("1000,50\n")
    person.page.get_by_role("button", name="Spend it").click()
    person.page.get_by_text("was written after this page had been opened").wait_for()
    assert spent(ledger) == 0


def test_a_spent_account_says_so_before_and_after(person: Person, ledger: dps.Ledger) -> None:
    confirm(person)
    ledger.set_limit("people", epsilon=0.25)
    person.page.get_by_role("button", name="Spend it").click()
    refused = person.page.get_by_role("alert").inner_text()
    assert re.search(r"epsilon 0\.25 left .* Nothing was charged or drawn", refused)
    person.go("/ask/median")
    for name, text in (("smallest", "0"), ("largest", "120"), ("epsilon", "0.5")):
        person.page.get_by_label(name, exact=True).fill(text)
    person.page.get_by_label("step", exact=True).fill("1")
    person.page.get_by_label("column", exact=True).select_option("age")
    person.page.locator(".budget .error").filter(has_text="0.25").wait_for()
    ledger.close("people")
    person.page.get_by_label("epsilon", exact=True).fill("0.1")
    person.page.locator(".error").filter(has_text="closed").first.wait_for()
    assert spent(ledger) == 0
