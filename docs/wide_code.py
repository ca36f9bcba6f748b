"""Code and output with columns keeps its lines and scrolls; all other code is wrapped, but not within an option.

The rules are in ``docs/static/pages.css``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

_COLUMNS = re.compile(r"\S {3,}\S|[─┌└├]")
"""A gap that no sentence has, or lines of a drawing."""


def has_columns(text: str) -> bool:
    r"""Whether at least three lines would lose their meaning if they were wrapped.

    >>> has_columns("$ dpselect ledger show\naccount   unit     left\nclicks    session  1\nvisits    person   0\n")
    True
    >>> has_columns("def square(x):\n    return x * x  # a sentence\n")
    False
    """
    return sum(_COLUMNS.search(line) is not None for line in text.splitlines()) >= 3


def _mark(app: Sphinx, page: nodes.document, name: str) -> None:
    from docutils import nodes

    for block in page.findall(nodes.literal_block):
        text = block.astext()
        if has_columns(text):
            block["classes"].append("columns")
        if text == block.rawsource:  # as examples that tests run end in an empty line
            block.rawsource = text.rstrip()
            block.children = [nodes.Text(block.rawsource)]


_BLOCK = re.compile(r"<pre\b.*?</pre>", re.DOTALL)
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def whole_options(body: str) -> str:
    """`body`, a page of HTML, whose blocks are not broken after the hyphens of an option.

    >>> whole_options("<p>--json</p><pre>plan --json</pre>")
    '<p>--json</p><pre>plan <span class="option-name">--json</span></pre>'
    """
    return _BLOCK.sub(lambda block: _OPTION.sub(r'<span class="option-name">\g<0></span>', block[0]), body)


def _write(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    if "body" in context:
        context["body"] = whole_options(context["body"])


def setup(app: Sphinx) -> None:
    """Look at every page."""
    app.connect("doctree-resolved", _mark)
    app.connect("html-page-context", _write)
