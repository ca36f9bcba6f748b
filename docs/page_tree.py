"""Which pages the site has, and in which order: the four groups of its sidebar, and the pages below a page.

The order is stated here and not in the pages, because elsewhere a `toctree` is shown as a block of odd text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = "docs/index"

PATTERNS = [
    *("docs/*.md", "docs/api/*.md", "docs/tasks/*.md", "docs/decisions/*.md", "proofs/*.md", "proofs/rocq/*.md"),
    *(
        "examples/paper/README.md",
        "examples/densities/README.md",
        "examples/recipes/README.md",
        "examples/not_built/README.md",
        "examples/gallery/README.md",
        "examples/notebooks/*.ipynb",
    ),
    *("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"),
]
"""Files that are pages. README.md is not: the landing page takes its place."""

GROUPS: Mapping[str, Sequence[str]] = {
    "Start": ["docs/start", "docs/choosing", "docs/notebooks"],
    "How to": [
        "docs/checking",
        "docs/auditing",
        "docs/tables",
        "docs/files",
        "Tables on servers and in Spark </docs/engines>",
        "docs/planning",
        "docs/rows",
        "docs/page",
        "docs/plans",
        "docs/unlike",
        "docs/ledger",
        "docs/sklearn",
        "docs/recipes",
        "docs/alerts",
        "Mechanisms for numbers </docs/numbers>",
        "examples/notebooks/pictures",
    ],
    "Explain": [
        "docs/how-it-works",
        "docs/sharp-edges",
        "docs/attacks",
        "docs/assurance",
        "docs/accounting",
        "docs/expensive_scores",
        "Errata in papers </docs/lecture-numbers>",
        "docs/studies",
        "Decisions </docs/decisions/0001-record-decisions>",
    ],
    "Reference": [
        "docs/command-line",
        "docs/api/index",
        "docs/certificates",
        "docs/events",
        "proofs/README",
        "docs/references",
        "docs/benchmarks",
        "CHANGELOG",
        "CONTRIBUTING",
        "SECURITY",
    ],
}
"""The groups of the sidebar; a page may have a shorter name there."""

BELOW: Mapping[str, Sequence[str]] = {
    "docs/notebooks": [
        f"examples/notebooks/{name}"
        for name in ("first_answer", "planning", "ledger_in_a_team", "spark", "feature_selection")
    ],
    "docs/tables": [
        f"docs/tasks/{name}"
        for name in (
            *("count", "histogram", "most_common", "top_k", "values", "least_common"),
            *("sum", "mean", "variance", "quantiles", "upper_bound", "density"),
            *("best_by", "best_date", "best_price", "groups", "where"),
        )
    ],
    "docs/studies": [
        "examples/paper/README",
        "examples/densities/README",
        "examples/recipes/README",
        "examples/not_built/README",
        "examples/gallery/README",
    ],
    "docs/decisions/0001-record-decisions": ["docs/decisions/*"],
    "docs/api/index": [
        f"docs/api/{name}"
        for name in (
            *("tables", "selecting", "numbers", "scores-of-numbers", "distributions"),
            *("planning", "accounting", "ledger", "certificates", "auditing", "sklearn", "recipes", "charts", "errors"),
        )
    ],
    "proofs/README": ["proofs/*", "proofs/rocq/README"],
}
"""Pages below a page; a star stands for all others of a folder."""


def toctree(pages: Sequence[str], caption: str = "") -> str:
    """A directive that puts `pages` into the sidebar.

    >>> print(toctree(["docs/start"], "Start"))
    ```{toctree}
    :hidden:
    :glob:
    :caption: Start
    <BLANKLINE>
    /docs/start
    ```
    """
    options = [":hidden:", ":glob:", *([f":caption: {caption}"] if caption else [])]
    lines = [page if page.endswith(">") else f"/{page}" for page in pages]
    return "\n".join(["```{toctree}", *options, "", *lines, "```"])


def _add_toctrees(app: Sphinx, page: str, source: list[str]) -> None:
    if page == ROOT:
        added = [toctree(pages, caption) for caption, pages in GROUPS.items()]
    elif page in BELOW:
        added = [toctree(BELOW[page])]
    else:
        return
    source[0] = "\n\n".join([source[0], *added])


def setup(app: Sphinx) -> None:
    """Add the trees to the pages as they are read."""
    app.connect("source-read", _add_toctrees)
