"""The largest memory of one run, as JSON: `python -m benchmarks.run_memory N EPSILON` in a fresh process."""

from __future__ import annotations

import json
import sys

import fidelitree as ft
from benchmarks.overhead import rule
from benchmarks.peak_memory import peak

if __name__ == "__main__":
    space = ft.ProductSpace.bernoulli(int(sys.argv[1]))
    result = ft.distill(rule, space, float(sys.argv[2]))
    assert result.certificate.holds, str(result.certificate)
    print(json.dumps({"bytes": peak(), "queries": int(result.queries.asked)}))
