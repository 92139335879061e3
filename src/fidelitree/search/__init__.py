"""Labelled rows or a known function in, trees out; no target and no certificate in sight."""
