"""One browser for all tests of pages that a process runs, and the pages that a server opens in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from dpselect.web import planning
from tests.web import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A real browser. It ends with the tests of this folder: as long as it runs, no other event loop can."""
    with chromium.started() as browser:
        yield browser


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Curves come with their plans, however busy this machine is; tests of late ones say so."""
    monkeypatch.setattr(planning, "AT_ONCE_SECONDS", 60.0)
    monkeypatch.setattr(planning, "PATIENCE_SECONDS", 60.0)
