"""A person in front of the browser, who has opened the pages: what they see, and how often they press something."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.web.served import Served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request

WIDE, NARROW = (1280, 900), (390, 844)

_EXPECTED = ("htmx:", "Failed to load resource")
"""How messages begin that an answer with an error, or a request that a later one replaced, leaves in the console."""


@dataclass(slots=True)
class Person:
    """Somebody who uses the pages of `server`.

    Attributes:
        server: where the pages come from.
        context: the browser's cookies, shared by all of their tabs.
        page: the tab in front.
        actions: clicks and keys so far.
        problems: what must never happen: scripts that fail, what the policy forbids, requests to somewhere else.
    """

    server: Served
    context: BrowserContext
    page: Page
    actions: int = 0
    problems: list[str] = field(default_factory=list[str])

    def click(self, target: Locator) -> None:
        """Press the mouse on something."""
        self.actions += 1
        target.click()

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, wherever the focus is."""
        for key in keys:
            self.actions += 1
            self.page.keyboard.press(key)

    def choose(self, field: str, column: str) -> None:
        """Open a list, and choose a column from it."""
        self.actions += 2
        self.page.locator(f'[id="{field}"]').select_option(label=column)

    def type(self, field: str, text: str) -> None:
        """Go to a field, and fill it in: counted as one."""
        self.actions += 1
        self.page.locator(f'[id="{field}"]').fill(text)

    def go(self, path: str) -> None:
        """Open one of the pages."""
        self.page.goto(self.server.origin + path)

    def tab(self) -> Page:
        """Another tab, which is now in front."""
        self.page = self.context.new_page()
        return self.page

    def heading(self) -> str:
        """The heading of the page."""
        return self.page.locator("h1").inner_text()


def go_on(page: Page) -> None:
    """From a question that is filled in to its confirmation: a plan that comes just then does not move the button."""
    page.get_by_role("button", name="Go on", exact=True).click()


@contextmanager
def visiting(browser: Browser, server: Served) -> Iterator[Person]:
    """Somebody who opens the address that the server printed: the tables or the questions. Nothing may go wrong."""
    context = browser.new_context(viewport={"width": WIDE[0], "height": WIDE[1]})
    context.set_default_timeout(120_000)  # a loaded machine is no error of the pages
    person = Person(server, context, context.new_page())

    def hear(message: ConsoleMessage) -> None:
        ours = message.page is not None and message.page.url.startswith(server.origin)
        if ours and message.type in ("error", "warning") and not message.text.startswith(_EXPECTED):
            person.problems.append(message.text)

    context.on("console", hear)
    context.on("weberror", lambda error: person.problems.append(str(error.error)))
    context.on("request", lambda request: _refuse_elsewhere(person, request))
    try:
        person.page.goto(server.opening)
        person.page.get_by_role("heading", level=1).filter(has_text="?").wait_for()
        yield person
        assert person.problems == [], person.problems
    finally:
        context.close()


def _refuse_elsewhere(person: Person, request: Request) -> None:
    """What a page of the server loads has to come from the server."""
    origin = person.server.origin + "/"
    is_ours = not request.is_navigation_request() and request.frame.url.startswith(origin)
    if is_ours and not request.url.startswith(origin):
        person.problems.append(f"a request to {request.url}")
