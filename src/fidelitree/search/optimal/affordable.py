"""What searches for the smallest tree may take: every limit of this package, so that they can be seen and swept."""

from __future__ import annotations

# Dynamic programs over all restrictions.
RESTRICTIONS = 3**16  # of 16 bits: the optimum takes three bytes for each, nine where it is the average depth
AT_ONCE = 3**14  # restrictions that are solved without being asked to: seconds
LISTED = 1 << 16  # inputs of a function that are laid out as a grid
NUMBERS = 4e7  # of all curves together, where the curves are what was asked for
SOME_NUMBERS, FEW_NUMBERS = 2e7, 4e6  # where they are one way among others: half a minute, and a few seconds
FIRST_WIDTH = 16  # leaves, or levels, of the first curve that is tried; then twice as many
WIDE = 64  # leaves of the first curve where it is likely to be needed whole
CELLS, SETS = 1 << 16, 8  # of the tests of a tree: combinations of all features' cells, cells of one category
QUICK, PATIENT = 5e6, 2e9  # steps of a program that finds substitutes for a tree: milliseconds, and some seconds
FEW_BITS = 8  # bits whose restrictions are solved together: more would take much memory at once

# Branch and bound.
BRANCHES = 100_000  # functions that it looks into where no time is given: ten seconds or less
FUNCTIONS = 1 << 20  # that it may hold: about 500 MB
BITS, HOPELESS = 64, 1_000  # bits, and leaves of the first tree: with more it is not begun

# Rollouts.
LEAVES = 1 << 12  # of trees that are searched for
SOLVED = 6, 9, 11  # features of which all trees are considered: at first, later, and where no error is allowed
STEPS = 10_000  # after the first search, where no time is given: half a minute or less, the same on every machine
STEP = 2_000, 250  # restrictions that take as long as one node of a search: their optimum, their curves


class SearchEnded(Exception):  # noqa: N818 - a signal between our own layers
    """The time is up, or all steps are made."""
