"""The smallest trees for a function that is known."""
