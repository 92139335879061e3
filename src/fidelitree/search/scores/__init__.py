"""Scores: how much a test would lower the cost of a leaf, estimated from pairs of inputs that differ in one feature."""

from fidelitree.search.scores.best import Scored, best_test
from fidelitree.search.scores.paired import Pairs, draw_pairs

__all__ = ["Pairs", "Scored", "best_test", "draw_pairs"]
