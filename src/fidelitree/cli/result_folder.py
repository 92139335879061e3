"""A run whose result goes into a folder: what `distill` and `frontier` do before and after their one library call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeAlias, TypeVar

import typer

from fidelitree.cli.ending import AsJson, check_place, say, say_json
from fidelitree.cli.shared_options import RunningOptions, finishing, goes_on, interruptible
from fidelitree.cli.target_options import OpenedTarget, TargetOptions, opened, plain_name
from fidelitree.cli.view import stay, streaming
from fidelitree.errors import FidelitreeError

if TYPE_CHECKING:
    from fidelitree.runs.live import LiveRun


class Saved(Protocol):
    """What a run returns: it writes itself into a folder, its report last."""

    def save(self, path: Path) -> list[Path]: ...


Made = TypeVar("Made", bound=Saved)
Begin: TypeAlias = "Callable[[OpenedTarget, dict[str, Any]], Made]"


@contextmanager
def nothing_left(folder: Path) -> Iterator[None]:
    """Take away the folders that a run made and failed to put an answer into."""
    new = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        yield
    except BaseException:
        from fidelitree.asking.journal import info
        from fidelitree.certificates.store import JOURNAL

        journal = folder / JOURNAL
        with suppress(FidelitreeError, OSError):  # a journal that cannot be read, and folders that hold something, stay
            if folder in new and journal.is_file() and not info(journal).answers:
                journal.unlink()
            for place in new:
                place.rmdir()
        raise


@dataclass(frozen=True)
class ResultOptions(RunningOptions):
    """How a target is called, and where the result goes."""

    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the result (default: results/NAME of the target).")
    ] = None
    as_json: AsJson = False
    view: Annotated[bool, typer.Option("--view", help="Watch the run in a browser page on this machine.")] = False

    def folder(self, target: str) -> Path:
        """Where the result of a target goes."""
        return self.out or Path("results") / plain_name(target)

    def make(
        self,
        target: str,
        reading: TargetOptions,
        begin: Begin[Made],
        sentences: Callable[[Made], list[str]],
        plain: Callable[[Made], dict[str, Any]],
    ) -> Made:
        """Run a target with its journal, keep what came out, and say it, in words or as JSON."""
        folder = self.folder(target)
        check_place("--out", folder, folder=True)
        with ExitStack() as page:
            live = page.enter_context(streaming(f"A run: {plain_name(target)}")) if self.view else None
            made, journal = self._run(target, reading, begin, live)
            try:
                files = self._saved(made, folder, journal)
            except (FidelitreeError, OSError):  # what was paid for is told all the same
                if not self.as_json:
                    say(*sentences(made))
                raise
            try:
                if self.as_json:
                    say_json({**plain(made), "files": [str(path) for path in files]})
                else:
                    say(*sentences(made))
                    say(f"wrote {folder}: {', '.join(path.name for path in files)}", f"report: {files[-1]}")
            except KeyboardInterrupt:
                raise KeyboardInterrupt(f"interrupted, and the result is in {folder}") from None
            if live is not None:
                stay(live, folder)
        return made

    def _saved(self, made: Saved, folder: Path, journal: Path | None) -> list[Path]:
        """The files of a result, which is on disk before anything is said about it."""
        try:
            with finishing():
                self.clear(folder, journal)
                return made.save(folder)
        except KeyboardInterrupt:
            told = f"interrupted while the result was written to {folder}, where it may be missing: {goes_on(journal)}"
            raise KeyboardInterrupt(told) from None

    def _run(
        self, target: str, reading: TargetOptions, begin: Begin[Made], live: LiveRun | None
    ) -> tuple[Made, Path | None]:
        """The run, and where it kept its answers; a page that shows it hears of every event."""
        folder, (reading, timeout) = self.folder(target), reading.for_workers(target)
        with (
            nothing_left(folder),
            opened(target, reading) as found,
            self.arguments(self.journal_in(folder, found.target), timeout) as more,
            interruptible(),
        ):
            folder.mkdir(parents=True, exist_ok=True)  # now, not after hours
            return self.run(lambda: begin(found, {**more, "observer": live}), more["journal"]), more["journal"]
