"""A result as one self-contained HTML page: contents -> sections -> page."""

from fidelitree.report.contents import Contents, TracePoint
from fidelitree.report.page import render

__all__ = ["Contents", "TracePoint", "render"]
