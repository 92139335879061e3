"""``strategy="smallest"``: the optimum where it can be computed, and searches for smaller trees where it cannot."""
