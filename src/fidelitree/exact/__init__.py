"""Exact engines: everything about a target inside a region, computed instead of drawn."""
