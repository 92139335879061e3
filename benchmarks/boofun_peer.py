"""boofun's influences of one problem, as JSON: `python -m benchmarks.boofun_peer N P`."""

from __future__ import annotations

import json
import sys

import boofun
import numpy as np
from boofun.analysis.p_biased import PBiasedAnalyzer

from benchmarks.clock import Contestant, shortest
from benchmarks.influences import problem


def main(n: int, p: float) -> None:
    """Its fastest way that we found: the dense table, and the uniform method where the bias is a half."""
    boofun.create(np.array([0, 1, 1, 0]), storage="dense").influences()  # compiles
    function = boofun.create(problem(n)[0].astype(np.bool_), storage="dense")
    ask = function.influences if p == 0.5 else PBiasedAnalyzer(function, p).influences
    flips: list[list[float]] = []
    one = Contestant(lambda _: flips.append(list(map(float, ask()))))
    seconds = one.seconds()
    if seconds < 1:
        seconds = shortest(one, seconds=1)[0]
    print(json.dumps({"seconds": seconds, "flips": flips[0]}))


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
