"""The means of the browser tests: they say what is missing, and axe-core finds what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.web import chromium, pictures
from tests.web.axe import violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PAGE = "<!doctype html><html lang=en><title>A</title><main><h1>A</h1>{}</main>"


def test_any_of_the_browsers_is_found() -> None:
    assert chromium.program({"google-chrome": "/opt/chrome"}.get) == "/opt/chrome"
    assert chromium.program({}.get) is None


def test_without_a_browser_the_tests_say_how_to_install_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chromium, "program", lambda: None)
    monkeypatch.delenv("BROWSER_REQUIRED", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt install chromium"):
        chromium.program_or_skip()
    monkeypatch.setenv("BROWSER_REQUIRED", "1")
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


def test_a_picture_with_few_colours_keeps_them(browser: Browser) -> None:
    pixels = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [9, 8, 7]], [[9, 8, 7], [255, 255, 255]]], np.uint8)
    assert (pictures.pixels_of(browser, pictures.with_few_colours(pixels)) == pixels).all()
    many = np.stack([*np.meshgrid(np.arange(32), np.arange(32)), np.full((32, 32), 7)], axis=-1).astype(np.uint8)
    many[:8] = [200, 100, 0]
    few = pictures.pixels_of(browser, pictures.with_few_colours(many))
    assert len(np.unique(few.reshape(-1, 3), axis=0)) == 256
    assert (few[:8] == many[:8]).all()
