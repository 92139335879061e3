"""Linear algebra of our own stays on one thread; what users run does not notice."""

from __future__ import annotations

import os
import subprocess
import sys

SCRIPT = """
import numpy as np
from threadpoolctl import threadpool_info
from fidelitree.threads import one_thread, one_thread_for_good

def threads():
    np.ones((2, 2)) @ np.ones((2, 2))
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

before = threads()
with one_thread():
    inside = threads()
after = threads()
one_thread_for_good()
print(before, inside, after, threads())
"""


def test_the_limit_ends_with_the_block_and_stays_in_a_worker() -> None:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["{2}", "{1}", "{2}", "{1}"]
