"""The proofs that answers rest on, as parts of a report that needs nothing else.

Their texts are those of the pages in ``proofs``, which a program copies into ``proof_texts``. Formulas stay in TeX, as
on the pages: what would draw them is larger than all texts together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from html import escape
from importlib.resources import files

NOTATION = "proofs/README.md"
"""The page that says what the letters mean."""

_LINK = re.compile(r"\[([^\]]+)\]\(([^)]*)\)")
_MARKED = re.compile(r"(\$\$.+?\$\$|\$[^$]+\$|`[^`]+`)", re.DOTALL)
"""What no other mark is looked for in."""

_ITEM = re.compile(r"(?:[*-]|[0-9]+\.) ")


@cache
def texts() -> dict[str, dict[str, str]]:
    """Of each page, by its name as in certificates: its title, and its text in Markdown."""
    held = {
        each.name: each.read_text(encoding="utf-8")
        for each in files("dpselect.plans").joinpath("proof_texts").iterdir()
    }
    split = {name: text.partition("\n") for name, text in held.items()}
    return {
        f"proofs/{name.removesuffix('.txt')}.md": {"title": title, "text": text.strip()}
        for name, (title, _, text) in sorted(split.items())
    }


def links(pages: Iterable[str]) -> str:
    """A list of the pages, as links to what `appendix` shows; of a page that this version does not have, its name.

    >>> links(["proofs/counting.md", "proofs/" + "unheard_of.md"])  # doctest: +ELLIPSIS
    '<ul><li><a href="#proof-counting">Counting distinct units</a> <code>proofs/counting.md</code></li>...</ul>'
    """
    return f"<ul>{''.join(f'<li>{_link(page)}</li>' for page in pages)}</ul>"


def appendix(pages: Iterable[str]) -> str:
    """The texts of the pages, each folded, with the page on notation before them.

    >>> appendix(["proofs/counting.md"]).count("<details>")
    2
    """
    shown = [page for page in (NOTATION, *pages) if page in texts()]
    return "".join(_page(page, frozenset(shown)) for page in dict.fromkeys(shown))


def _link(page: str) -> str:
    held, name = texts().get(page), f"<code>{escape(page)}</code>"
    return name if held is None else f'<a href="#{_anchor(page)}">{escape(held["title"])}</a> {name}'


def _anchor(page: str) -> str:
    return "proof-" + page.removeprefix("proofs/").removesuffix(".md")


def _page(page: str, shown: frozenset[str]) -> str:
    held = texts()[page]
    # The anchor is inside, so that browsers unfold what a link leads to.
    inner = f'<div id="{_anchor(page)}">{"".join(_blocks(held["text"], shown))}</div>'
    title = "Notation" if page == NOTATION else held["title"]
    return f"<details><summary>{escape(title)}</summary>{inner}</details>"


def _blocks(text: str, shown: frozenset[str]) -> Iterator[str]:
    """The text as HTML: headings, paragraphs, items of lists, and what is best left as it is."""
    for part in re.split(r"^(```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE):
        if part.startswith("```"):
            yield f"<pre>{escape(part.partition(chr(10))[2].removesuffix('```'))}</pre>"
            continue
        for block in filter(None, map(str.strip, re.split(r"\n\s*\n", part))):
            if block.startswith("#"):
                yield f"<h3>{_marked(block.lstrip('# '), shown)}</h3>"
            elif block.startswith("|"):
                yield f"<pre>{escape(block)}</pre>"
            else:
                yield from (f"<p>{_marked(each, shown)}</p>" for each in _paragraphs(block))


def _paragraphs(block: str) -> list[str]:
    """Lines that belong together, on one line each: an item of a list begins anew.

    >>> _paragraphs("Either\\n* this,\\n  or\\n* that.")
    ['Either', '• this, or', '• that.']
    """
    found: list[str] = []
    for line in map(str.strip, block.splitlines()):
        if not found or _ITEM.match(line):
            found.append(re.sub(r"^[*-] ", "\N{BULLET} ", line))
        else:
            found[-1] += f" {line}"
    return found


def _marked(text: str, shown: frozenset[str]) -> str:
    """The text of one paragraph, with its links to pages of the report, and its marks.

    >>> _marked("By [claim 1](counting.md) **all** `x` of $a < b$.", frozenset(["proofs/counting.md"]))
    'By <a href="#proof-counting">claim 1</a> <strong>all</strong> <code>x</code> of <i>a &lt; b</i>.'
    """
    parts = _MARKED.split(text)
    return "".join(_code(part) if at % 2 else _words(part, shown) for at, part in enumerate(parts))


def _code(part: str) -> str:
    name, end = ("code", "`") if part.startswith("`") else ("i", "$")
    return f"<{name}>{escape(part.strip(end).strip())}</{name}>"


def _words(part: str, shown: frozenset[str]) -> str:
    def linked(found: re.Match[str]) -> str:
        page = f"proofs/{found[2].partition('#')[0]}"
        return f'<a href="#{_anchor(page)}">{found[1]}</a>' if page in shown else found[1]

    text = _LINK.sub(linked, escape(part))
    text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)
    return re.sub(r"(?<![\w*])\*(\w[^*]*)\*(?!\w)", r"<em>\1</em>", text)
