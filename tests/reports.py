"""What the tests of reports share."""

SIZES = ("small", "medium", "large")
"""3, about 40 and 2 000 leaves."""
HOSTILE = "</script><script>alert(1)</script>"
"""A name that tries to leave the block of data that it is embedded in."""
