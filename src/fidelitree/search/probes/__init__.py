"""Probes: what a grower may know about the leaves of a growing tree."""
