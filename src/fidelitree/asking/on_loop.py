"""Calls that wait for an answer from elsewhere: many at a time on one event loop, none sooner than its terms allow.

The loop has a thread of its own, so that it works beside the loop of a notebook, and Ctrl-C reaches the run itself.
After Ctrl-C no call is begun; those on their way are waited for, because they are paid for, unless Ctrl-C comes again.
A call makes room for the next one when its answer was taken, and with a journal is on disk: so a run that is killed has
paid in vain for no more than the calls that may wait at a time.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from email.utils import parsedate_to_datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from fidelitree.asking.call import FIRST_WAIT, LONGEST_WAIT, NOTHING_YET, Part, pieces
from fidelitree.asking.guarded import CallFailedError, GuardedTarget, Inner
from fidelitree.errors import RAISED, ParameterError, TargetError
from fidelitree.targets.models.remote import Terms, is_awaited, terms_of

if TYPE_CHECKING:
    from fidelitree.asking.limits import Running
    from fidelitree.spaces.product import ProductSpace
    from fidelitree.targets.labels import LabelBook, Target

BUSY = (429, 503)
"""What a server answers that wants to be asked again later."""
PATIENCE = 12  # times that a call is put off by a server before it counts as failed
LONGEST_ASKED = 600.0  # seconds that a server may ask for
_LATE = 1.0  # seconds that can be made up for: while a learner thought, or the machine was busy, nothing was sent
_START = 0.2  # seconds of these at the start: nothing was sent before it either
_CROWDED = 1.05  # of the limit are sent in no second, whatever there is to be made up for
_CLOSING = 5.0  # seconds for the end of a loop
_LOOK = 0.05  # seconds between looks at the clock of a run, and at whether it was stopped


class Pacer:
    """Spreads calls so that limits are kept in the long run, and in every second; all wait while a server is busy."""

    def __init__(self, terms: Terms) -> None:
        self._row = 1 / terms.rows_per_second if terms.rows_per_second else 0.0
        self._call = 60 / terms.calls_per_minute if terms.calls_per_minute else 0.0
        self._free = time.monotonic() - _START
        self._sent = deque[tuple[float, int]]()
        self._queue = asyncio.Lock()

    async def turn(self, rows: int, stopped: Callable[[], bool]) -> bool:
        """Wait until so many inputs may be sent; first come, first served. False where nothing is any more."""
        async with self._queue:
            while (left := self._left(rows)) > 0 and not stopped():
                await asyncio.sleep(min(left, _LOOK))
            if stopped():
                return False
            now = time.monotonic()
            self._free = max(self._free, now - _LATE) + max(rows * self._row, self._call)
            self._sent.append((now, rows))
            return True

    def _left(self, rows: int) -> float:
        """Seconds until so many inputs may be sent: their time has come, and the last second was not crowded."""
        now = time.monotonic()
        while self._sent and self._sent[0][0] <= now - 1:
            self._sent.popleft()
        crowded = self._sent and (rows + sum(sent for _, sent in self._sent)) * self._row > _CROWDED
        return max(self._free - now, self._sent[0][0] + 1 - now if crowded else 0.0)

    def hold(self, seconds: float, rows: int) -> None:
        """Nobody sends anything for so long; the time of inputs that were refused is free again."""
        self._free = max(self._free - rows * self._row, time.monotonic() + seconds)


class _Answers:
    """What has come in, for the thread that waits: a part stays until it was taken, so that an interrupt loses none."""

    def __init__(self, todo: Iterator[tuple[int, Inner]]) -> None:
        self.todo = deque(todo)
        self.done: deque[tuple[Part, Callable[[], object]]] = deque()
        """What has come in, each with what makes room for the next call."""
        self.lost: list[TargetError] = []
        self.stopped = False
        self._more = threading.Event()

    async def put(self, start: int, labels: NDArray[Any]) -> None:
        """A part has come in; wait until it was taken."""
        loop, taken = asyncio.get_running_loop(), asyncio.Event()
        self.done.append(((start, labels), partial(loop.call_soon_threadsafe, taken.set)))
        self._more.set()
        await taken.wait()

    def next(self) -> tuple[int, Inner] | None:
        """What is to be asked next; another thread may just have stopped it all."""
        with suppress(IndexError):
            return self.todo.popleft()
        return None

    def stop(self) -> None:
        """No other call is begun, not even one that waits for its turn."""
        self.stopped = True
        self.todo.clear()

    def lose(self, error: TargetError) -> None:
        """A part will never come: no other is begun."""
        self.stop()
        self.lost.append(error)

    def arriving(self, job: Future[None], alive: Callable[[], bool]) -> Iterator[Part]:
        """Parts as they come, until all calls have ended; while none comes, an empty one now and then."""
        job.add_done_callback(lambda _: self._more.set())
        while True:
            ended = job.done()
            while self.done:
                part, was_taken = self.done[0]
                yield part
                self.done.popleft()
                with suppress(RuntimeError):  # the target may have closed its loop
                    was_taken()
            if ended:
                return
            if not self._more.wait(_LOOK):
                if not alive():
                    raise CallFailedError("the target stopped its event loop, and must answer with labels")
                yield NOTHING_YET
            self._more.clear()


class OnLoop:
    """A target whose answers are awaited; a plain function with terms runs in threads of its own."""

    def __init__(self, target: Target, space: ProductSpace, book: LabelBook, running: Running | None = None) -> None:
        self._target, self._book, self._terms = GuardedTarget(target, space, book.numbers), book, terms_of(target)
        self._size = None if running is None else running.batch_size
        self._timeout = None if running is None else running.timeout
        self._retries = 0 if running is None else running.retries
        self._awaited = is_awaited(target)
        if self._timeout is not None and not self._awaited:
            raise ParameterError(
                "timeout must be None where threads of this process call the target: write it as async"
            )
        if running is not None and running.executor is not None:
            raise ParameterError("executor must be None where the target is async or has terms: it has an event loop")
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._pool: ThreadPoolExecutor | None = None

    def parts(self, inner: Inner, purpose: str) -> Iterator[Part]:
        assert self._terms is not None, "a target on a loop has terms"
        answers = _Answers(pieces(inner, self._terms.rows_a_call(len(inner), self._size)))
        job = asyncio.run_coroutine_threadsafe(self._all(answers), self._begin())
        stop: KeyboardInterrupt | None = None
        try:
            while True:
                try:
                    yield from self._kinds(answers, job)
                    break
                except KeyboardInterrupt as interrupt:
                    if stop is not None:
                        raise
                    stop = interrupt
                    answers.stop()
        finally:
            answers.stop()
            job.cancel()
        if stop is not None:
            raise stop
        if answers.lost:  # what else was on its way has arrived first
            raise answers.lost[0]
        if job.cancelled():  # not by us
            raise CallFailedError("the target cancelled its own call, and must answer with labels")
        job.result()

    def _kinds(self, answers: _Answers, job: Future[None]) -> Iterator[Part]:
        """Parts that hold labels of the run's kind."""
        assert self._thread is not None, "a loop that was begun has a thread"
        for start, found in answers.arriving(job, self._thread.is_alive):
            try:
                labels = self._book.one_kind(found) if len(found) else found
            except TargetError as error:
                answers.lose(error)
            else:
                yield start, labels

    async def _all(self, answers: _Answers) -> None:
        assert self._terms is not None, "a target on a loop has terms"
        at_once = min(self._terms.concurrency, len(answers.todo))
        await asyncio.gather(*(self._take_turns(answers) for _ in range(at_once)))

    async def _take_turns(self, answers: _Answers) -> None:
        while (piece := answers.next()) is not None:
            try:
                labels = await self._answer(piece[1], lambda: answers.stopped)
            except TargetError as error:
                answers.lose(error)
            else:
                if labels is not None:
                    await answers.put(piece[0], labels)

    async def _answer(self, rows: Inner, stopped: Callable[[], bool]) -> NDArray[Any] | None:
        """Labels; None where the run was stopped before the call was begun, or made again."""
        failures = put_off = 0
        while await self._pacer.turn(len(rows), stopped):
            try:
                return await self._in_time(rows)
            except CallFailedError as failure:
                error = failure
            asked = wait_asked_for(error.__cause__)
            if asked is not None and put_off < PATIENCE:
                usual = min(LONGEST_WAIT, FIRST_WAIT * 2**put_off)
                self._pacer.hold(asked if asked and not put_off else max(asked, usual), len(rows))
                put_off += 1
            elif failures < self._retries:
                await asyncio.sleep(min(LONGEST_WAIT, FIRST_WAIT * 2**failures))
                failures += 1
            else:
                raise error
        return None

    async def _in_time(self, rows: Inner) -> NDArray[Any]:
        """A call, which is given up once it took too long, even if it does not let itself be cancelled."""
        if self._timeout is None:
            return await self._call(rows)
        call = asyncio.ensure_future(self._call(rows))
        call.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # nobody may ask any more
        try:
            done, _ = await asyncio.wait({call}, timeout=self._timeout)
        except asyncio.CancelledError:
            call.cancel()
            raise
        if not done:
            call.cancel()
            raise CallFailedError(f"the target was silent for timeout = {self._timeout:g} seconds")
        return call.result()

    async def _call(self, rows: Inner) -> NDArray[Any]:
        if self._awaited:
            return await self._target.awaited(rows)
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._target, rows)

    def _begin(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            assert self._terms is not None, "a target on a loop has terms"
            self._loop, self._pacer = asyncio.new_event_loop(), Pacer(self._terms)
            self._pool = None if self._awaited else ThreadPoolExecutor(self._terms.concurrency)
            self._thread = threading.Thread(target=self._loop.run_forever, name="fidelitree-asks", daemon=True)
            self._thread.start()
        return self._loop

    async def _end(self) -> None:
        given_up = asyncio.all_tasks() - {asyncio.current_task()}
        for task in given_up:
            task.cancel()
        if given_up:
            await asyncio.wait(given_up, timeout=_CLOSING / 2)
        closing = getattr(self._target.target, "aclose", None)
        if callable(closing):
            await closing()

    def close(self) -> None:
        """End the loop and what was given up on it; a target that holds connections closes them there."""
        loop, self._loop = self._loop, None
        if loop is None or self._thread is None:
            return
        if self._thread.is_alive():
            with suppress(*RAISED):
                asyncio.run_coroutine_threadsafe(self._end(), loop).result(_CLOSING)
        if self._pool is not None:
            self._pool.shutdown(wait=False)
        loop.call_soon_threadsafe(loop.stop)
        self._thread.join(_CLOSING)
        if not loop.is_running():
            loop.close()


def wait_asked_for(error: BaseException | None) -> float | None:
    """Seconds after which whoever raised wants to be asked again; None where it said nothing of the kind.

    An error may have ``retry_after``, or the response of a server, as those of most HTTP clients do.
    """
    try:
        response = getattr(error, "response", error)
        after, status = getattr(error, "retry_after", None), getattr(response, "status_code", None)
        if after is None and status not in BUSY:
            return None
        after = after if after is not None else getattr(response, "headers", {}).get("retry-after")
        return min(LONGEST_ASKED, max(0.0, _seconds(after)))
    except RAISED:  # foreign objects may do anything
        return None


def _seconds(after: Any) -> float:
    """A number of seconds, or the time of a date; 0 where it is neither."""
    with suppress(TypeError, ValueError):
        return float(after)
    with suppress(TypeError, ValueError):
        return parsedate_to_datetime(after).timestamp() - time.time()
    return 0.0
