"""Put what a command printed into a marked block of a document.

``command | python docs/blocks.py README.md bench`` replaces everything between ``<!-- bench:start -->`` and
``<!-- bench:end -->``, so that what a document shows is what a program said.
"""

from __future__ import annotations

import sys
from pathlib import Path


def replaced(document: str, name: str, content: str) -> str:
    r"""`document` with `content` as its block `name`; the document has to have that block exactly once.

    >>> print(replaced("a\n<!-- x:start -->\nold\n<!-- x:end -->\nb", "x", "new"))
    a
    <!-- x:start -->
    new
    <!-- x:end -->
    b
    """
    before, after = _around(document, name)
    return f"{before}\n{content.strip(chr(10))}\n{after}"


def held(document: str, name: str) -> str:
    r"""What block `name` of `document` holds now.

    >>> held("a\n<!-- x:start -->\nold\n<!-- x:end -->\nb", "x")
    'old'
    """
    before, after = _around(document, name)
    return document[len(before) : len(document) - len(after)].strip("\n")


def _around(document: str, name: str) -> tuple[str, str]:
    start, end = f"<!-- {name}:start -->", f"<!-- {name}:end -->"
    if document.count(start) != 1 or document.count(end) != 1 or document.index(start) > document.index(end):
        raise ValueError(f"the document needs exactly one {start} and, after it, one {end}")
    opened = document.index(start) + len(start)
    return document[:opened], document[document.index(end) :]


def main(path: Path, name: str) -> None:
    """Replace the block by what stands on standard input."""
    path.write_text(replaced(path.read_text(encoding="utf-8"), name, sys.stdin.read()), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
