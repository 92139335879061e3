"""How small trees are that ``strategy="smallest"`` finds: against the exact greedy, CART, pystreed and ``"auto"``.

``python -m benchmarks.smallest --write`` writes benchmarks/smallest/RESULTS.md.
"""
