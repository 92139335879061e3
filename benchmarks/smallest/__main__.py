"""Run both parts, or one of them, and write the page."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from pathlib import Path

from benchmarks.machine import describe
from benchmarks.queries.settings import Settings
from benchmarks.report import Section
from benchmarks.smallest import circuits, workload

PARTS = {"circuits": circuits.run, "workload": workload.run}
PAGE = Path(__file__).resolve().with_name("RESULTS.md")
OPENING = """\
# Smallest trees, measured

How few leaves `distill(strategy="smallest")` needs ([what it does](learners.md#the-smallest-certified-tree)): against
Algorithm 1 on circuits, and against CART, pystreed and `strategy="auto"` on the targets of
[Queries](../queries/RESULTS.md).
Written by `{command}`: every line was measured on one machine, which others used too. It has {machine}.
"""


def chosen() -> tuple[Settings, list[str]]:
    """The command line, checked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.smallest", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one or more of {', '.join(PARTS)}")
    parser.add_argument("--targets", type=int, default=5, help="targets a row of the workload (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=30.0, help="for a circuit's output (default %(default)s)")
    parser.add_argument("--processes", type=int, default=1, help="(default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of all targets and runs (default %(default)s)")
    parser.add_argument("--smoke", action="store_true", help="toy sizes: shows that everything runs, judges nothing")
    parser.add_argument("--write", action="store_true", help="write benchmarks/smallest/RESULTS.md as well")
    options = parser.parse_args()
    if unknown := sorted(set(options.names) - set(PARTS)):
        parser.error(f"NAME must be one of {', '.join(PARTS)}; got {', '.join(unknown)}")
    if options.write and (options.smoke or options.names):
        parser.error("--write needs both parts at full size: give it without names and --smoke")
    settings = Settings(
        seed=options.seed,
        targets=options.targets,
        seconds=2.0 if options.smoke else options.seconds,
        processes=options.processes,
        smoke=options.smoke,
        write=options.write,
    )
    return settings, options.names or list(PARTS)


def main() -> None:
    """Print each part as soon as it is measured."""
    settings, names = chosen()
    print(describe(), flush=True)
    sections: list[Section] = []
    for name in names:
        started = time.perf_counter()
        sections.append(PARTS[name](settings))
        print("\n" + sections[-1].text(), flush=True)
        print(f"{name}: {time.perf_counter() - started:.1f} s", file=sys.stderr, flush=True)
    bars = [bar for part in sections for bar in part.bars if bar.met is not None]
    missed = [str(bar) for bar in bars if not bar.met]
    summary = f"{len(bars) - len(missed)} of {len(bars)} bars met" if bars else "no bar is judged at smoke size"
    print(f"\n{summary}", *missed, sep="\n")
    if settings.write:
        command = shlex.join(["python", "-m", "benchmarks.smallest", *sys.argv[1:]])
        opening = OPENING.format(machine=describe(), command=command).rstrip() + f"\n\nIn short: {summary}."
        PAGE.write_text("\n\n".join([opening, *[part.markdown() for part in sections]]) + "\n", encoding="utf-8")
        print(f"\nwrote {PAGE.relative_to(PAGE.parents[1])}")


if __name__ == "__main__":
    main()
