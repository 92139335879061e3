"""How many labels a certified tree costs: `make bench-queries`, or `python -m benchmarks.queries NAME...`.

A benchmark is a file with `run(settings) -> Section`. Labels are those *asked*: repeats are not discounted, and the
certificate's own are included. `--smoke` runs all of them at toy sizes in a few seconds.
"""
