"""Circuits of 15 to 25 inputs, where the optimum is out of reach: how much smaller than the exact influence greedy."""

from __future__ import annotations

NAMES = ("b12", "duke2", "vg2", "cordic")
EPSILONS = (0.0, 0.05)
