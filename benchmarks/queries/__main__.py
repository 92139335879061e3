"""Run benchmarks by name, all of them when none is named."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from importlib import import_module
from pathlib import Path

from benchmarks.machine import describe
from benchmarks.queries.settings import Settings
from benchmarks.report import Section

MODULES = {
    "small": "small",
    "large": "large",
    "known": "known",
    "certificate": "certificate",
    "time": "timing",
    "honesty": "honesty",
    "workload": "workload",
    "tables": "tables",
    "juntas": "juntas",
}
PAGE = Path(__file__).resolve().with_name("RESULTS.md")
OPENING = """\
# Queries

Labels that a certified tree costs, ours and the peers', epsilon = 0.1, delta = 0.05. Labels are those *asked*, the
certificate's own included, and repeats too where there are more than 2^20 inputs; of fewer, each counts once. Bars
that are missed say NOT MET. Written by `{command}`: {how}, on one machine, which others used too.
It has {machine}. At the default sizes, on your machine:

```console
$ make bench-queries
```

![labels asked against the number of features](../../docs/figures/queries-vs-n.png)
"""
IN_ONE_RUN = "every line was measured in one run"
IN_PIECES = "what is in the file was measured before, ours with these sources, and the rest in one run"


def settings_and_names() -> tuple[Settings, list[str]]:
    """The command line, checked."""
    usual = Settings()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.queries", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one or more of {', '.join(MODULES)}")
    parser.add_argument("--smoke", action="store_true", help="toy sizes: shows that everything runs, judges nothing")
    parser.add_argument("--full", action="store_true", help="5 000 certified runs for honesty instead of 500")
    parser.add_argument("--write", action="store_true", help="write RESULTS.md beside this file, and its figure")
    parser.add_argument("--seed", type=int, default=usual.seed, help="of all targets and runs (default %(default)s)")
    parser.add_argument("--targets", type=int, default=usual.targets, help="targets a cell (default %(default)s)")
    slow = "targets of a slow cell (default %(default)s)"
    parser.add_argument("--slow-targets", type=int, default=usual.slow_targets, help=slow)
    solver = "targets of a cell of tables, where solvers run (default %(default)s)"
    parser.add_argument("--solver-targets", type=int, default=usual.solver_targets, help=solver)
    seconds = "after which one run of ours is ended (default %(default)s)"
    parser.add_argument("--seconds", type=float, default=usual.seconds, help=seconds)
    processes = "processes, except for time (default %(default)s)"
    parser.add_argument("--processes", type=int, default=usual.processes, help=processes)
    kept = "of runs of the workload: those that are in it are not made again, others are added"
    parser.add_argument("--kept", type=Path, metavar="FILE", help=kept)
    chosen = parser.parse_args()
    if unknown := sorted(set(chosen.names) - set(MODULES)):
        parser.error(f"NAME must be one of {', '.join(MODULES)}; got {', '.join(unknown)}")
    if chosen.write and (chosen.smoke or chosen.names):
        parser.error("--write needs all benchmarks at full size: give it alone")
    runs = 5_000 if chosen.full else usual.runs
    sizes = {"targets": chosen.targets, "slow_targets": chosen.slow_targets, "solver_targets": chosen.solver_targets}
    ways = {"processes": chosen.processes, "smoke": chosen.smoke, "write": chosen.write, "kept": chosen.kept}
    settings = Settings(seed=chosen.seed, runs=runs, seconds=chosen.seconds, **sizes, **ways)
    return settings, chosen.names or list(MODULES)


def main() -> None:
    """Print each section as soon as it is measured."""
    settings, names = settings_and_names()
    print(describe(), flush=True)
    if settings.smoke:
        print("smoke run: toy sizes; titles and remarks are about the full run", flush=True)
    sections: list[Section] = []
    for name in names:
        started = time.perf_counter()
        sections.append(import_module(f"benchmarks.queries.{MODULES[name]}").run(settings))
        print("\n" + sections[-1].text(), flush=True)
        print(f"{name}: {time.perf_counter() - started:.1f} s", file=sys.stderr, flush=True)
    missed = [bar for section in sections for bar in section.bars if bar.met is False]
    judged = sum(bar.met is not None for section in sections for bar in section.bars)
    summary = f"{judged - len(missed)} of {judged} bars met" if judged else "no bar is judged at smoke size"
    print(f"\n{summary}", *[f"{bar}" for bar in missed], sep="\n")
    if settings.write:
        command, how = shlex.join(["python", "-m", "benchmarks.queries", *sys.argv[1:]]), IN_ONE_RUN
        if settings.kept is not None:
            command, how = command.replace(shlex.quote(str(settings.kept)), "FILE"), IN_PIECES
        opening = OPENING.format(machine=describe(), command=command, how=how).rstrip() + f"\n\nIn short: {summary}."
        page = "\n\n".join([opening, *[part.markdown() for part in sections]])
        PAGE.write_text(page + "\n", encoding="utf-8")
        print(f"\nwrote {PAGE.relative_to(PAGE.parents[1])}")


if __name__ == "__main__":
    main()
