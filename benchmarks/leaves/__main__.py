"""Measure all rows of the table, or those of some subjects."""

from __future__ import annotations

import argparse
import math
import shlex
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.leaves.bars import MANY, Results, all_bars
from benchmarks.leaves.cases import LABELS, SUBJECTS, Case, cases
from benchmarks.leaves.measure import FRESH, on_subject
from benchmarks.leaves.trial import Found
from benchmarks.machine import describe
from benchmarks.report import Section, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PAGE = Path(__file__).resolve().with_name("RESULTS.md")
HEADINGS = ["inputs", "epsilon", "method", "labels", "queries", "leaves", "certified", "true error", "seconds"]
OPENING = """\
# Leaves

Leaves of certified trees of real models, ours and the peers', delta = 0.05. Bars that are missed say NOT MET. Written
by `{command}`: every line was measured in one run on one machine, which others used too. It has {machine}.
On your machine:

```console
$ make bench-leaves
```
"""
REMARK = """\
All methods of a row get the same labels, to grow from and to choose a size by, and the same certificate: their
candidates are attempts on one stream of fresh answers, the smallest first, each with its own share of delta; the
smallest that is certified counts. fidelitree is what prefer="leaves" does, held to so many labels. scikit-learn's trees
get categories one-hot; a size is chosen on a quarter of the labels, then the tree of that size is fitted to all of
them, and leaves of one parent with one label are merged. Pruned: grown to the end, cost-complexity pruning. pystreed:
depths 1 to 4 up to the first that is good enough, {seconds:g} s, numbers cut at up to 10 quantiles. Where nothing was
certified, *none* stands for the leaves, and the bound is that of the best tree found: no small tree is known there.
True errors are shares of {fresh:,} fresh inputs; of rows there are no fresh ones. Seconds are the processor's, the
target's answers and the test included.
"""


def chosen() -> argparse.Namespace:
    """The command line, checked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.leaves", description=__doc__)
    parser.add_argument("--names", nargs="+", default=list(SUBJECTS), metavar="NAME", help=", ".join(SUBJECTS))
    parser.add_argument(
        "--labels", nargs="+", type=int, default=list(LABELS), help="to grow from (default %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of all runs (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=60.0, help="for pystreed, a row (default %(default)s)")
    parser.add_argument("--processes", type=int, default=1, help="subjects at once (default %(default)s)")
    parser.add_argument("--smoke", action="store_true", help="toy sizes: shows that everything runs, judges nothing")
    parser.add_argument("--write", action="store_true", help="write benchmarks/leaves/RESULTS.md as well")
    options = parser.parse_args()
    if unknown := sorted(set(options.names) - set(SUBJECTS)):
        parser.error(f"NAME must be one of {', '.join(SUBJECTS)}; got {', '.join(unknown)}")
    if options.write and (options.smoke or options.names != list(SUBJECTS) or options.labels != list(LABELS)):
        parser.error("--write needs all rows at full size: give no names, labels or --smoke with it")
    if options.smoke:
        options.labels, options.seconds = [400], 2.0
        options.names = options.names if len(options.names) < len(SUBJECTS) else ["COMPAS", "iris"]
    return options


def measure(options: argparse.Namespace) -> Results:
    """Every method on every case, in the order of the table."""
    order = list(cases(options.labels, options.names))
    groups = [list(group) for _, group in groupby(sorted(order, key=_subject), _subject)]
    work = partial(on_subject, seed=options.seed, seconds=options.seconds, fresh=10_000 if options.smoke else FRESH)
    found: dict[tuple[Case, str], Found] = {}
    for results in _each(work, groups, options.processes):
        found |= {(result.case, result.method): result for result in results}
    return dict(sorted(found.items(), key=lambda item: order.index(item[0][0])))


def _subject(case: Case) -> str:
    return case.subject


def _each(work: partial[list[Found]], todo: list[list[Case]], processes: int) -> Iterator[list[Found]]:
    if processes == 1:
        yield from map(work, todo)
        return
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(work, todo)


def section(found: Results, options: argparse.Namespace) -> Section:
    """The table and its bars."""
    table = Table(["model", *HEADINGS], [_line(result) for result in found.values()], 4)
    remark = REMARK.format(seconds=options.seconds, fresh=10_000 if options.smoke else FRESH)
    return Section("leaves", "trees of real models", [table], all_bars(found, options.smoke), remark)


def _line(result: Found) -> list[str]:
    case = result.case
    return [
        case.subject,
        case.over,
        f"{case.epsilon:g}",
        result.method if result.method != MANY else "CART",
        f"{result.growing:,}",
        f"{result.queries:,}",
        f"{result.tree.size:,}" if result.certified else "none",
        f"{result.bound:.4f}",
        "-" if math.isnan(result.error) else f"{result.error:.4f}",
        f"{result.seconds:.1f}",
    ]


def missed(parts: Iterable[Section]) -> list[str]:
    """What was promised and not kept, after a sentence of how much was."""
    bars = [bar for part in parts for bar in part.bars if bar.met is not None]
    short = [str(bar) for bar in bars if not bar.met]
    return [f"{len(bars) - len(short)} of {len(bars)} bars met" if bars else "no bar is judged at smoke size", *short]


def main() -> None:
    """Print the table, and write the page if asked to."""
    options = chosen()
    print(describe(), flush=True)
    if options.smoke:
        print("smoke run: toy sizes; titles and remarks are about the full run", flush=True)
    part = section(measure(options), options)
    summary = missed([part])
    print("\n" + part.text(), "", *summary, sep="\n")
    if options.write:
        command = shlex.join(["python", "-m", "benchmarks.leaves", *sys.argv[1:]])
        opening = OPENING.format(machine=describe(), command=command).rstrip() + f"\n\nIn short: {summary[0]}."
        PAGE.write_text("\n\n".join([opening, part.markdown()]) + "\n", encoding="utf-8")
        print(f"\nwrote {PAGE.relative_to(PAGE.parents[1])}")


if __name__ == "__main__":
    main()
