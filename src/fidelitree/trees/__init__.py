"""Trees: decision trees as values, how rows go down them, and what they look like in a file."""
