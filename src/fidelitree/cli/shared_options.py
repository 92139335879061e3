"""Options that several commands share, written once.

They say what is asked of a tree, what may be spent on it, and how its target is reached. A parameter of a command whose
type is a dataclass stands for one option for each of its fields:

    @dataclass(frozen=True)
    class Limits:
        max_leaves: Annotated[int | None, typer.Option(help="...")] = None

    def distill(target: Text, limits: Limits) -> int: ...
"""

from __future__ import annotations

import inspect
import signal
import threading
import typing
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import update_wrapper
from importlib import import_module
from inspect import Parameter, Signature
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar

import typer

from fidelitree.cli.ending import note, written
from fidelitree.errors import FidelitreeError, MissingExtraError, OtherRunError, ParameterError

if TYPE_CHECKING:
    from concurrent.futures import Executor

Made = TypeVar("Made")
StrategyName = Literal["auto", "influence", "smallest"]
PreferenceName = Literal["queries", "leaves", "rounds"]


def epsilon_of(text: str) -> float | None:
    """A tolerated error; ``none`` asks for the smallest one within a budget."""
    if text.lower() == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"--epsilon must be a number, or none; got {text!r}") from None


@dataclass(frozen=True)
class Confidence:
    """How sure a certificate is, and of what kind of target."""

    delta: Annotated[float, typer.Option(help="Probability that the certificate may be wrong.")] = 0.05
    noisy: Annotated[
        bool, typer.Option("--noisy", help="The target may answer the same input differently: ask every input anew.")
    ] = False


Threshold = Annotated[
    float | None,
    typer.Option(metavar="T", help="Turn scores into labels: 1 above T, else 0; a classifier scores its second class."),
]


@dataclass(frozen=True)
class NumberOptions:
    """What to do with targets that answer numbers."""

    tolerance: Annotated[
        float | None, typer.Option(metavar="T", help="Answers are numbers; an error is to be further away than T.")
    ] = None
    threshold: Threshold = None


@dataclass(frozen=True)
class Promise:
    """The error that is asked for."""

    epsilon: Annotated[
        str, typer.Option(metavar="NUMBER|none", help="Tolerated error; none: the knee of a frontier.")
    ] = "0.05"


@dataclass(frozen=True)
class Budgets:
    """Limits that end a run early, with what it has."""

    PANEL: ClassVar = "Budget"
    max_queries: Annotated[int | None, typer.Option(help="End after so many labels.")] = None
    max_seconds: Annotated[float | None, typer.Option(help="End after so many seconds.")] = None


@dataclass(frozen=True)
class MoneyLimit:
    """The limit of runs whose target has a price."""

    PANEL: ClassVar = "Budget"
    max_cost: Annotated[float | None, typer.Option(help="End before the answers have cost so much.")] = None


@dataclass(frozen=True)
class SearchOptions:
    """How the tree is found."""

    strategy: Annotated[
        StrategyName,
        typer.Option(
            help="auto: few queries, small tree; influence: the paper's tree with its promise; smallest: fewest leaves."
        ),
    ] = "auto"
    prefer: Annotated[
        PreferenceName,
        typer.Option(
            help="queries: ask little; leaves: a smaller tree, for up to ten times the labels; rounds: large batches."
        ),
    ] = "queries"
    seed: Annotated[int | None, typer.Option(min=0, help="Same seed, same tree; a fresh one unless given.")] = None
    max_leaves: Annotated[int | None, typer.Option(help="No larger tree.", rich_help_panel="Budget")] = None


def keywords(options: Any, *but: str) -> dict[str, Any]:
    """The keyword arguments of a library call that a dataclass of options stands for, ``but`` for the command's own."""
    others = {*but, *(entry.name for entry in fields(CallOptions))}
    given = {entry.name: getattr(options, entry.name) for entry in fields(options) if entry.name not in others}
    if "noisy" in given:
        given["deterministic"] = not given.pop("noisy")
    if isinstance(given.get("epsilon"), str):
        given["epsilon"] = epsilon_of(given["epsilon"])
    return given


def spread(command: Callable[..., Any]) -> Callable[..., Any]:
    """A function for typer, with one parameter for each option; it calls the command with its dataclasses."""
    hints = typing.get_type_hints(command, include_extras=True)
    parameters = inspect.signature(command).parameters
    groups = {name: hints[name] for name in parameters if is_dataclass(hints[name])}
    flat: list[Parameter] = []
    for name, parameter in parameters.items():
        if name in groups:
            flat += _options(groups[name])
        else:
            flat.append(parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY))

    def call(**given: Any) -> Any:
        made = {
            name: kind(**{entry.name: given.pop(entry.name) for entry in fields(kind)}) for name, kind in groups.items()
        }
        return command(**made, **given)

    update_wrapper(call, command)
    del call.__wrapped__  # type: ignore[attr-defined]  # or typer would read the signature behind this one
    call.__signature__ = Signature(flat)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return call


def _options(group: type[Any]) -> list[Parameter]:
    """A parameter for each field; its panel in the help is that of the class that has the field first."""
    hints = typing.get_type_hints(group, include_extras=True)
    flat = []
    for entry in fields(group):
        home = next(kind for kind in group.__mro__ if entry.name in vars(kind).get("__annotations__", ()))
        option = hints[entry.name].__metadata__[0]
        option.rich_help_panel = option.rich_help_panel or vars(home).get("PANEL")
        default = Parameter.empty if entry.default is MISSING else entry.default
        flat.append(Parameter(entry.name, Parameter.KEYWORD_ONLY, annotation=hints[entry.name], default=default))
    return flat


@dataclass(frozen=True)
class CallOptions:
    """How a target is called, which changes neither tree nor certificate."""

    PANEL: ClassVar = "Running"
    jobs: Annotated[int | None, typer.Option(min=1, help="Ask the target in so many processes.")] = None
    dask: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Ask the target on a Dask cluster.")] = None
    retries: Annotated[int, typer.Option(min=0, help="Make a call that failed so many times more.")] = 0
    batch_size: Annotated[int | None, typer.Option(min=1, help="The most inputs of one call.")] = None

    @contextmanager
    def arguments(self, journal: Path | None, timeout: float | None) -> Iterator[dict[str, Any]]:
        """The running arguments of `ft.distill` and `ft.certify`."""
        if self.jobs is not None and self.dask is not None:
            raise ParameterError("--jobs and --dask must not be given together: one of them asks the target")
        with ExitStack() as stack:
            yield {
                "journal": journal,
                "executor": self._executor(stack),
                "timeout": timeout,
                "retries": self.retries,
                "batch_size": self.batch_size,
            }

    def _executor(self, stack: ExitStack) -> Any:
        if self.jobs is not None:
            from fidelitree.asking.workers import processes

            return processes(self.jobs)
        return None if self.dask is None else stack.enter_context(_cluster(self.dask))


@dataclass(frozen=True)
class AuditOptions(CallOptions):
    """How a target is called by a command that keeps its answers only where it is told."""

    PANEL: ClassVar = "Running"

    journal: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep every answer here: the same command goes on from there.")
    ] = None


@dataclass(frozen=True)
class RunningOptions(CallOptions):
    """How a target is called for a result that goes into a folder, and where its answers are kept."""

    PANEL: ClassVar = "Running"
    journal: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep every answer here (default: DIR/journal.db).")
    ] = None
    no_journal: Annotated[bool, typer.Option("--no-journal", help="Keep no answers.")] = False

    def run(self, begin: Callable[[], Made], journal: Path | None) -> Made:
        """Run with the journal; where another run left its own in the folder, that one is put aside first."""
        try:
            return begin()
        except OtherRunError:
            if journal is None or journal == self.journal:
                raise
        _put_aside(journal)
        return begin()

    @staticmethod
    def clear(folder: Path, journal: Path | None) -> None:
        """Put aside the journal that lies where a result goes, unless it is this run's: it says nothing about it."""
        from fidelitree.certificates.store import JOURNAL, same_run

        found = folder / JOURNAL
        if found.exists() and (journal is None or not (found.samefile(journal) or same_run(found, journal))):
            _put_aside(found)

    def journal_in(self, folder: Path, target: Any) -> Path | None:
        """The journal of a run whose result goes into a folder, which is made for it."""
        if self.no_journal and self.journal is not None:
            raise ParameterError("--journal and --no-journal must not be given together")
        if self.no_journal or self.journal is not None:
            return self.journal
        from fidelitree.certificates.store import JOURNAL
        from fidelitree.targets import Circuit
        from fidelitree.trees.tree import Tree

        if isinstance(target, (Circuit, Tree)):  # their answers cost nothing
            return None
        folder.mkdir(parents=True, exist_ok=True)
        return folder / JOURNAL


def _put_aside(journal: Path) -> None:
    from fidelitree.certificates.store import put_aside

    note(f"the journal in {journal.parent} belongs to another run: it is kept as {put_aside(journal).name}")


@contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    try:
        distributed: Any = import_module("distributed")
    except ModuleNotFoundError:
        raise MissingExtraError("--dask needs Dask: install it with: pip install 'fidelitree[dask]'") from None
    try:
        client = distributed.Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise ParameterError(f"--dask must be the address of a scheduler, such as tcp://host:8786; {error}") from None
    with client:
        yield client.get_executor()


def goes_on(journal: Path | None) -> str:
    """What happens if the command of an interrupted run is given again."""
    if journal is None:
        return "no answers were kept, so the same command begins anew"
    return "the same command goes on from there"


@contextmanager
def interruptible() -> Iterator[list[int]]:
    """A process that is asked to end does what it does on Ctrl-C: it returns the best tree so far.

    The list holds the signals that came: a search that has something to return may keep quiet about them.
    """
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield came
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        came.append(number)
        raise KeyboardInterrupt

    with _heard(interrupt):
        yield came


@contextmanager
def finishing() -> Iterator[None]:
    """What is short and must not be lost is finished although the process is asked to end; asked again, it ends."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def wait(number: int, frame: FrameType | None) -> None:
        came.append(number)
        if len(came) > 1:
            raise KeyboardInterrupt

    with _heard(wait):
        yield


def write_and_tell(
    write: Callable[[], Sequence[Path]], say_it: Callable[[], None], place: Path | None, as_json: bool
) -> None:
    """Write the files of a result to their place, then say it; said it is also if a file cannot be written."""
    where = "" if place is None else f", and the result is in {place}"
    try:
        try:
            with finishing():
                files = write()
        except KeyboardInterrupt:
            where = f" while the result was written to {place}, where it may be missing"
            raise
        except (FidelitreeError, OSError):  # what was paid for is told all the same
            say_it()
            raise
        say_it()
        written(files, as_json)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted{where}") from None


@contextmanager
def _heard(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Ctrl-C and a request to end call this; not where the process was started with them ignored."""
    heard = [number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, handler) for number in heard}
    try:
        yield
    finally:
        for number, usual in before.items():
            signal.signal(number, usual)
