"""Runs of `distill`: the loop over bits and over any features, what is returned at the end, exact answers, and `analyze`."""
