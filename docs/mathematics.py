"""Formulas as MathML, which browsers show themselves: a page needs no script and no network."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

_QUOTED = re.compile(r"\\(?:text|operatorname)\{[^}]*\}")
_TAG = re.compile(r"\\tag\{([^}]*)\}")
_SENTENCE = re.compile(r"\]\(|(?<![\\a-z])[a-z]{3,} [a-z]{2,} [a-z]{2,}")


_NAMESPACE = "http://www.w3.org/1998/Math/MathML"
_RELATIONS = set("=≤≥<>∈⊆→↦≠≈∝⟺⟹:")
_SIGNS = set("+−-·")
_OPENING, _CLOSING = set("([{⌊⌈⟨"), set(")]}⌋⌉⟩")

LONG = 14
"""Parts of a formula within a line. Longer ones may be broken before relations; if twice as long, before signs."""
WIDE = 24
"""Characters of a formula within a line, or of a part that is not broken, from which it may be wider than a phone."""


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


def broken(formula: str) -> str:
    """A formula within a line as one or several, between which the line may end: browsers do not break one.

    >>> short = '<math xmlns="http://www.w3.org/1998/Math/MathML"><mrow><mi>a</mi><mo>=</mo><mi>b</mi></mrow></math>'
    >>> broken(short) == short
    True
    >>> broken(short.replace("<mo>", "<mi>x</mi>" * 20 + "<mo>")).count("<wbr>")
    1
    """
    ElementTree.register_namespace("", _NAMESPACE)
    whole = ElementTree.fromstring(formula) if formula else None
    if whole is None or len(whole) != 1 or len(whole[0]) <= LONG:
        return formula
    ends = _RELATIONS | (_SIGNS if len(whole[0]) > 2 * LONG else set[str]())
    parts: list[list[ElementTree.Element]] = [[]]
    depth = 0
    for each in whole[0]:
        text = (each.text or "").strip()
        last = each[0].text if len(each) and not text else text  # a bracket may have an exponent
        depth += (text in _OPENING) - (last in _CLOSING)
        if text in ends and depth == 0 and parts[-1]:
            each.set("form", "infix")  # it would be taken for a sign in front
            parts.append([])
        parts[-1].append(each)
    written: list[str] = []
    for part in parts:
        math = ElementTree.Element(whole.tag, whole.attrib)
        ElementTree.SubElement(math, whole[0].tag).extend(part)
        written.append(ElementTree.tostring(math, encoding="unicode"))
    return "<wbr>".join(written)


def inline(translator: HTML5Translator, node: nodes.Element) -> None:
    """A formula within a line."""
    from docutils.nodes import SkipNode

    formula = broken(_shown(node, "inline"))
    is_wide = any(len(re.sub("<[^>]*>", "", part)) > WIDE for part in formula.split("<wbr>"))
    translator.body.append(f'<span class="math{" wide" * is_wide} notranslate">{formula}</span>')
    raise SkipNode


def block(translator: HTML5Translator, node: nodes.Element) -> None:
    """A formula of its own, which scrolls where the window is too narrow."""
    from docutils.nodes import SkipNode

    translator.body.append(f'<div class="math notranslate">{_shown(node, "block")}</div>\n')
    raise SkipNode


def setup(app: Sphinx) -> None:
    """Make it a renderer that ``html_math_renderer`` can name."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
