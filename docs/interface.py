"""Descriptions of classes on the site, where the extensions that read docstrings would show them wrongly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def whole(docstring: Any) -> tuple[str, list[str]]:
    """The docstring of a property: no type, and all of its lines. Napoleon takes what is before a colon for a type."""
    lines = docstring._dedent(docstring._consume_to_end())
    return "", docstring.__class__(lines, docstring._config).lines()


def is_left_out(app: object, what: str, name: str, member: Any, skip: bool, options: object) -> bool | None:
    """Leave out fields of a named tuple that only say which number they have: its own description lists them.

    >>> from collections import namedtuple
    >>> is_left_out(None, "property", "x", namedtuple("Pair", "x y").x, False, None)
    True
    >>> is_left_out(None, "property", "real", (1).real, False, None)
    """
    return True if str(getattr(member, "__doc__", "")).startswith("Alias for field number") else None


def setup(app: Sphinx) -> None:
    """Change how docstrings are read, and leave members out."""
    from sphinx.ext.napoleon.docstring import GoogleDocstring
    from sphinx.util.inspect import TypeAliasForwardRef

    GoogleDocstring._consume_inline_attribute = whole
    TypeAliasForwardRef.__repr__ = lambda self: self.name
    app.connect("autodoc-skip-member", is_left_out)
