"""How a run reaches its target from beginning to end: the way is opened, used, and closed whatever happens."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fidelitree.asking.call import Calls, Direct
from fidelitree.asking.counted import Counted, straight_to
from fidelitree.asking.events import Observer, nobody
from fidelitree.asking.journal.journal import Ending, Journal
from fidelitree.asking.journal.run import Run
from fidelitree.asking.journalled import Journalled, Replayed, ask_again, name_of
from fidelitree.asking.on_joblib import OnJoblib
from fidelitree.asking.repeats import Repeats
from fidelitree.asking.workers import OnWorkers
from fidelitree.errors import ParameterError, TargetError, check_observer
from fidelitree.spaces.features.description import outline
from fidelitree.spaces.given import world_of
from fidelitree.spaces.product import ProductSpace, product_of
from fidelitree.spaces.rows import Rows
from fidelitree.targets.circuits.circuit import Circuit
from fidelitree.targets.fitted import warn_if_fitted
from fidelitree.targets.labels import LabelBook, Target
from fidelitree.targets.models import from_model
from fidelitree.targets.models.estimator import check_classes
from fidelitree.targets.models.fromscores import Above
from fidelitree.targets.models.remote import terms_of
from fidelitree.targets.table import TruthTable
from fidelitree.trees.tree import Tree

if TYPE_CHECKING:
    from fidelitree.asking.limits import Budget, Running
    from fidelitree.asking.memory import Memory
    from fidelitree.spaces.world import World


@dataclass(frozen=True)
class Call:
    """What a user asked for, besides the target and the space; limits are among the arguments."""

    door: str
    seed: int
    seed_chosen: bool
    arguments: Mapping[str, Any]
    entropy: str | None = None
    replayed: bool = False


@dataclass(frozen=True)
class Access:
    """An open way to the target; seed and entropy are the journal's, where there is one."""

    target: Target
    space: ProductSpace
    calls: Calls
    book: LabelBook
    journal: Journal | None
    seed: int
    seed_chosen: bool
    entropy: str | None = None
    replayed: bool = False
    batch_size: int | None = None
    tolerance: float | None = None
    deterministic: bool = False
    """Whether the run relies on equal answers to equal inputs, so that some inputs are asked again."""
    few_rounds: bool = False

    @property
    def resumed(self) -> bool:
        """Whether the journal knew answers when it was opened."""
        return self.journal is not None and self.journal.records > 0

    def counted(self, memory: Memory | None, budget: Budget, observer: Observer = nobody) -> Counted:
        """The target with its queries counted; of a limited time, what the journal's answers took is used up."""
        ending = None
        if self.journal is not None and self.journal.writes:
            budget = replace(budget, started=0.0, clock=self.journal.clock)
        elif self.journal is not None:
            budget = replace(budget, started=0.0, clock=lambda: 0.0)  # the journal knows when the time was over
            ending = self.journal.ending
        found = Counted(self.target, self.space, memory, budget, self.book, observer, self.calls, ending, self.journal)
        found.batch_size = self.batch_size
        found.equality = replace(found.equality, tolerance=self.tolerance)
        if self.deterministic:
            found.repeats = Repeats(seldom=self.few_rounds, points=self.space.points)
        return found

    def end(self, counted: Counted, reason: str) -> None:
        """Tell the journal how the run ended; one that is replayed must have ended in the same place."""
        if self.journal is None:
            return
        told = reason.removeprefix("certified, then ")
        ending, timed = Ending(counted.questions, told, tuple(counted.late_looks)), "max_seconds"
        if self.journal.writes:
            self.journal.end(ending)
        elif self.journal.run.arguments.get(timed) is None and self.journal.ending not in (None, ending):
            raise TargetError(f"the journal says that the run ended otherwise: {self.journal.ending}")
        if not self.journal.writes and not self.journal.went_as_far:
            raise TargetError("the journal says that the run drew another number of inputs for tests")


def as_used(
    target: Any, space: Any, threshold: float | None = None, classes: bool = False, groups: Any = None
) -> tuple[Target, World]:
    """What a user gave, as it is used: a fitted model or booster is asked by its ``predict``, a table is a world.

    With a threshold, scores above it are 1, and others 0; without one, ``classes`` refuses regressors. ``groups`` says
    which rows of a table belong together.
    """
    return asked_target(target, threshold, classes), world_of(space, groups)


def asked_target(target: Any, threshold: float | None = None, classes: bool = False) -> Target:
    """The target of `as_used` alone."""
    model = (isinstance(target, type) or not callable(target)) and hasattr(target, "predict")
    found: Target = from_model(target) if model else target  # which refuses a class
    if classes and threshold is None:
        check_classes(found)
    return found if threshold is None else Above(found, threshold)


def watched(observer: Observer) -> Observer:
    """The observer; where there is none and somebody waits at a terminal or in a notebook, a line of progress.

    It appears after two seconds. ``FIDELITREE_PROGRESS=0`` in the environment switches it off.
    """
    check_observer(observer)
    waits = "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())
    if observer is not nobody or not waits or os.environ.get("FIDELITREE_PROGRESS") == "0":
        return observer
    from rich.console import Console  # noqa: PLC0415 - a script that nobody watches need not wait for it

    from fidelitree.asking.progress import Progress  # noqa: PLC0415 - the same

    return Progress(console=Console(stderr=True), after=2.0)


def way_to(
    target: Target, product: ProductSpace, book: LabelBook, asked: tuple[Running, Call], closing: ExitStack
) -> Calls:
    """The way to a target that answers inputs of a space; what is opened for it is closed in the end."""
    running, call = asked
    listed = isinstance(target, (Circuit, TruthTable, Tree))  # it is read, not asked
    seconds = None if listed else call.arguments.get("max_seconds")
    calls: Calls = Direct(target, product, book, running.batch_size, running.retries, seconds)
    if terms_of(target) is not None:
        calls = way = straight_to(target, product, book, running)
        closing.callback(way.close)
    elif isinstance(running.executor, str):
        calls = through = OnJoblib(target, product, book, running)
        closing.callback(through.close)
    elif running.executor is not None:
        calls = workers = OnWorkers(target, product, book, running)
        closing.callback(workers.close)
    else:
        running.check_timeout()
    return calls


@contextmanager
def access(target: Target, space: World, running: Running, call: Call) -> Iterator[Access]:
    """Open the journal and the workers; both are closed at the end, and what was answered is kept."""
    product, book = product_of(space), LabelBook(call.arguments.get("tolerance") is not None)
    with ExitStack() as closing:
        calls = way_to(target, product, book, (running, call), closing)
        journal, keys = None, (call.seed, call.seed_chosen, call.entropy, call.replayed)
        if running.journal is not None:
            run = run_of(name_of(target), space, call, isinstance(target, (Circuit, TruthTable, Tree)))
            journal = closing.enter_context(_journal(target, running.journal, run))
            kept = journal.run
            keys = kept.seed, kept.seed_chosen, kept.entropy, kept.replayed
            if journal.writes and journal.records:
                ask_again(journal, calls, call.arguments.get("deterministic", True))
            calls = Journalled(calls, journal)
        elif isinstance(target, Replayed):
            raise ParameterError("journal must name the file that a run is replayed from; got None")
        if isinstance(space, Rows):
            warn_if_fitted(target, space, None if call.door == "certify" else keys[0])
        elif space.kept is not None:
            warn_if_fitted(target, space.kept, None)
        found = Access(target, product, calls, book, journal, *keys, batch_size=running.batch_size)
        told = call.arguments
        relies = told.get("deterministic", False) and not isinstance(target, (Circuit, TruthTable, Tree))
        few_rounds = told.get("prefer") == "rounds"
        yield replace(found, tolerance=told.get("tolerance"), deterministic=relies, few_rounds=few_rounds)


def run_of(target: str, space: World, call: Call, lists_answers: bool = False) -> Run:
    """What the journal of this call belongs to."""
    return Run(
        call.door,
        target,
        space.digest,
        described(space),
        call.seed,
        call.seed_chosen,
        call.arguments,
        lists_answers=lists_answers,
        entropy=call.entropy,
        replayed=call.replayed,
    )


def described(space: World) -> list[dict[str, Any]]:
    """The features of a space as a journal keeps them."""
    return [outline(feature) for feature in space.features]


def _journal(target: Target, path: str | os.PathLike[str], run: Run) -> Journal:
    if not isinstance(target, Replayed):
        return Journal(path, run)
    journal = Journal(path)
    try:
        journal.run.check(run, replaying=True)
        if journal.run.arguments != run.arguments:
            journal.ending = None  # that of a run with other limits
            journal.run = replace(journal.run, arguments=run.arguments)
        if journal.run.lists_answers:
            raise ParameterError(
                "a run whose target is a tree, a table or a circuit cannot be replayed without it: more than its "
                "answers was used"
            )
    except BaseException:
        journal.close()
        raise
    return journal
