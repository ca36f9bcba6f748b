"""How fast the pages are and how much they send, in a real browser: ``python -m tests.web.speed`` prints a table.

No test depends on these numbers: ``make pages`` puts them into a document, beside what they should not exceed.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tests.web.chromium import started
from tests.web.person import Person, visiting
from tests.web.served import serving
from tests.web.test_whole_way import MOST_ACTIONS, MOST_BYTES, bytes_of_first_page, median, spend

if TYPE_CHECKING:
    from playwright.sync_api import Page

DATA = Path(__file__).parents[2] / "examples" / "data"
TIMES = 15
MOST_FIRST, MOST_MOVED = 300, 100
"""Milliseconds."""

_LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
_MOVED = """
place => new Promise(done => {
    const slider = document.getElementById("epsilon-place"), began = performance.now();
    document.addEventListener("htmx:afterSettle", () => requestAnimationFrame(() => setTimeout(
        () => done(performance.now() - began))), {once: true});
    slider.value = place;
    slider.dispatchEvent(new Event("input", {bubbles: true}));
})
"""
_CHANGED = """
bound => new Promise(done => {
    const field = document.getElementById("bounds.upper-end"), began = performance.now();
    document.addEventListener("htmx:afterSettle", () => requestAnimationFrame(() => setTimeout(
        () => done(performance.now() - began))), {once: true});
    field.value = bound;
    field.dispatchEvent(new Event("input", {bubbles: true}));
})
"""


def first_pages(page: Page, address: str) -> Iterator[float]:
    """Milliseconds from the request to the page with all that belongs to it."""
    for _ in range(TIMES):
        page.goto(address, wait_until="load")
        page.wait_for_function(f"{_LOADED} > 0")
        yield page.evaluate(_LOADED)


def moves(person: Person, script: str, values: range) -> Iterator[float]:
    """Milliseconds from a change to the plan that is painted anew."""
    page = person.page
    page.goto(person.server.origin + "/ask/median")
    page.get_by_label("smallest").fill("0")
    page.get_by_label("largest").fill("120")
    page.get_by_label("step", exact=True).fill("1")
    page.get_by_label("column").select_option("age")
    page.locator(".marker.wide").wait_for()
    page.wait_for_load_state("networkidle")
    for value in values:
        yield page.evaluate(script, value)


def main() -> None:
    """Measure, and print a table."""
    with (
        started() as browser,
        serving("adult.csv", "--unit", "person_id", folder=DATA) as server,
        visiting(browser, server) as person,
    ):
        sent = bytes_of_first_page(person)
        person.go("/")
        median(person)
        spend(person)
        actions = person.actions
        first = [*first_pages(person.page, server.origin + "/")]
        moved = [*moves(person, _MOVED, range(10, 250, 16))]
        changed = [*moves(person, _CHANGED, range(121, 121 + TIMES))]
    rows = [
        ("clicks and keys to a released median", f"{MOST_ACTIONS}", f"{actions}", ""),
        ("sent for the first page", f"{MOST_BYTES / 1000:,.0f} kB", f"{sent / 1000:,.0f} kB", ""),
    ]
    for name, most, times in (
        ("first page, with all that belongs to it", f"{MOST_FIRST} ms", first),
        ("plan after the slider was moved", f"{MOST_MOVED} ms", moved),
        ("plan and curve after the question was changed", "", changed),
    ):
        rows.append((name, most, f"{statistics.median(times):.0f} ms", f"{max(times):.0f} ms"))
    print("| what | at most | measured | slowest |")
    print("|---|---|---|---|")
    for row in rows:
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
