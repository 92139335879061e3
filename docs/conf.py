"""Sphinx settings; `make docs` builds the pages and treats every warning as an error."""

from importlib.metadata import version as installed_version

project = "fidelitree"
author = "the fidelitree developers"
copyright = f"2026, {author}"
version = release = installed_version("fidelitree")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]

myst_enable_extensions = ["amsmath", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "description"

html_theme = "furo"
html_title = f"fidelitree {release}"
