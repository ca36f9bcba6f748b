"""The means of the browser tests: they say what is missing, and axe-core finds what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.web import chromium
from tests.web.axe import violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGE = "<!doctype html><html lang=en><title>A</title><main><h1>A</h1>{}</main>"


def test_any_of_the_browsers_is_found() -> None:
    assert chromium.program({"google-chrome": "/opt/chrome"}.get) == "/opt/chrome"
    assert chromium.program({}.get) is None


def test_without_a_browser_the_tests_say_how_to_install_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chromium, "program", lambda: None)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt install chromium"):
        chromium.program_or_skip()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="apt install chromium"):
        chromium.program_or_skip()


def test_what_keeps_people_from_using_a_page_is_found(browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.set_content(PAGE.format("<label>Name <input></label>"))
    assert violations(page) == []
    page.set_content(PAGE.format("<input><p style='color: #bbb; background: #fff'>Pale</p>"))
    assert {each.partition(":")[0] for each in violations(page)} == {"label", "color-contrast"}
    context.close()
