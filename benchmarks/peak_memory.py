"""The largest memory of one exact analysis, as JSON: `python -m benchmarks.peak_memory N` in a fresh process."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from benchmarks.influences import problem
from fidelitree import ProductSpace, analyze
from fidelitree.targets import TruthTable


def peak() -> int:
    """Bytes that this process held at most.

    On Linux ru_maxrss starts from what the parent held when it started us, so the kernel's own mark is read first.
    """
    status = Path("/proc/self/status")
    if status.exists():
        marks = [line.split() for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM")]
        if marks:
            return int(marks[0][1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


if __name__ == "__main__":
    table, biases = problem(int(sys.argv[1]))
    analyze(TruthTable(table), ProductSpace.bernoulli(len(biases), biases))
    print(json.dumps({"bytes": peak()}))
