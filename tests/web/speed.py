"""How fast the pages are and how much they send, in a real browser: ``python -m tests.web.speed`` prints a table.

No test depends on these numbers: ``make pages`` puts them into a document, beside what they should not exceed.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tests.web.chromium import started
from tests.web.person import Person, visiting
from tests.web.served import serving
from tests.web.test_whole_way import MOST_ACTIONS, MOST_BYTES, MOST_TO_A_REPORT, bytes_of_first_page, median, spend

if TYPE_CHECKING:
    from playwright.sync_api import Page

DATA = Path(__file__).parents[2] / "examples" / "data"
TIMES = 15
PLACES = range(10, 250, 16)
"""Of a slider."""

MOST_FIRST, MOST_MOVED = 150, 100
"""Milliseconds."""

_LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
_MOVED = """
([id, place]) => new Promise(done => {
    const slider = document.getElementById(id), began = performance.now();
    document.addEventListener("htmx:afterSettle", () => requestAnimationFrame(() => setTimeout(
        () => done(performance.now() - began))), {once: true});
    slider.value = place;
    slider.dispatchEvent(new Event("input", {bubbles: true}));
})
"""
_CHANGED = """
([id, bound]) => new Promise(done => {
    const field = document.getElementById(id), began = performance.now();
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


SLIDER = "epsilon-place"


def ask(person: Person, question: str, column: str, **typed: str) -> None:
    """Fill in a form, and wait for its plan."""
    page = person.page
    page.goto(f"{person.server.origin}/ask/{question}")
    page.locator("summary").first.click()
    for field, text in typed.items():
        page.locator(f'[id="{field}"]').fill(text)
    page.get_by_label("column", exact=True).select_option(column)
    page.locator(".accuracy").wait_for()
    page.wait_for_load_state("networkidle")


def moves(person: Person, script: str, field: str, values: range) -> list[float]:
    """Milliseconds from a change to the plan that is painted anew."""
    return [person.page.evaluate(script, [field, value]) for value in values]


def processor_time(person: Person, slider: str) -> float:
    """Milliseconds that the server computes for one plan, on average: other programs hardly change it."""

    def spent() -> float:
        fields = Path(f"/proc/{person.server.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return 1000.0 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    before = spent()
    moves(person, _MOVED, slider, PLACES)
    return (spent() - before) / len(PLACES)


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
        ask(person, "median", "age", **{"bounds.lower-end": "0", "bounds.upper-end": "120"}, step="1")
        moved = moves(person, _MOVED, SLIDER, PLACES)
        changed = moves(person, _CHANGED, "bounds.upper-end", range(121, 121 + TIMES))
        ask(person, "top_k", "education_num", k="5", delta="1e-6")
        unlisted = processor_time(person, SLIDER)
    rows = [
        ("clicks and keys to a released median", f"{MOST_ACTIONS}", f"{actions}", ""),
        ("clicks, choices and fields from the folder to a report on three answers", "", f"{MOST_TO_A_REPORT}", ""),
        ("sent for the first page", f"{MOST_BYTES / 1000:,.0f} kB", f"{sent / 1000:,.0f} kB", ""),
    ]
    for name, most, times in (
        ("first page, with all that belongs to it", f"{MOST_FIRST} ms", first),
        ("plan of a median after the slider of epsilon was moved", f"{MOST_MOVED} ms", moved),
        ("plan after the question was changed", "", changed),
    ):
        rows.append((name, most, f"{statistics.median(times):.0f} ms", f"{max(times):.0f} ms"))
    computed = "computed for a plan of the five most common values without a list, after epsilon was moved"
    rows.append((computed, f"{MOST_MOVED} ms", f"{unlisted:.0f} ms", ""))
    print("| what | at most | measured | slowest |")
    print("|---|---|---|---|")
    for row in rows:
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
