"""Formulas as MathML, which browsers show themselves: a page needs no script and no network."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

_QUOTED = re.compile(r"\\(?:text|operatorname)\{[^}]*\}")
_TAG = re.compile(r"\\tag\{([^}]*)\}")
_SENTENCE = re.compile(r"\]\(|(?<![\\a-z])[a-z]{3,} [a-z]{2,} [a-z]{2,}")


def _shown(node: nodes.Element, display: str) -> str:
    """The formula for a browser. Words in it mean that a dollar sign began or ended it in the wrong place."""
    from latex2mathml.converter import convert
    from sphinx.util import logging

    written = node.astext()
    if not written.strip() or _SENTENCE.search(_QUOTED.sub("", written)):
        logging.getLogger(__name__).warning("a formula holds a sentence, or nothing: %r", written, location=node)
        return ""
    numbered = _TAG.sub(r"\\qquad(\1)", written)
    return convert(numbered, display=display)


def inline(translator: HTML5Translator, node: nodes.Element) -> None:
    """A formula within a line."""
    from docutils.nodes import SkipNode

    translator.body.append(f'<span class="math notranslate">{_shown(node, "inline")}</span>')
    raise SkipNode


def block(translator: HTML5Translator, node: nodes.Element) -> None:
    """A formula of its own, which scrolls where the window is too narrow."""
    from docutils.nodes import SkipNode

    translator.body.append(f'<div class="math notranslate">{_shown(node, "block")}</div>\n')
    raise SkipNode


def setup(app: Sphinx) -> None:
    """Make it a renderer that ``html_math_renderer`` can name."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
