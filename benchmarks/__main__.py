"""Run benchmarks by name, all of them when none is named."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from benchmarks.machine import describe
from benchmarks.report import Section

NAMES = (
    "influences",
    "predict",
    "circuits",
    "diagrams",
    "outputs",
    "backends",
    "algorithm2",
    "figures",
    "sobol",
    "overhead",
    "own_time",
    "own_time_tables",
    "worlds",
)
PAGE = Path(__file__).resolve().with_name("RESULTS.md")
OPENING = """\
# Benchmarks

Written by `python -m benchmarks --write`: every line was measured in one run on one machine, which others used too.
It has {machine}.

Timings are the shortest of several, on one thread unless a section says otherwise; *x* is how many times as fast as
the peer fidelitree is. On your machine:

```console
$ make bench
```
"""


def arguments() -> argparse.Namespace:
    """The command line, checked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one or more of {', '.join(NAMES)}")
    parser.add_argument("--smoke", action="store_true", help="toy sizes: shows that everything runs, times nothing")
    parser.add_argument("--write", action="store_true", help="write benchmarks/RESULTS.md as well")
    chosen = parser.parse_args()
    if unknown := sorted(set(chosen.names) - set(NAMES)):
        parser.error(f"NAME must be one of {', '.join(NAMES)}; got {', '.join(unknown)}")
    if chosen.write and (chosen.smoke or chosen.names):
        parser.error("--write needs all benchmarks at full size: give it alone")
    return chosen


def main() -> None:
    """Print each section as soon as it is measured."""
    chosen = arguments()
    print(describe(), flush=True)
    if chosen.smoke:
        print("smoke run: toy sizes; titles and remarks are about the full run", flush=True)
    sections: list[Section] = []
    for name in chosen.names or NAMES:
        sections.append(import_module(f"benchmarks.{name}").run(chosen.smoke))
        print("\n" + sections[-1].text(), flush=True)
    if chosen.write:
        page = "\n\n".join([OPENING.format(machine=describe()).rstrip(), *[part.markdown() for part in sections]])
        PAGE.write_text(page + "\n", encoding="utf-8")
        print(f"\nwrote {PAGE.relative_to(PAGE.parents[1])}")


if __name__ == "__main__":
    main()
