"""Runs of every door: the loop, strategies, stopping rules, what is returned at the end, exact answers, `analyze`."""
