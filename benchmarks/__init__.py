"""Timings of fidelitree beside its peers: `make bench`, or `python -m benchmarks NAME...` for some of them.

A benchmark is a file with `run(smoke) -> Section`; `--smoke` runs all of them at toy sizes in a few seconds.
"""

import os

# One thread each, peers included. The libraries read this when they are loaded, so it stands before all imports.
for _library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
