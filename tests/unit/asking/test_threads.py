"""Linear algebra of our own stays on one thread; what users run does not notice."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from fidelitree.asking import threads

SCRIPT = """
import numpy as np
from threadpoolctl import threadpool_info
from fidelitree.asking.threads import one_thread, one_thread_for_good

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


MANY = """
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from threadpoolctl import ThreadpoolController
import fidelitree as ft

libraries = ThreadpoolController().select(user_api="blas")
def threads():
    return tuple(library["num_threads"] for library in libraries.info())

before, inside = threads(), set()
def target(bits):
    inside.add(threads())
    return (bits[:, :5].sum(axis=1) > 2).astype(int)

def run(seed):
    return ft.distill(target, ft.ProductSpace.bernoulli(9), 0.1, seed=seed).certificate.holds

sys.setswitchinterval(1e-5)
with ThreadPoolExecutor(8) as pool:
    assert all(pool.map(run, range(50)))
print(set(before) == {2}, threads() == before, inside == {before})
"""


def test_many_runs_in_threads_leave_the_libraries_as_they_were_and_their_targets_free() -> None:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", MANY], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "True"]


FORKED = """
import os
from threadpoolctl import threadpool_info
import numpy as np
from fidelitree.asking.threads import all_threads, one_thread

def threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

with one_thread():
    with all_threads():
        inside = threads()
    if os.fork() == 0:
        with all_threads():
            print(inside, threads(), flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_process_that_is_forked_off_inherits_no_limit() -> None:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", FORKED], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["{2}", "{2}"]


class OpenMP:
    """A library that has a number of threads for each thread."""

    threading_layer = "openmp"

    def __init__(self) -> None:
        self.numbers = threading.local()

    def get_num_threads(self) -> int:
        return getattr(self.numbers, "number", 4)

    def set_num_threads(self, number: int) -> None:
        self.numbers.number = number


def test_a_library_with_a_number_for_each_thread_is_set_by_that_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    library = OpenMP()
    monkeypatch.setattr(threads, "_libraries", lambda: [library])
    found: list[int] = []

    def beside() -> None:
        with threads.all_threads():
            found.append(library.get_num_threads())
        with threads.one_thread():
            found.append(library.get_num_threads())
        found.append(library.get_num_threads())

    with threads.one_thread():
        found.append(library.get_num_threads())
        other = threading.Thread(target=beside)
        other.start()
        other.join()
        found.append(library.get_num_threads())
    assert [*found, library.get_num_threads()] == [1, 4, 1, 4, 1, 4]
