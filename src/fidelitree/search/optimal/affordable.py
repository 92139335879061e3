"""What searches for the smallest tree may take, in numbers that are held at once: 3^16 of them are four seconds."""

from __future__ import annotations

NUMBERS = 3**16  # of one program: every restriction of 16 bits, or curves and masses of 350 MB
PASSING = 1 << 18  # of a program that is one of many, some ten milliseconds: nine bits with any curve, eleven without
NODE = 1 << 12  # that take as long as one node of a rollout; no curve of one is longer, so that merging it is no dearer
LISTED = 1 << 16  # inputs of a function that are laid out as a grid
FUNCTIONS = 1 << 19  # that branch and bound may hold: 250 MB, and no more than twenty seconds


class SearchEnded(Exception):  # noqa: N818 - a signal between our own layers
    """The time is up, or all steps are made."""
