"""How many labels a certified tree costs: `make bench-queries`, or `python -m benchmarks.queries NAME...`.

A benchmark is a file with `run(settings) -> Section`. Labels are those *asked*, the certificate's own included, and
repeats too where there are more than 2^20 inputs; of fewer, each counts once, ours and the peers'. `--smoke` runs all
of them at toy sizes in a few seconds.
"""
