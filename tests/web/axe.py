"""Whether everybody can use a page, as far as a program can tell: axe-core looks at it in the browser."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

_SOURCE = Path(__file__).parent / "vendor" / "axe.min.js"


@cache
def _source() -> str:
    return _SOURCE.read_text(encoding="utf-8")


def violations(page: Page) -> list[str]:
    """What axe-core finds wrong with the page as it is now: the rule, what is meant, and where.

    Only when all of it has come: without its style sheet the colours would be others.
    """
    page.wait_for_load_state("load")
    if not page.evaluate("'axe' in window"):
        page.evaluate(_source())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{rule['id']}: {rule['help']}: {', '.join(str(node['target']) for node in rule['nodes'])}"
        for rule in found["violations"]
    ]
