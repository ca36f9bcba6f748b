"""Descriptions of classes on the site, where the extensions that read docstrings would show them wrongly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

BEFORE_NAPOLEON = 400
"""A priority; extensions have 500."""


def keep_colons(app: object, what: str, name: str, member: object, options: object, lines: list[str]) -> None:
    """Keep the first line of a property whole: napoleon takes what is before a colon for a type.

    >>> lines = ["Whether scores move one way: at levels 0 and 1."]
    >>> keep_colons(None, "property", "", None, None, lines)
    >>> lines
    ['', 'Whether scores move one way: at levels 0 and 1.']
    """
    if what in ("attribute", "data", "property") and lines and lines[0]:
        lines.insert(0, "")


def is_left_out(app: object, what: str, name: str, member: Any, skip: bool, options: object) -> bool | None:
    """Leave out fields of a named tuple that only say which number they have: its own description lists them."""
    return True if str(getattr(member, "__doc__", "")).startswith("Alias for field number") else None


def setup(app: Sphinx) -> None:
    """Look at every docstring."""
    from sphinx.util.inspect import TypeAliasForwardRef

    TypeAliasForwardRef.__repr__ = lambda self: self.name
    app.connect("autodoc-process-docstring", keep_colons, priority=BEFORE_NAPOLEON)
    app.connect("autodoc-skip-member", is_left_out)
