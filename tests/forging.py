"""What a forger of a stored result does: change a file, work digests out anew; and how both verifiers end then."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import fidelitree as ft
from fidelitree.certificates import standalone

if TYPE_CHECKING:
    from pathlib import Path


def read(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text(encoding="utf-8"))


def write(folder: Path, name: str, data: Any) -> None:
    (folder / name).write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")


def signed(folder: Path) -> None:
    """Without the frontier, whose points are forged no further; then the digests of what is left."""
    (folder / "frontier.json").unlink(missing_ok=True)
    run = read(folder, "run.json")
    here = [name for name in {**run["files"], "tested.json": ""} if (folder / name).exists()]
    run["files"] = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in here}
    write(folder, "run.json", run)


def endings(folder: Path) -> tuple[int, str]:
    """The exit code of ``verify.py``, and how `verify --answers` ends."""
    try:
        verdict = ft.verify(folder, answers=True).verdict
    except ft.FormatError:
        verdict = "refused"
    return standalone.main(folder), verdict
