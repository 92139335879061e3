"""What a journal says about its run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from fidelitree.asking.journal.journal import Journal
from fidelitree.asking.journal.run import Run


@dataclass(frozen=True)
class Info:
    """A journal at a glance; ``str()`` is a few lines for people."""

    path: str
    run: Run
    parts: int
    """Records: whole batches, or parts of them that came from different workers."""
    answers: int
    by_purpose: Mapping[str, int]
    seconds: float
    """How long the run has taken until the last answer, pauses left out."""
    ended: str | None
    """Why the run ended; None where it was cut off and can be resumed."""

    def __str__(self) -> str:
        run, purposes = self.run, ", ".join(f"{name} {count:,}" for name, count in self.by_purpose.items())
        arguments = ", ".join(f"{name}={value!r}" for name, value in run.arguments.items() if value is not None)
        return "\n".join(
            [
                f"journal  {self.path}",
                f"run      {run.door}({arguments}, seed={run.seed})",
                f"target   {run.target}",
                f"space    {len(run.features)} features, digest {run.space[:12]}...",
                f"made by  {', '.join(f'{name} {version}' for name, version in run.versions.items())}",
                f"answers  {self.answers:,} in {self.parts:,} parts ({purposes or 'none'}), {self.seconds:.1f} seconds",
                f"state    {'cut off: the same call goes on from here' if self.ended is None else self.ended}",
            ]
        )


def info(path: str | os.PathLike[str]) -> Info:
    """Read a journal through, checking every record; FormatError tells of a damaged one."""
    by_purpose: dict[str, int] = {}
    with Journal(path) as journal:
        for record in journal.all():
            by_purpose[record.purpose] = by_purpose.get(record.purpose, 0) + len(record.answers())
        ended = None if journal.ending is None else journal.ending.reason
        total = sum(by_purpose.values())
        return Info(os.fspath(path), journal.run, journal.records, total, by_purpose, journal.seconds, ended)
