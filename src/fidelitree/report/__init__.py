"""A result as one self-contained HTML page: contents -> sections -> page."""

from fidelitree.report.contents import Contents, Step
from fidelitree.report.page import render

__all__ = ["Contents", "Step", "render"]
