"""The proofs as reports show them, from the pages in ``proofs``: ``python docs/proof_texts.py`` writes them.

``src/dpselect/plans/proof_texts.json``, kept up to date by ``make readme``; a test compares the two. Of each page it
has the title, and the sections that a reader of a report can follow without the sources: what is claimed, under which
conditions, the proof, and what is not claimed.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACE = ROOT / "src" / "dpselect" / "plans" / "proof_texts.json"

LEFT_OUT = ("Pseudocode", "What the code does", "Sources")
"""Models in `tests/reference`, and which file does what, are of no use without the sources."""

NOTATION = "Notation, the same on every page"
"""The section of the list of all pages that is shown."""


def texts() -> dict[str, dict[str, str]]:
    """Of each page, by its name as in certificates: its title, and its text in Markdown."""
    return {
        f"proofs/{page.name}": _shown(page.read_text(encoding="utf-8"))
        for page in sorted((ROOT / "proofs").glob("*.md"))
    }


def _shown(page: str) -> dict[str, str]:
    head, *sections = re.split(r"^## ", page, flags=re.MULTILINE)
    title, _, begin = head.removeprefix("# ").partition("\n")
    heads = [each.partition("\n")[0] for each in sections]
    shown = [NOTATION] if NOTATION in heads else [each for each in heads if each not in LEFT_OUT]
    kept = [] if NOTATION in heads else [begin.strip()]
    kept += [f"## {each.strip()}" for head, each in zip(heads, sections, strict=True) if head in shown]
    return {"title": title, "text": "\n\n".join(kept)}


def written() -> str:
    """The file."""
    return json.dumps(texts(), indent=0, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    PLACE.write_text(written(), encoding="utf-8")
