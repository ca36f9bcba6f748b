"""One browser for all tests of pages that a process runs, and the pages that a server opens in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.web import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A real browser. It ends with the tests of this folder: as long as it runs, no other event loop can."""
    with chromium.started() as browser:
        yield browser
