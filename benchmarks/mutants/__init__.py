"""Which small faults do the tests miss? `make mutants`, or `python -m benchmarks.mutants MODULE...` for a few."""
