"""A run whose result goes into a folder: what `distill` and `frontier` do before and after their one library call."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

import typer

from fidelitree.cli.ending import AsJson, check_place, say, say_json
from fidelitree.cli.shared_options import RunningOptions, interruptible
from fidelitree.cli.target_options import OpenedTarget, TargetOptions, opened, plain_name
from fidelitree.errors import FidelitreeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Saved(Protocol):
    """What a run returns: it writes itself into a folder, its report last."""

    def save(self, path: Path) -> list[Path]: ...


Made = TypeVar("Made", bound=Saved)


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

    def folder(self, target: str) -> Path:
        """Where the result of a target goes."""
        return self.out or Path("results") / plain_name(target)

    def make(
        self,
        target: str,
        reading: TargetOptions,
        begin: Callable[[OpenedTarget, dict[str, Any]], Made],
        sentences: Callable[[Made], list[str]],
        plain: Callable[[Made], dict[str, Any]],
    ) -> Made:
        """Run a target with its journal, say what came out, in words or as JSON, and keep it."""
        folder = self.folder(target)
        check_place("--out", folder, folder=True)
        reading, timeout = reading.for_workers(target)
        with (
            nothing_left(folder),
            opened(target, reading) as found,
            self.arguments(self.journal_in(folder, found.target), timeout) as more,
            interruptible(),
        ):
            folder.mkdir(parents=True, exist_ok=True)  # now, not after hours
            made = self.run(lambda: begin(found, more), more["journal"])
        if not self.as_json:
            say(*sentences(made))
        self.clear(folder, more["journal"])
        files = made.save(folder)
        if self.as_json:
            say_json({**plain(made), "files": [str(path) for path in files]})
        else:
            say(f"wrote {folder}: {', '.join(path.name for path in files)}", f"report: {files[-1]}")
        return made
