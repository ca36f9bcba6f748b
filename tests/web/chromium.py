"""A real browser for the tests: Chromium as the system has it, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
ABSENT = (
    f"No browser was found ({', '.join(PROGRAMS)}): the tests of the pages need one. On Debian: apt install chromium."
)

ELSEWHERE = "elsewhere.test"
"""Every name below it is this machine, for the browser of the tests only: other sites, and names that were rebound."""


def program(which: Callable[[str], str | None] = shutil.which) -> str | None:
    """The path of the first browser that is installed, or None."""
    return next((found for name in PROGRAMS if (found := which(name))), None)


def program_or_skip() -> str:
    """The same; without one, the test is skipped and says how to install one. With `BROWSER_REQUIRED=1` it fails."""
    found = program()
    if found is None:
        (pytest.fail if os.environ.get("BROWSER_REQUIRED") == "1" else pytest.skip)(ABSENT)
    return found


@contextmanager
def started() -> Iterator[Browser]:
    """A browser without a window, and nothing of the user's in it."""
    path = program_or_skip()
    from playwright.sync_api import sync_playwright

    arguments = [f"--host-resolver-rules=MAP *.{ELSEWHERE} 127.0.0.1"]
    if getattr(os, "geteuid", lambda: 1)() == 0:
        arguments.append("--no-sandbox")  # which Chromium refuses to make as root
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        try:
            yield browser
        finally:
            browser.close()
