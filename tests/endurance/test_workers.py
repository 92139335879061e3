"""Workers: the same tree, certificate and queries for any number of them, also when one of them dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking import workers
from fidelitree.asking.guarded import GuardedTarget
from fidelitree.asking.journal.journal import Journal
from fidelitree.asking.workers import REBUILDS, processes
from journals import BITS, MIXED, alike, on_bits, on_mixed

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = {
    "bits": (on_bits, BITS, {"epsilon": 0.1}),
    "mixed": (on_mixed, MIXED, {"epsilon": 0.05}),
    "noisy": (on_bits, BITS, {"epsilon": 0.1, "deterministic": False}),
}


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_any_number_of_processes(jobs: int) -> None:
    with ProcessPoolExecutor(jobs) as pool:
        for target, space, arguments in PLAIN.values():
            assert alike(ft.distill(target, space, executor=pool, **arguments), ft.distill(target, space, **arguments))


class Closure:
    """Cannot be pickled."""

    def __init__(self, target: Any) -> None:
        self.target, self.lock = target, threading.Lock()

    def __call__(self, batch: Any) -> Any:
        with self.lock:
            return self.target(batch)


@pytest.mark.parametrize("name", PLAIN)
def test_threads_take_any_target(name: str) -> None:
    target, space, arguments = PLAIN[name]
    with ThreadPoolExecutor(3) as pool:
        found = ft.distill(Closure(target), space, executor=pool, batch_size=3, **arguments)
    assert alike(found, ft.distill(target, space, **arguments))


class Backwards(Executor):
    """Answers the newest call first, when nothing new has come for a moment."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Future[Any], Any]] = []
        self.lock, self.ended = threading.Lock(), False
        threading.Thread(target=self.work, daemon=True).start()

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        with self.lock:
            self.waiting.append((future, partial(function, *arguments, **named)))
        return future

    def work(self) -> None:
        while not self.ended:
            time.sleep(0.003)
            with self.lock:
                waiting, self.waiting = self.waiting, []
            for future, call in reversed(waiting):
                future.set_result(call())

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.ended = True


def test_any_order_of_completion(tmp_path: Path) -> None:
    with Backwards() as pool:
        found = ft.distill(on_mixed, MIXED, 0.05, executor=pool, batch_size=2, journal=tmp_path / "run.db")
    assert alike(found, ft.distill(on_mixed, MIXED, 0.05))
    resumed = ft.distill(on_mixed, MIXED, 0.05, journal=tmp_path / "run.db", batch_size=7)
    assert alike(resumed, found)


class Mortal:
    """Kills its worker once: whoever makes the file first."""

    def __init__(self, folder: Path, deaths: int = 1) -> None:
        self.folder, self.deaths = folder, deaths

    def __call__(self, batch: Any) -> Any:
        for death in range(self.deaths):
            try:
                (self.folder / f"death{death}").touch(exist_ok=False)
            except FileExistsError:
                continue
            os.kill(os.getpid(), signal.SIGKILL)
        return on_bits(batch)


def test_a_pool_that_breaks_is_made_again(tmp_path: Path) -> None:
    found = ft.distill(Mortal(tmp_path), BITS, 0.1, executor=partial(ProcessPoolExecutor, 2))
    assert alike(found, ft.distill(on_bits, BITS, 0.1))
    assert (tmp_path / "death0").exists()


def test_a_target_that_kills_every_worker_is_an_error(tmp_path: Path) -> None:
    target = Mortal(tmp_path, deaths=100)
    with pytest.raises(ft.TargetError, match=f"the executor broke {REBUILDS + 1} times one after the other"):
        ft.distill(target, BITS, 0.1, executor=partial(ProcessPoolExecutor, 1))


def test_a_pool_that_was_given_cannot_be_made_again(tmp_path: Path) -> None:
    with (
        ProcessPoolExecutor(1) as pool,
        pytest.raises(ft.TargetError, match="Give a function that makes one as executor, and it is made again"),
    ):
        ft.distill(Mortal(tmp_path), BITS, 0.1, executor=pool)


class Hanging:
    """Hangs so many times."""

    def __init__(self, folder: Path, times: int) -> None:
        self.folder, self.times = folder, times

    def __call__(self, batch: Any) -> Any:
        for turn in range(self.times):
            try:
                (self.folder / f"turn{turn}").touch(exist_ok=False)
            except FileExistsError:
                continue
            time.sleep(3600)
        return on_bits(batch)


def test_a_hanging_worker_is_ended_and_replaced(tmp_path: Path) -> None:
    found = ft.distill(Hanging(tmp_path, 1), BITS, 0.1, executor=processes(2), timeout=4, retries=1)
    assert alike(found, ft.distill(on_bits, BITS, 0.1))


def test_silence_is_an_error_with_the_journal_intact(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with pytest.raises(ft.TargetError, match="the workers were silent for timeout = 1 seconds while they had"):
        ft.distill(Hanging(tmp_path, 1), BITS, 0.1, executor=processes(1), timeout=1, journal=path)
    assert alike(ft.distill(Hanging(tmp_path, 1), BITS, 0.1, journal=path), ft.distill(on_bits, BITS, 0.1))


def raising(batch: Any) -> Any:
    if len(batch) < 32:
        raise Unsendable(1, 2)
    return on_bits(batch)


class Unsendable(Exception):  # noqa: N818 - one that cannot be unpickled
    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def test_an_exception_in_a_worker_reaches_the_user(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with pytest.raises(ft.TargetError, match=r"the target raised Unsendable on a batch of \d+ inputs: 1 and 2"):
        ft.distill(raising, BITS, 0.1, executor=processes(1), journal=path)
    assert ft.journal.info(path).answers == 32


class Quits:
    """Wants to end its process with the code of success, once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, batch: Any) -> Any:
        try:
            (self.folder / "quit").touch(exist_ok=False)
        except FileExistsError:
            return on_bits(batch)
        sys.exit(0)


@pytest.mark.parametrize("executor", [processes(1), partial(ThreadPoolExecutor, 1)])
def test_a_target_that_ends_the_process_has_failed(executor: Any, tmp_path: Path) -> None:
    with pytest.raises(ft.TargetError, match=r"the target wanted to end the process, by sys.exit\(0\), on a batch"):
        ft.distill(Quits(tmp_path), BITS, 0.1, executor=executor)
    (tmp_path / "quit").unlink()
    found = ft.distill(Quits(tmp_path), BITS, 0.1, executor=executor, retries=1)
    assert alike(found, ft.distill(on_bits, BITS, 0.1))


class Resigned(Executor):
    """An executor that does not catch what ends a process: the future has it."""

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(SystemExit(0))
        return future


def test_an_executor_that_hands_the_end_of_the_process_on() -> None:
    with pytest.raises(ft.TargetError, match="the target wanted to end the process, by"):
        ft.distill(on_bits, BITS, 0.1, executor=Resigned())


class Half:
    """Fails on inputs that begin with 1."""

    def __call__(self, batch: Any) -> Any:
        if batch[0, 0]:
            raise ValueError("odd")
        return on_bits(batch)


def assert_only_good_answers(path: Path) -> None:
    """All 32 inputs of the first batch were on their way; those that were answered are kept, and no others."""
    with Journal(path) as journal:
        inputs = [record.inner(len(BITS), bits=True) for record in journal.all()]
    batches: list[Any] = []

    def listening(batch: Any) -> Any:
        batches.append(batch.copy())
        return on_bits(batch)

    ft.distill(listening, BITS, 0.1)
    good = batches[0][batches[0][:, 0] == 0]
    assert 5 < len(good) < 27
    assert sorted(np.concatenate(inputs).tolist()) == sorted(good.tolist())


def test_what_else_was_on_its_way_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with pytest.raises(ft.TargetError, match="the target raised ValueError"):
        ft.distill(Half(), BITS, 0.1, executor=partial(ThreadPoolExecutor, 2), batch_size=1, journal=path)
    assert_only_good_answers(path)


class Odd:
    """Answers NaN to inputs that begin with 1."""

    def __call__(self, batch: Any) -> Any:
        return np.where(batch[:, 0], np.nan, on_bits(batch))


def test_answers_beside_one_that_is_no_label_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with pytest.raises(ft.TargetError, match="the target answered nan in row 0 of a batch"):
        ft.distill(Odd(), BITS, 0.1, executor=partial(ThreadPoolExecutor, 2), batch_size=1, journal=path)
    assert_only_good_answers(path)


def test_an_executor_that_is_closed_is_refused() -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(ft.ParameterError, match="executor must be one that takes work; it says: cannot schedule"):
        ft.distill(on_bits, BITS, 0.1, executor=pool)


def test_a_target_that_cannot_be_pickled_is_refused() -> None:
    with pytest.raises(ft.ParameterError, match=r"target must be one that can be pickled .*ThreadPoolExecutor"):
        ft.distill(Closure(on_bits), BITS, 0.1, executor=processes(1))


PATIENT = """
import os, time
from pathlib import Path

def sleeps(batch):
    Path(f"worker{os.getpid()}").touch()
    time.sleep(3600)
"""
COMMAND = """
import multiprocessing, sys
from fidelitree.__main__ import main

multiprocessing.set_start_method(sys.argv.pop(1))
main()
"""


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_workers_end_with_a_run_that_is_killed(method: str, tmp_path: Path) -> None:
    (tmp_path / "patient.py").write_text(PATIENT, encoding="ascii")
    run = subprocess.Popen(
        [
            sys.executable,
            "-c",
            COMMAND,
            method,
            "distill",
            "patient:sleeps",
            "--bernoulli=0.5",
            "--features=12",
            "--jobs=2",
        ],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        end = time.monotonic() + 300
        while len(list(tmp_path.glob("worker*"))) < 2 and run.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        assert len(list(tmp_path.glob("worker*"))) == 2
        run.kill()
        run.communicate(timeout=300)  # until nobody is left who could write
    except BaseException:
        os.killpg(run.pid, signal.SIGKILL)
        raise
    assert run.returncode == -signal.SIGKILL


def threads_inside(batch: Any) -> Any:
    from threadpoolctl import threadpool_info

    np.dot(np.ones((2, 2)), np.ones((2, 2)))
    most = max([library["num_threads"] for library in threadpool_info()], default=1)
    return np.full(len(batch), most if os.environ["OMP_NUM_THREADS"] == "1" else 99)


def test_libraries_inside_workers_use_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert ft.distill(threads_inside, BITS, 0.2, executor=processes(1)).tree.labels.tolist() == [1]


def test_a_worker_asks_for_a_target_that_it_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    import pickle

    monkeypatch.setattr(workers, "_targets", {})
    batch = np.zeros((3, 12), np.uint8)
    assert workers.call_in_worker(os.getpid(), "a", None, batch) is None
    pickled = pickle.dumps(GuardedTarget(on_bits, BITS))
    assert workers.call_in_worker(os.getpid(), "a", pickled, batch).tolist() == [0, 0, 0]
    assert workers.call_in_worker(os.getpid(), "a", None, batch).tolist() == [0, 0, 0]
    assert workers.call_in_worker(os.getpid(), "b", None, batch) is None


def sometimes_nan(batch: Any) -> Any:
    return ["yes", float("nan")] * (len(batch) // 2) + ["no"] * (len(batch) % 2)


def test_a_worker_sends_answers_of_two_kinds_as_they_are() -> None:
    with pytest.raises(ft.TargetError, match="one kind a run; the target answered float and str"):
        ft.distill(sometimes_nan, BITS, 0.2, executor=processes(1))


@pytest.fixture
def cluster() -> Any:
    distributed = pytest.importorskip("distributed")
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 10}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as found,
        distributed.Client(found) as client,
    ):
        yield client


@pytest.mark.filterwarnings("ignore")  # what Dask warns of is not ours
def test_a_dask_cluster_with_a_worker_killed(cluster: Any, tmp_path: Path) -> None:
    for target, space, arguments in PLAIN.values():
        found = ft.distill(target, space, executor=cluster.get_executor(), **arguments)
        assert alike(found, ft.distill(target, space, **arguments))
    found = ft.distill(Mortal(tmp_path), BITS, 0.1, executor=cluster.get_executor())
    assert alike(found, ft.distill(on_bits, BITS, 0.1))
    assert (tmp_path / "death0").exists()
