"""The proofs as reports show them, from the pages in ``proofs``: ``python docs/proof_texts.py`` writes them.

``src/dpselect/plans/proof_texts`` has a file of each, kept up to date by ``make readme``; a test compares them. Of each
page it has the title, and the sections that a reader of a report can follow without the sources: what is claimed, under
which conditions, the proof, and what is not claimed.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACE = ROOT / "src" / "dpselect" / "plans" / "proof_texts"

LEFT_OUT = ("Pseudocode", "What the code does", "Sources")
"""Models in `tests/reference`, and which file does what, are of no use without the sources."""

NOTATION = "Notation, the same on every page"
"""The section of the list of all pages that is shown."""


def texts() -> dict[str, str]:
    """What is in each file: a line with the title, and the text in Markdown."""
    pages = sorted((ROOT / "proofs").glob("*.md"))
    return {f"{page.stem}.txt": _shown(page.read_text(encoding="utf-8")) for page in pages}


def _shown(page: str) -> str:
    head, *sections = re.split(r"^## ", page, flags=re.MULTILINE)
    title, _, begin = head.removeprefix("# ").partition("\n")
    heads = [each.partition("\n")[0] for each in sections]
    shown = [NOTATION] if NOTATION in heads else [each for each in heads if each not in LEFT_OUT]
    kept = [] if NOTATION in heads else [begin.strip()]
    kept += [f"## {each.strip()}" for head, each in zip(heads, sections, strict=True) if head in shown]
    return "\n\n".join([title, *kept]) + "\n"


def held() -> dict[str, str]:
    """What the files have now."""
    return {each.name: each.read_text(encoding="utf-8") for each in sorted(PLACE.glob("*.txt"))}


if __name__ == "__main__":
    PLACE.mkdir(exist_ok=True)
    for old in held():
        (PLACE / old).unlink()
    for name, text in texts().items():
        (PLACE / name).write_text(text, encoding="utf-8")
