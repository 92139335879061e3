"""Runs that a time limit ends: what their bounds are worth, and whether the limit is kept."""
