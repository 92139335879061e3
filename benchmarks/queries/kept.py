"""Runs that are done, in a file: a benchmark of hours can be made in pieces, and only what changed is made again."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fidelitree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Kept:
    """Results by the name of a series and the number of a run, one line of JSON each; without a path none are kept."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path is not None and path.exists() else []
        self._found: dict[tuple[str, int], Any] = {(name, k): found for name, k, found in map(json.loads, lines)}

    def runs(
        self, each: Callable[..., list[Any]], series: str, work: Callable[[int], Any], numbers: range
    ) -> list[Any]:
        """What work gives for each number, done for those that are missing."""
        missing = [k for k in numbers if (series, k) not in self._found]
        self._add(series, missing, each(work, missing))
        return [self._found[series, k] for k in numbers]

    def _add(self, series: str, numbers: Sequence[int], results: Sequence[Any]) -> None:
        self._found.update({(series, k): found for k, found in zip(numbers, results, strict=True)})
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps([series, k, self._found[series, k]]) + "\n" for k in numbers)


@cache
def sources() -> str:
    """A digest of our sources: runs of other ones are other runs."""
    folder = Path(fidelitree.__file__).parent
    files = sorted(path for path in folder.rglob("*") if path.suffix in {".py", ".c", ".h"})
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]
