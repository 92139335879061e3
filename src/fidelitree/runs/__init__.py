"""Runs of every door: the loop, its goals, what is returned at the end, exact answers, `analyze`."""
