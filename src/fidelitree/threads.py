"""One thread for small matrix products: on a busy machine several threads wait for each other longer than they work."""

from __future__ import annotations

from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController, threadpool_limits


def one_thread() -> Any:
    """A ``with`` block in which linear algebra stays on one thread; targets are called outside of it."""
    return _controller().limit(limits=1, user_api="blas")


def one_thread_for_good() -> None:
    """For workers, which are as many as there are cores: every library that is loaded is limited from now on."""
    threadpool_limits(1)


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
