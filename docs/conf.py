"""The site of the documents: ``make docs``. Pages are read where they lie, so that their links work everywhere."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from docs import interface, mathematics, page_links, page_tree, wide_code  # noqa: E402

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "dpselect"
author = "The dpselect contributors"
copyright = author  # the name that Sphinx wants
version = release = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinxcontrib.bibtex"]
root_doc = page_tree.ROOT
include_patterns = page_tree.PATTERNS
exclude_patterns = ["docs/_build"]

myst_enable_extensions = ["amsmath", "dollarmath"]
myst_dmath_double_inline = True  # formulas on lines of their own within a paragraph
myst_heading_anchors = 3

# Notebooks are committed without outputs: what the site shows is what they print while it is built.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True
nb_output_stderr = "remove"  # logs of Spark

default_role = "py:obj"  # names in single backticks become links
napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_default_options = {
    "members": True,
    "inherited-members": "str, tuple, ValueError, UserWarning, Warning, Exception, BaseException",
}
autodoc_typehints = "description"
# As they are written, not what they stand for.
_WRITTEN = ("ScoresLike", "FloatArray", "IntArray", "PointScore", "VectorScore", "Score")
autodoc_type_aliases = {name: name for name in _WRITTEN} | {"npt.ArrayLike": "ArrayLike"}
autodoc_typehints_description_target = "documented"
autoclass_content = "both"

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"

html_theme = "furo"
html_title = "dpselect"
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False


def setup(app: Sphinx) -> None:
    """What the site needs beyond extensions that others wrote."""
    for part in (page_tree, page_links, wide_code, mathematics, interface):
        part.setup(app)
