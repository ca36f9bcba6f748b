"""What a screen reader is told of a page: the browser's own tree of it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

_CONTROLS = {
    "button",
    "checkbox",
    "combobox",
    "Date",
    "DisclosureTriangle",
    "link",
    "listbox",
    "radio",
    "searchbox",
    "slider",
    "spinbutton",
    "textbox",
}
_NAMED = _CONTROLS | {"heading", "image", "img", "region", "navigation"}


def tree(page: Page) -> list[dict[str, Any]]:
    """All nodes that are spoken, in their order."""
    session = page.context.new_cdp_session(page)
    try:
        nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    finally:
        session.detach()
    return [node for node in nodes if not node.get("ignored")]


def unclear(page: Page) -> list[str]:
    """What a listener would miss: controls without a name, headings that are missing or out of order."""
    nodes = tree(page)
    roles = [(_text(node, "role"), _text(node, "name").strip()) for node in nodes]
    found = [f"{role} without a name" for role, name in roles if role in _NAMED and not name]
    levels = [_level(node) for node in nodes if _text(node, "role") == "heading"]
    if levels.count(1) != 1 or levels[0] != 1:
        found.append(f"headings begin {levels[:3]}")
    found += [f"heading {after} follows {before}" for before, after in pairwise(levels) if after > before + 1]
    if not any(role in _CONTROLS for role, _ in roles):
        found.append("no control at all")
    return found


def focused(page: Page) -> tuple[str, str]:
    """Role and name of what has the focus."""
    for node in tree(page):
        properties = {each["name"]: each["value"].get("value") for each in node.get("properties", [])}
        if properties.get("focused") and _text(node, "role") != "RootWebArea":
            return _text(node, "role"), _text(node, "name")
    return "", ""


def _text(node: dict[str, Any], part: str) -> str:
    return str(node.get(part, {}).get("value", ""))


def _level(node: dict[str, Any]) -> int:
    return next(each["value"]["value"] for each in node["properties"] if each["name"] == "level")
