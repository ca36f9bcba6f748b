"""Links from wherever a page is named as a file, such as ``proofs/counting.md`` in a docstring.

In the sources such a name is a path, which a test follows. On the site it leads to the page.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

_PAGE = re.compile(r"([\w./-]+)\.md")


def _link(app: Sphinx, page: nodes.document, name: str) -> None:
    """Put a link around each literal that is the path of a page, from the root of the repository."""
    from docutils import nodes

    for literal in list(page.findall(nodes.literal)):
        found = _PAGE.fullmatch(literal.astext())
        if found and found[1] in app.env.found_docs and not isinstance(literal.parent, nodes.reference):
            target = app.builder.get_relative_uri(name, found[1])
            literal.replace_self(nodes.reference("", "", literal.deepcopy(), internal=True, refuri=target))


def setup(app: Sphinx) -> None:
    """Look at every page, once its own links are resolved."""
    app.connect("doctree-resolved", _link)
