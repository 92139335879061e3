"""All learners on the targets of the literature and on real ones: the page docs/comparison.md.

python -m benchmarks.learners --write --keep FILE

Seconds are those of the processor, so that a busy machine changes little. Rows that are done are kept in a file, one
target a line: what was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import csv
import json
import shlex
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

import fidelitree as ft
from benchmarks.machine import commit
from benchmarks.queries.forests import read as read_forest
from benchmarks.subjects import DATA
from fidelitree.asking import limits
from fidelitree.learners import IMPROPER, LEARNERS
from fidelitree.learners.compare import OURS, Comparison, Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGE = Path(__file__).resolve().parents[1] / "docs" / "comparison.md"
EPSILON, DELTA = 0.05, 0.05
SECONDS = 10.0
CIRCUITS = (
    ("ctrl.aig", "epfl", 0),
    ("con1", "pla", 0),
    ("con1", "pla", 1),
    ("rd73", "pla", 0),
    ("9sym", "pla", 0),
    ("misex1", "pla", 2),
    ("5xp1", "pla", 1),
    ("alu4", "pla", 3),
    ("b12", "pla", 6),
    ("vg2", "pla", 4),
)
OPENING = """\
# The learners compared

All learners of [the literature](learners.md) at epsilon {epsilon:g} and delta {delta:g}, each with at most
{seconds:g} seconds of processor time. Made by `{command}`, fidelitree at
commit {commit}.

An entry is leaves / queries of the certified tree; in brackets where the error asked for was **not** certified, with
the bound that was. `-` means that a learner does not apply. An `f` in the place of leaves is a function that is no
tree. `frontier` is the fewest leaves of any tree with that error, where it was computed. True errors, where they can be
looked up, never exceeded a certified bound ({checked} certificates).
"""


@dataclass(frozen=True)
class Case:
    """A target and its inputs."""

    name: str
    target: Callable[[Any], Any]
    space: ft.ProductSpace


def paper() -> Iterator[Case]:
    for family, size in (("balanced", 4), ("chain", 8)):
        for p in (0.5, 0.3, 0.1):
            space = ft.ProductSpace.bernoulli(20, p)
            tree = getattr(ft.targets, family)(space, size, seed=1)
            yield Case(f"{family}, p = {p:g}", tree.predict, space)  # a black box


def textbook() -> Iterator[Case]:
    for target in (
        ft.targets.multiplexer(3),
        ft.targets.parity(20, 4),
        ft.targets.tribes(3, 3),
        ft.targets.majority(9),
        ft.targets.selector_parity(2, 2, 3),
    ):
        yield Case(target.name.replace("_", "-"), target, ft.ProductSpace.bernoulli(target.n))


def listed(path: Path) -> tuple[Callable[[Any], Any], ft.ProductSpace]:
    """A function that a file lists in full, last column the class."""
    with path.open(newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    place = header.index("class")
    names = [name for name in header if name != "class"]
    answers = {tuple(v for k, v in enumerate(line) if k != place): line[place] for line in lines}
    columns = list(zip(*answers, strict=True))
    space = ft.ProductSpace([ft.Categorical(n, sorted(set(c))) for n, c in zip(names, columns, strict=True)])

    def target(batch: dict[str, Any]) -> Any:
        return np.array([answers[key] for key in zip(*(batch[name].tolist() for name in names), strict=True)])

    return target, space


def real() -> Iterator[Case]:
    for number in (1, 2, 3):
        yield Case(f"monks-{number}", *listed(DATA / "functions" / f"monks-{number}.full.csv"))
    for number in (1, 2, 3):
        forest = read_forest(DATA / "forests" / f"COMPAS-ProPublica.RF{number}.txt")
        yield Case(f"COMPAS RF{number}", forest, ft.ProductSpace.bernoulli(12))
    for name, folder, output in CIRCUITS:
        path = DATA / "circuits" / folder / (name if "." in name else f"{name}.pla")
        circuit = ft.targets.read_circuit(path, output)
        yield Case(f"{path.stem} {output}", circuit, circuit.space)


def cell(row: Entry) -> str:
    if row.leaves is None:
        return "-"
    shown = f"{row.leaves:,} / {row.queries:,}"
    return shown if row.certified else f"({shown}; {row.error_bound:.2f})"


def functions(case: Case, seconds: float) -> dict[str, str]:
    """Cells of the learners whose result is no tree: the letter f and queries, certified or with the bound reached."""
    cells = {}
    for name, (learn, _) in IMPROPER.items():
        try:
            found = learn(case.target, case.space, EPSILON, DELTA, max_seconds=seconds)
            shown = f"f / {sum(found.queries.values()):,}"
            cells[name] = shown if found.certificate.holds else f"({shown}; {found.certificate.error_bound:.2f})"
        except ft.ParameterError:
            cells[name] = "-"
    return cells


def frontier(found: Comparison) -> str:
    if found.frontier is None:
        return "-"
    return str(int(np.argmax(found.frontier <= EPSILON + 1e-12)) + 1)


def count_processor_time() -> None:
    """Turn the clock of every budget, begun by a clock that is always ahead of the processor's."""
    checked = limits.Budget.__post_init__

    def begun(budget: limits.Budget) -> None:
        if budget.started > time.process_time():
            object.__setattr__(budget, "started", time.process_time())
        checked(budget)

    limits.Budget.__post_init__ = begun  # type: ignore[method-assign]
    limits.time = SimpleNamespace(monotonic=time.process_time)  # type: ignore[assignment]


def measured(case: Case, seconds: float) -> dict[str, Any]:
    """What the page says about a target: a cell for each learner, and how many certificates were looked up."""
    found = ft.compare(case.target, case.space, EPSILON, DELTA, max_seconds=seconds)
    print(f"\n{case.name}\n{found}", flush=True)
    judged = [row for row in found.rows if row.error is not None and row.certified]
    false = [row for row in judged if row.error is not None and row.error > (row.error_bound or 0) + 1e-9]
    if false:
        raise AssertionError(f"certificates that are false: {false}")
    cells = {row.learner: cell(row) for row in found.rows} | functions(case, seconds)
    return {"target": case.name, "cells": cells | {"frontier": frontier(found)}, "judged": len(judged)}


def page(rows: list[dict[str, Any]], seconds: float) -> str:
    command = shlex.join(["python", "-m", "benchmarks.learners", *sys.argv[1:]])
    checked = sum(row["judged"] for row in rows)
    told = {"epsilon": EPSILON, "delta": DELTA, "seconds": seconds, "command": command, "commit": commit()}
    opening = OPENING.format(**told, checked=checked)
    names = [*OURS, *LEARNERS, *IMPROPER, "frontier"]
    table = ["| " + " | ".join(["target", *names]) + " |", "|" + "---|" * (1 + len(names))]
    table += ["| " + " | ".join([row["target"], *(row["cells"][name] for name in names)]) + " |" for row in rows]
    return opening + "\n" + "\n".join(table) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of the processor that each learner may take")
    parser.add_argument("--only", help="targets whose name contains this")
    parser.add_argument("--keep", type=Path, help="file of rows that are done; they are not measured again")
    parser.add_argument("--write", action="store_true", help="write docs/comparison.md")
    options = parser.parse_args()
    count_processor_time()
    kept = options.keep.read_text(encoding="utf-8").splitlines() if options.keep and options.keep.exists() else []
    done = {row["target"]: row for row in map(json.loads, kept)}
    rows = []
    for case in (*paper(), *textbook(), *real()):
        if options.only is None or options.only in case.name:
            if case.name not in done:
                done[case.name] = measured(case, options.seconds)
                if options.keep:
                    with options.keep.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(done[case.name]) + "\n")
            rows.append(done[case.name])
    text = page(rows, options.seconds)
    if options.write:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print("\n" + text)


if __name__ == "__main__":
    main()
