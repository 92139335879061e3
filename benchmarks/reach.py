"""Slow, far and wide targets against their bars. Others use this machine too: the load is printed beside each figure.

python -m benchmarks.reach server             a server with 200 ms latency, 50 rows a second, one call in 20 fails
python -m benchmarks.reach simulated          the same on a clock that jumps: waiting is simulated, work is not
python -m benchmarks.reach engines            50 ms a row on 64 workers; one digest on every engine that is installed
python -m benchmarks.reach million [--runs 5] a tree of depth 4 over a million bits, each run in a process of its own
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

import fidelitree as ft
from benchmarks.peak_memory import peak
from fidelitree.asking import on_loop

SPACE = ft.ProductSpace.bernoulli(20)
LIMIT, LATENCY, FAILS = 50, 0.2, 20  # rows a second, seconds, and one call in so many
SHARE, SECONDS = 0.9, 0.5  # bars: of the limit; for 64 workers
FEATURES, DEPTH, RELEVANT = 10**6, 4, 20
BARS = {"labels": 400, "seconds": 60.0, "gigabytes": 2.0}


def load() -> str:
    return f"load {os.getloadavg()[0]:.1f}"


def judged(met: bool) -> str:
    return "met" if met else "NOT MET"


def served(name: str, answer: Callable[[list[int]], int], ask: Callable[[Any], Any]) -> None:
    """Rows answered over limit times elapsed, from the call of the library to its return."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from endpoints import Endpoint, serving

    with serving(Endpoint(lambda rows: [answer(row) for row in rows], LATENCY, FAILS, LIMIT)) as endpoint:
        target = ft.targets.http(endpoint.url, rows_per_second=LIMIT)
        began = time.monotonic()
        ask(target)
        elapsed = time.monotonic() - began
    share = endpoint.rows / (LIMIT * elapsed)
    told = f"{endpoint.rows} rows in {elapsed:.1f} s, {endpoint.calls} calls, {endpoint.refused} refused, "
    told += f"{endpoint.busiest} rows at most in a second"
    print(
        f"server, {name}: {share:.3f} of the limit ({told}); bar {SHARE}: {judged(share >= SHARE)}; {load()}",
        flush=True,
    )


class SimulatedLoop(asyncio.SelectorEventLoop):
    """Waiting takes no time: the clock jumps to what is next. What the process computes does take its time."""

    def __init__(self) -> None:
        super().__init__()
        self.now, self._worked = 0.0, time.process_time()
        self._selector: Any
        wait = self._selector.select

        def jump(seconds: float | None = None) -> Any:
            found = wait(None if seconds is None else 0)
            self.now += 0.0 if found or seconds is None else seconds
            return found

        self._selector.select = jump

    def time(self) -> float:
        worked = time.process_time()
        self.now, self._worked = self.now + worked - self._worked, worked
        return self.now


class BusyError(Exception):
    retry_after = 0.05


def simulated(name: str, answer: Callable[[list[int]], int], ask: Callable[[Any], Any]) -> None:
    """The same server without sockets and without the load of the machine."""
    loops, sent, seen = list[SimulatedLoop](), list[tuple[float, int]](), {"calls": 0, "rows": 0, "refused": 0}

    async def far(batch: Any) -> Any:
        began = now()
        seen["calls"] += 1
        failing, busy = seen["calls"] % FAILS == 0, sum(rows for at, rows in sent if at > began - 1) + len(batch)
        if busy > 1.1 * LIMIT + 1:
            seen["refused"] += 1
            raise BusyError
        sent.append((began, len(batch)))
        await asyncio.sleep(LATENCY)
        if failing:
            raise ConnectionError("the line is dead")
        seen["rows"] += len(batch)
        return [answer(row) for row in batch]

    def made() -> SimulatedLoop:
        loops.append(SimulatedLoop())
        return loops[-1]

    def now() -> float:
        return loops[-1].time()

    clock = SimpleNamespace(monotonic=now, time=time.time)
    with patch.object(on_loop, "time", clock), patch.object(asyncio, "new_event_loop", made):
        ask(ft.targets.Remote(far, rows_per_second=LIMIT))
    share = seen["rows"] / (LIMIT * loops[-1].now)
    busiest = max(sum(rows for at, rows in sent if end - 1 < at <= end) for end, _ in sent)
    told = f"{seen['rows']} rows in {loops[-1].now:.1f} s, {seen['calls']} calls, {seen['refused']} refused, "
    told += f"{busiest} rows at most in a second"
    print(
        f"simulated server, {name}: {share:.3f} of the limit ({told}); bar {SHARE}: {judged(share >= SHARE)}",
        flush=True,
    )


def server(measure: Callable[..., None] = served) -> None:
    """What fails is paid for with rows of the limit, too: at 5 % failures nobody exceeds .95."""
    how: dict[str, Any] = {"retries": 5}
    tree = ft.Tree.constant(SPACE, 1)
    measure("certify", rule, lambda target: ft.certify(tree, target, SPACE, within=0.005, max_queries=1500, **how))
    few = partial(ft.distill, space=SPACE, prefer="rounds", **how)
    measure("distill a rule", rule, partial(few, epsilon=0.01))
    measure("distill multiplexer 20", multiplexer, partial(few, epsilon=0.03))


def rule(row: list[int]) -> int:
    return row[3] & (row[0] | row[7])


def multiplexer(row: list[int]) -> int:
    return int(ft.targets.multiplexer(4)(np.array([row], np.uint8))[0])


def slow(batch: Any) -> Any:
    """50 ms for each row."""
    time.sleep(0.05 * len(batch))
    return batch[:, 3] & (batch[:, 0] | batch[:, 7])


def fast(batch: Any) -> Any:
    return batch[:, 3] & (batch[:, 0] | batch[:, 7])


@contextmanager
def dask() -> Iterator[Any]:
    distributed = import_module("distributed")
    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client.get_executor()


@contextmanager
def joblib(backend: str) -> Iterator[Any]:
    if backend == "ray":
        import_module("ray.util.joblib").register_ray()
    with import_module("joblib").parallel_config(backend=backend, n_jobs=2):
        yield "joblib"


@contextmanager
def made(module: str, name: str) -> Iterator[Any]:
    pool = getattr(import_module(module), name)
    yield partial(pool, 2)


ENGINES: dict[str, Callable[[], Any]] = {
    "threads": lambda: ThreadPoolExecutor(2),
    "processes": lambda: ProcessPoolExecutor(2),
    "loky": partial(made, "loky", "ProcessPoolExecutor"),
    "joblib, threading": partial(joblib, "threading"),
    "joblib, loky": partial(joblib, "loky"),
    "Dask": dask,
    "Ray through joblib": partial(joblib, "ray"),
    "mpi4py": partial(made, "mpi4py.futures", "MPIPoolExecutor"),
}


def engines() -> None:
    usual = ft.distill(fast, SPACE)
    for name, engine in ENGINES.items():
        with ExitStack() as closing:
            try:
                executor = closing.enter_context(engine())
                found = ft.distill(fast, SPACE, executor=executor)
            except ImportError as error:
                print(f"engine {name}: not installed ({error})", flush=True)
                continue
            same = (found.tree.digest, found.certificate, found.queries) == (
                usual.tree.digest,
                usual.certificate,
                usual.queries,
            )
            print(f"engine {name}: the same digest, certificate and queries: {judged(same)}", flush=True)
    for prefer in ("queries", "rounds"):
        print(workers(prefer), flush=True)


def workers(prefer: Any) -> str:
    """The best of three: what is measured is the run, not what else the machine does."""
    taken = []
    with ThreadPoolExecutor(64) as pool:
        for _ in range(4):  # the first starts threads
            began = time.perf_counter()
            found = ft.distill(slow, SPACE, epsilon=0.05, executor=pool, prefer=prefer)
            taken.append(time.perf_counter() - began)
    told = f'prefer="{prefer}": {found.queries.asked:,} labels, {found.queries.rounds} rounds, {min(taken[1:]):.2f} s'
    return f"64 threads, 50 ms a row, {told}; bar {SECONDS} s: {judged(min(taken[1:]) <= SECONDS)}; {load()}"


def one_of_a_million(seed: int) -> dict[str, Any]:
    """A complete tree of depth 4 that reads up to 15 of a million fair bits."""
    small = ft.ProductSpace.bernoulli(RELEVANT)
    tree, read = ft.targets.balanced(small, DEPTH, seed), np.random.default_rng(seed).choice(FEATURES, RELEVANT, False)
    began, worked = time.monotonic(), time.process_time()
    space = ft.ProductSpace.bernoulli(FEATURES)
    found = ft.distill(lambda batch: tree.predict(batch[:, read]), space, epsilon=0.1, seed=seed)
    return {
        "certified": found.certificate.holds,
        "leaves": found.tree.size,
        "labels": int(found.queries.asked),
        "seconds": time.process_time() - worked,
        "elapsed": time.monotonic() - began,
        "gigabytes": peak() / 1e9,
    }


def million(runs: int) -> None:
    """Processor time is judged: elapsed time is that of a machine with nothing else to do only where load is low."""
    for seed in range(runs):
        words = [sys.executable, "-m", "benchmarks.reach", "one", "--runs", str(seed)]
        found = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
        met = found["certified"] and all(found[name] <= bar for name, bar in BARS.items())
        told = ", ".join(f"{name} {value:.4g}" for name, value in found.items() if name != "certified")
        print(
            f"a million bits, seed {seed}: certified {found['certified']}, {told}: {judged(met)}; {load()}", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("server", "simulated", "engines", "million", "one"))
    parser.add_argument("--runs", type=int, default=5, help="seeds of a million; of one, the seed")
    options = parser.parse_args()
    if options.what == "one":
        print(json.dumps(one_of_a_million(options.runs)))
    elif options.what == "million":
        million(options.runs)
    else:
        {"server": server, "simulated": partial(server, simulated), "engines": engines}[options.what]()


if __name__ == "__main__":
    main()
