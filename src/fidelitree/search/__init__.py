"""Labelled rows or a known function in, trees out; no target and no certificate in sight.

It may import `exact` and the rooms below it, never `certificates` beside it: the contract is in pyproject.toml.
"""
