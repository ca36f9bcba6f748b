"""The site of the documents: ``make docs``. Pages are read where they lie, so that their links work everywhere."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]

project = "dpselect"
author = "The dpselect contributors"
copyright = author  # the name that Sphinx wants
version = release = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinxcontrib.bibtex",
]
root_doc = "docs/index"
include_patterns = ["*.md", "docs/*.md", "docs/tasks/*.md", "docs/decisions/*.md", "proofs/*.md"]
include_patterns += ["examples/paper/README.md", "examples/densities/README.md"]
exclude_patterns = ["docs/_build"]

myst_enable_extensions = ["amsmath", "dollarmath"]
myst_heading_anchors = 3

napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_typehints = "description"
# As they are written, not what they stand for.
_WRITTEN = ("ScoresLike", "FloatArray", "IntArray", "NumericArray", "PointScore", "VectorScore", "Score")
autodoc_type_aliases = {name: name for name in _WRITTEN} | {"npt.ArrayLike": "ArrayLike"}
autodoc_typehints_description_target = "documented"
autoclass_content = "both"

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"

html_theme = "furo"
html_title = "dpselect"
