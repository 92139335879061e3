"""What happens inside a worker: one thread for each library, and a target that is kept."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from multiprocessing import connection, parent_process
from typing import Any

from fidelitree.asking.door import Door, Failure, Inner, failed
from fidelitree.asking.threads import one_thread_for_good
from fidelitree.errors import RAISED

_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
_doors: dict[str, Door] = {}
_limited: list[int] = []
_LOOK = 1.0  # seconds between two looks at who the parent is


def call(home: int, key: str, pickled: bytes | None, inner: Inner) -> Any:
    """The target's labels, or the `Failure` that came of it; None where the worker does not have the target yet.

    ``home`` is the process of the run, whose own libraries are left alone. What is ``pickled`` is the `Door`.
    """
    if os.getpid() not in (home, *_limited):
        one_thread_each()
        _limited[:] = [os.getpid()]  # a process that is forked off later must do it itself
    door = _doors.get(key)  # threads of one process may serve several runs
    if door is not None:
        return door.tried(inner)
    if pickled is None:
        return None
    try:
        door = pickle.loads(pickled)
    except RAISED as error:  # its modules may be missing here
        return Failure(str(failed(error, len(inner))), again=True)
    _doors.clear()
    _doors[key] = door
    return door.tried(inner)


def one_thread_each() -> None:
    """As many workers as cores is right only if none of them uses several: limit what is loaded and what will be."""
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    one_thread_for_good()


def start() -> None:
    """For pools of our own: Ctrl-C is for the run, which ends its workers itself; they end when it is killed, too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_run, args=(os.getppid(),), daemon=True).start()
    one_thread_each()


def _end_with_the_run(parent: int) -> None:
    """Wait for the end of the run, then end, whatever the target does.

    The sentinel tells of it at once. But a worker that was forked keeps the sentinels of older ones open, and so does
    whatever it starts; then it is the new parent that tells.
    """
    run = parent_process()
    assert run is not None, "a worker was started by a run"
    while os.getppid() == parent and not connection.wait([run.sentinel], _LOOK):
        pass
    os._exit(1)
