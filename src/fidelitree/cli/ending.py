"""What a command says, where it may write, and how it ends: an exit code, and an error in one line.

Standard output has sentences for people, or one JSON object for scripts. What a run is doing, while it runs, goes to
standard error: a live line on a terminal, an occasional plain one elsewhere. Where a command is to write is looked at
before anything is paid for, not after.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from fidelitree.errors import DoubtWarning, FidelitreeError, ParameterError, TargetError

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

    from fidelitree.asking.events import Event, Observer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of sentences.")]
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A folder that distill wrote.")]
_COLOURS = {
    re.compile(r"^(Certified|Exact|confirmed)\b", re.MULTILINE): "green",
    re.compile(r"\bNOT certified\b|^(Nothing is certified|refuted|alarm)\b", re.MULTILINE): "red",
    re.compile(r"<- knee$", re.MULTILINE): "cyan",
}
_OPTIONS = ("epsilon", "delta", "entropy", "seed", "output", "prefer", "precision", "recall", "threshold", "timeout")
_LIMITS = ("max_queries", "max_leaves", "max_seconds")
_SPOKEN = {
    "trust_pickle=True": "--trust-pickle",
    "deterministic=False": "--noisy",
    "deterministic=True": "no --noisy",
    **{f'strategy="{name}"': f"--strategy {name}" for name in ("influence", "auto", "smallest")},
    "epsilon=None": "--epsilon none",
    "entropy must be None where": "--entropy must be left out where",
    "p must be": "--bernoulli must be",
    "n must be": "--features must be",
    "learners must be": "--learner must be",
    "method must": "--method must",
    "method='auto'": "--method auto",
    "given must": "--given must",
    "timeout must be None where": "--timeout must be left out where",
    "give an executor of processes too": "give --jobs too",
    "give threshold= (": "give --threshold T (",
    "threshold needs": "--threshold needs",
    "leave threshold out": "leave --threshold out",
    "give the score of one class: lambda rows:": "name a function module:function that returns",
    "or tolerance= (": "or --tolerance T (",
    "give ft.targets.Remote(function, one_row=True)": "give --one-row",
    "leave it out, or name it in categorical where": "leave it out with --drop, or name it with --categorical where",
    "labels=None": "no --labels",
    "labels='argmax'": "--labels argmax",
    "make the same call again": "give the same command again",
    "give another journal": "give another --journal or --out",
    "or another journal": "or another --journal",
    "and give Rows the other": "and give --rows the other",
    'ft.Rows(table, blend="auto")': "--rows --blend auto",
    "ft.Rows(table)": "--rows",
    "ft.Mixture.from_data(table)": "--mixture",
    **{f"{name} must be": f"--{name} must be" for name in _OPTIONS},
    **{name: f"--{name.replace('_', '-')}" for name in _LIMITS},
}
"""Arguments of the library as the command line calls them."""


def say(*lines: object) -> None:
    """Lines as they are; a terminal may wrap them, and shows verdicts in colour."""
    for line in lines:
        typer.echo(_coloured(str(line)) if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else str(line))


def _coloured(text: str) -> str:
    """The verdicts of a text in green and red."""
    for pattern, colour in _COLOURS.items():
        text = pattern.sub(partial(_painted, colour), text)
    return text


def _painted(colour: str, found: re.Match[str]) -> str:
    return typer.style(found[0], fg=colour, bold=True)


def say_json(data: dict[str, Any]) -> None:
    """One JSON object."""
    typer.echo(json.dumps(data, indent=1))


def tell(as_json: bool, plain: dict[str, Any], *lines: object) -> None:
    """What came of a command: one JSON object for scripts, or sentences for people."""
    if as_json:
        say_json(plain)
    else:
        say(*lines)


def written(paths: Sequence[Path], as_json: bool) -> None:
    """Which files there are now; not after a JSON object, which must be all that is printed."""
    if not as_json:
        say(*(f"wrote {path}" for path in paths))


def note(line: str) -> None:
    """Something that a person should know and a script should not read."""
    typer.echo(line, err=True)


class Code(IntEnum):
    """What scripts may rely on."""

    CERTIFIED = 0
    TARGET_FAILED = 1
    BAD_INPUT = 2
    NOT_CERTIFIED = 3
    CHANGED = 4
    UNDECIDED = 5
    REFUTED_BY_ROWS = 6
    INTERRUPTED = 7


def guarded(command: Callable[..., int]) -> Callable[..., None]:
    """The command with its result as the exit code, and every error that is not our own bug as one line."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            with _warnings_in_one_line():
                code = int(command(*args, **kwargs))
        except FidelitreeError as error:
            code = _failed(in_options(str(error)) + _where(error), _code(error))
        except BrokenPipeError:
            raise  # whoever reads has seen enough: typer ends quietly
        except OSError as error:
            where = f": {error.filename}" if error.filename else ""
            code = _failed(f"{error.strerror or error}{where}", Code.BAD_INPUT)
        except KeyboardInterrupt as stop:
            code = _failed(str(stop) or "interrupted before there was anything to certify", Code.INTERRUPTED)
        if code:
            raise typer.Exit(code)

    return run


_shown = {"tracebacks": False}


def show_tracebacks(wanted: bool) -> None:
    """Whether errors of a target come with all their frames."""
    _shown["tracebacks"] = wanted


def _where(error: FidelitreeError) -> str:
    """The last frame of what a target raised, and all of them if somebody asked."""
    cause = error.__cause__
    if not isinstance(error, TargetError) or cause is None or isinstance(cause, FidelitreeError):
        return ""
    frames = traceback.extract_tb(cause.__traceback__)
    if not frames:
        return ""
    last = frames[-1]
    if _shown["tracebacks"]:
        note("".join(traceback.format_exception(cause)).rstrip())
        return ""
    how = "; fidelitree --traceback ... shows all frames" if len(frames) > 1 else ""
    return f" ({Path(last.filename).name}, line {last.lineno}, in {last.name}{how})"


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Warnings of ours without a place in the source, which is not the user's."""
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, DoubtWarning):
                _failed(f"warning: {in_options(str(message))}", Code.BAD_INPUT)
            else:
                usual(message, category, *where, **more)

        warnings.showwarning = show
        yield


def in_options(message: str) -> str:
    """A message of the library with arguments named as the command line names them, on one line."""
    for argument, option in _SPOKEN.items():
        message = re.sub(rf"(?<![\w-]){re.escape(argument)}", option, message)
    message = re.sub(r"(?<!\w)given\[(['\"])(.*?)\1\] must", r"--given \2 must", message)
    message = re.sub(r"(?<!\w)trusted=\[(.*?)\]", lambda found: _each("--trusted", found[1]), message)
    return " ".join(message.split())


def _each(option: str, listed: str) -> str:
    """An option once for each item of a list."""
    return " ".join(f"{option} {item}" for item in listed.split(", "))


def _code(error: FidelitreeError) -> Code:
    """A model that refuses a batch for a reason of ours (a feature is missing) was given bad input; it did not fail."""
    reason = error.__cause__ if isinstance(error.__cause__, FidelitreeError) else error
    return Code.TARGET_FAILED if isinstance(reason, TargetError) else Code.BAD_INPUT


def _failed(message: str, code: Code) -> Code:
    typer.echo(f"fidelitree: {message}", err=True)
    return code


def check_place(option: str, path: Path | None, *, folder: bool = False) -> None:
    """Refuse a file, or a folder, that could not be written; folders that are missing on the way can be made."""
    if path is None:
        return
    wanted = "a folder" if folder else "a file"
    if path.exists() and path.is_dir() is not folder:
        raise ParameterError(f"{option} must be {wanted}, or a name that is not taken; {str(path)!r} is taken")
    nearest = next(place for place in (path, *path.absolute().parents) if place.exists())
    if not nearest.is_dir() and nearest != path:
        raise ParameterError(f"{option} must be {wanted} that can be made; {str(nearest)!r} is no folder")
    if not os.access(nearest, os.W_OK):
        raise ParameterError(f"{option} must be {wanted} that may be written; {str(nearest)!r} may not")


_EVERY = 10.0  # seconds between two lines where nobody watches
_PER_SECOND = 4  # pictures where somebody does


class StatusLine:
    """An observer that shows a run; use it in a ``with`` block."""

    def __init__(
        self,
        title: str,
        epsilon: float | None,
        limits: tuple[int | None, float | None] = (None, None),
        also: Observer | None = None,
    ) -> None:
        self._wanted, self._also = (epsilon, limits), also
        self._told = time.monotonic()
        self.begin(title)
        self._live: Live | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live
            from rich.spinner import Spinner

            self._spinner = Spinner("dots")
            self._live = Live(
                console=Console(stderr=True),
                get_renderable=self._picture,
                refresh_per_second=_PER_SECOND,
                transient=True,
            )
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, event: Event) -> None:
        """Hear an event."""
        self._status.see(event)
        if self._also is not None:
            self._also(event)
        if self._live is None and time.monotonic() - self._told >= _EVERY:
            self._told = time.monotonic()
            note(self.line())

    def begin(self, title: str) -> None:
        """A new run begins under a title of its own."""
        from fidelitree.asking.progress import RunStatus

        self._title, self._status, self._started = title, RunStatus(*self._wanted), time.monotonic()

    def line(self) -> str:
        """The state in one line."""
        return f"{self._title}: {' · '.join(self._status.parts(time.monotonic() - self._started))}"

    def _picture(self) -> RenderableType:
        from rich.text import Text

        self._spinner.update(text=Text(self.line()))
        return self._spinner
