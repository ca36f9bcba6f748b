"""Wide code on the site is wrapped, but not within an option, and lines with columns are not: their block scrolls.

The rules are in ``docs/static/pages.css``.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

_BLOCK = re.compile(r"(<pre\b[^>]*>)(.*?)(</pre>)", re.DOTALL)
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_COLUMNS = re.compile(r"\S {3,}\S|[─┌└├]")
"""A gap that no sentence has, or lines of a drawing."""

_PYTHON = re.compile(r"^(>>>|\.\.\.)( |$)")
"""A line of Python, whose indentation is no column."""

_COMMENT = re.compile(r" +# .*")


def marked(body: str) -> str:
    r"""`body`, a page of HTML, in whose code options and lines with columns are marked for the style sheet.

    >>> marked("<p>--json</p><pre>plan --json</pre>")
    '<p>--json</p><pre>plan <span class="option-name">--json</span></pre>'
    >>> marked("<pre>account   left\nclicks    1\nvisits    0\nA sentence.</pre>").count('class="row"')
    3
    >>> marked("<pre>&gt;&gt;&gt; for i in range(2):\n...     print(i)\n...     print(-i)</pre>").count('class="row"')
    0
    """
    return _BLOCK.sub(lambda block: block[1] + _marked(block[2]) + block[3], body)


def _marked(block: str) -> str:
    lines = _OPTION.sub(r'<span class="option-name">\g<0></span>', block).split("\n")
    wide = [_has_columns(html.unescape(re.sub(r"<[^>]*>", "", line))) for line in lines]
    if sum(wide) < 2:
        return "\n".join(lines)
    return "\n".join(
        f'<span class="row">{line}</span>' if each else line for line, each in zip(lines, wide, strict=True)
    )


def _has_columns(line: str) -> bool:
    return _PYTHON.match(line) is None and _COLUMNS.search(_COMMENT.sub("", line)) is not None


def _write(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    if "body" in context:
        context["body"] = marked(context["body"])


def _trim(app: Sphinx, page: nodes.document, name: str) -> None:
    """Take away the empty line at the end of code, in which examples end that tests run."""
    from docutils import nodes

    for block in page.findall(nodes.literal_block):
        if block.astext() == block.rawsource:
            block.rawsource = block.rawsource.rstrip()
            block.children = [nodes.Text(block.rawsource)]


def setup(app: Sphinx) -> None:
    """Look at every page."""
    app.connect("doctree-resolved", _trim)
    app.connect("html-page-context", _write)
