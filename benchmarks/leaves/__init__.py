"""Leaves that a certified tree of a real model has, ours and the peers': `make bench-leaves`.

Every method is given the same labels to grow from and to choose by, and tests its candidates on the same stream of
fresh answers, from the smallest candidate to the largest, each with its own share of delta.
"""
