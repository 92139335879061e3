"""The one place where code of somebody else is called: inputs go out as copies, answers come back as copies.

Nothing else calls a target, or a predictor that is audited. Whatever it does to its batch, or later to the buffer that
it answered with, reaches no memory of a run.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.threads import all_threads
from fidelitree.errors import TargetError, show
from fidelitree.targets.labels import ONE_RECORD, Target, answered

if TYPE_CHECKING:
    from fidelitree.spaces.product import ProductSpace

Inner = NDArray[Any]
_MOST_SAID = 2_000  # characters of what a foreign error says
_OF_ONE = re.compile(
    "truth value of|unhashable type|not '?(Series|numpy)|'(Series|numpy.ndarray|DataFrame)' object has no attribute|"
    "convert the series|only (length-1|0-dim)"
)
"""What is said where a column of a batch is taken for one value."""
_FREED = 31 << 20  # bytes; glibc adapts to blocks below 32 MB


class CallFailedError(TargetError):
    """The target raised in place of an answer; another try may help."""


@dataclass(frozen=True)
class Failure:
    """A call without labels as plain text: some exceptions cannot be sent, and one of those would break a pool."""

    said: str
    again: bool
    """Whether another try may help."""


@dataclass(frozen=True)
class GuardedTarget:
    """Calls a target with a batch of its own, and keeps a copy of its labels.

    It is what travels to a worker, so that batches are made, and answers copied and checked, where the target is.
    """

    target: Target
    space: ProductSpace
    numbers: bool = False
    """Whether it answers numbers, and no labels."""

    def __call__(self, inner: Inner, spare: bool = False) -> NDArray[Any]:
        """Labels of inner values, rows by features; TargetError where the target has none.

        With ``spare`` nothing is copied: nobody reads ``inner`` again, and the labels are read before the next call.
        """
        try:
            batch = self._batch(inner, spare)
            with all_threads():
                answers = self.target(batch)
        except KeyboardInterrupt:  # the user's
            raise
        except BaseException as error:  # some libraries end in errors that are no `Exception`
            raise failed(error, len(inner)) from error
        if inspect.iscoroutine(answers) or inspect.isasyncgen(answers):
            if inspect.iscoroutine(answers):
                answers.close()  # else Python tells that nobody awaited it
            raise TargetError(
                f"the target must answer with labels; it answered {show(answers)} - write the target as an "
                f"async def that returns them"
            )
        return answered(answers, len(inner), not spare, self.numbers)

    async def awaited(self, inner: Inner) -> NDArray[Any]:
        """The same of a target whose answers have to be awaited."""
        import asyncio  # noqa: PLC0415 - it takes a while to import, and whoever gets here has it

        try:
            answers = await self.target(self._batch(inner))
        except BaseException as error:
            if isinstance(error, GeneratorExit) and not _on_a_loop():  # its own is gone
                raise
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise  # the run's own, which gives the call up; what the target cancels by itself is a failure
            raise failed(error, len(inner)) from error
        if inspect.isawaitable(answers):
            if inspect.iscoroutine(answers):
                answers.close()
            raise TargetError("what the target awaits must be labels, and it has to be awaited again: await it inside")
        return answered(answers, len(inner), numbers=self.numbers)

    def _batch(self, inner: Inner, spare: bool = False) -> Any:
        """What the target receives: a batch of its own."""
        batch = self.space.batch(inner if inner.dtype == np.uint8 else inner + 0.0)  # equal inputs look alike: no -0.0
        if batch is inner and not (spare and inner.flags.writeable):
            return inner.copy(order="K")  # columns stay side by side
        return batch

    def tried(self, inner: Inner) -> NDArray[Any] | Failure:
        """The same, with a failure as a value that can be sent."""
        try:
            return self(inner)
        except TargetError as error:
            return Failure(str(error), isinstance(error, CallFailedError))


def _on_a_loop() -> bool:
    import asyncio  # noqa: PLC0415 - as above

    try:
        return asyncio.get_running_loop() is not None
    except RuntimeError:
        return False


def failed(error: BaseException, rows: int) -> CallFailedError:
    """What a target that raised is told."""
    said = _said(error)
    if isinstance(error, TargetError):  # an adapter of ours has said what went wrong
        return CallFailedError(said)
    if isinstance(error, SystemExit):
        return CallFailedError(
            f"the target wanted to end the process, by sys.exit({said}), on a batch of {rows} inputs; it must answer "
            f"with labels"
        )
    way_out = f" - {ONE_RECORD}" if _OF_ONE.search(said) else ""
    return CallFailedError(f"the target raised {type(error).__name__} on a batch of {rows} inputs: {said}{way_out}")


def _said(error: BaseException) -> str:
    """The text of an error, which is foreign code too."""
    try:
        return str(error)[:_MOST_SAID]
    except Exception as again:  # noqa: BLE001 - whatever it is, the first error is what counts
        return f"its text cannot be shown ({type(again).__name__})"


@cache
def keep_freed_memory() -> None:
    """Have the C library keep the memory of a batch for the next one.

    glibc gives blocks of some megabytes back to the system, and the next copy pays for every page again, until it has
    seen a larger block come and go. Algorithm 2 asks four times as many labels a second afterwards.
    """
    np.empty(_FREED, np.uint8)
