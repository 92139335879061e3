"""Journals: every answer of a run on disk, so that nothing paid for is lost.

>>> import fidelitree as ft, tempfile
>>> space, path = ft.ProductSpace.bernoulli(5), tempfile.mkdtemp() + "/run.db"
>>> result = ft.distill(lambda batch: batch.sum(axis=1) > 2, space, journal=path)
>>> info(path).answers == result.queries.paid
True
"""

from fidelitree.asking.journal.exporting import Info, export, info

__all__ = ["Info", "export", "info"]
