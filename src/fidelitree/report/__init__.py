"""A result as one self-contained HTML page: contents -> sections -> page."""

from fidelitree.report.contents import About, Contents, TracePoint
from fidelitree.report.page import render

__all__ = ["About", "Contents", "TracePoint", "render"]
