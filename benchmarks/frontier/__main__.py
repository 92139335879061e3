"""Measure all cases, or those of some models: python -m benchmarks.frontier [--quick] [--write].

Curves take hours, so each is kept in a file when it is done: stop and start again as you like, also with more seeds.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.frontier import endings, forecasts, optima
from benchmarks.frontier.bars import all_bars, medians, ratio
from benchmarks.frontier.cases import MODELS, QUICK, Case, cases
from benchmarks.frontier.kept import FILE, KeptTrials
from benchmarks.frontier.peers import PEERS
from benchmarks.frontier.trial import MOST, OURS, SIZES, Settings, Trial, perform
from benchmarks.machine import describe
from benchmarks.report import Bar, Section, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LOG = Path(__file__).with_name("RESULTS.md")
FRESH = 1_000_000
TOY = 900  # labels of a smoke run
OPENING = """\
# Frontiers

Trees of 2 to 64 leaves of real models from one run each, delta = 0.05, and the peers' trees from as many labels. Bars
that are missed say NOT MET. Written by `{command}`, with {machine}. On your machine:

```console
$ make bench-frontier
```
"""
REMARK = """\
fidelitree is one call of `frontier` with max_queries = 30 000, and nothing else. The peers learn from as many labels as
it took in all, those of its tests included; over rows, from all rows that are there for learning. CART: best first;
pruned: grown to the end, weakest links cut. pystreed and pycontree seek the optimum of up to 8 leaves, {seconds:g} s
for each of them; numbers are cut at ten quantiles for pystreed. True errors are shares of {fresh:,} fresh inputs; over
rows, of all rows that no tree was grown from. Medians over {seeds}, as far as each was measured.
Seconds are the processor's.
Measured with fidelitree at commit {at}.
"""


def chosen() -> argparse.Namespace:
    """The command line, checked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.frontier", description=__doc__)
    parser.add_argument("--models", nargs="+", default=list(MODELS), metavar="NAME", help=", ".join(MODELS))
    parser.add_argument("--seeds", type=int, default=5, help="runs of each case (default %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the first run's seed (default %(default)s)")
    parser.add_argument("--no-alone", action="store_true", help="do not measure what distill takes alone")
    parser.add_argument("--learning", type=int, default=0, help="labels to learn from (default: as many as pay)")
    parser.add_argument("--seconds", type=float, default=30.0, help="for each optimal peer (default %(default)s)")
    parser.add_argument("--fresh", type=int, default=FRESH, help="inputs for true errors (default %(default)s)")
    parser.add_argument("--processes", type=int, default=1, help="cases at once (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="four models, one seed, about three minutes")
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=list(PARTS), help="(default: all)")
    parser.add_argument("--kept", type=Path, default=FILE, help="curves that were measured (default %(default)s)")
    parser.add_argument("--as-far", action="store_true", help="measure nothing: judge the seeds that there are")
    parser.add_argument("--write", action="store_true", help="write benchmarks/frontier/RESULTS.md as well")
    parser.add_argument("--smoke", action="store_true", help="toy sizes: shows that everything runs, judges nothing")
    options = parser.parse_args()
    if options.write and (options.smoke or options.quick or options.models != list(MODELS)):
        parser.error("--write needs all models at full size: give no --models, --quick or --smoke with it")
    if unknown := sorted(set(options.models) - set(MODELS)):
        parser.error(f"NAME must be one of {', '.join(MODELS)}; got {', '.join(unknown)}")
    if options.quick:
        options.models = list(QUICK) if options.models == list(MODELS) else options.models
        options.seeds, options.seconds, options.fresh = 1, 5.0, 100_000
    options.most = TOY if options.smoke else MOST
    if options.smoke:
        options.models, options.parts, options.quick = ["iris"], ["curves", "forecasts"], True
        options.seeds, options.seconds, options.fresh = 1, 1.0, 5_000
        options.kept = Path(tempfile.mkdtemp()) / FILE.name  # a smoke run measures, whatever was kept
    return options


def curves(options: argparse.Namespace) -> Section:
    """Every size of every case."""
    alone = not (options.quick or options.no_alone)
    kept = KeptTrials(options.kept, Settings(options.seconds, options.fresh, alone, options.most, options.learning))
    every = list(cases(options.models))
    seeds: Sequence[int] = range(options.first, options.first + options.seeds)
    if not options.as_far:
        _measure(kept, [(case, seed) for seed in seeds for case in every], options.processes)
    there = {case: [kept.trials[case, seed] for seed in seeds if (case, seed) in kept.trials] for case in every}
    by_case = {case: trials for case, trials in there.items() if trials}
    remark = REMARK.format(seconds=options.seconds, fresh=options.fresh, seeds=_told(seeds), at=", ".join(kept.commits))
    bars = all_bars(by_case)
    bars = [Bar(bar.promise, bar.measured, None) for bar in bars] if options.smoke else bars
    tables = [Table(["model", "inputs", "leaves", "bound", OURS, *PEERS, "ratio"], list(_lines(by_case)), 2)]
    costs = ["model", "inputs", "seeds", "points", "learnt", "tested", "distill alone", "seconds"]
    tables.append(Table(costs, _costs(by_case), 2))
    return Section("frontiers", "true errors at every size", tables, bars, remark)


def _told(seeds: Sequence[int]) -> str:
    return f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}"


def _measure(kept: KeptTrials, wanted: list[tuple[Case, int]], processes: int) -> None:
    """Those that are not there yet; each is kept as soon as it is done."""
    missing = [key for key in wanted if key not in kept.trials]
    with ProcessPoolExecutor(processes) as pool:
        work = [pool.submit(perform, *key, kept.settings) for key in missing]
        for one in as_completed(work):
            trial = one.result()
            kept.add(trial)
            print(f"{trial.case}, seed {trial.seed}: {trial.seconds:.0f} s", file=sys.stderr, flush=True)


def _lines(by_case: dict[Case, list[Trial]]) -> Iterator[list[str]]:
    for case, trials in by_case.items():
        found = medians(trials)
        for size in SIZES:
            errors = [f"{found[name, size]:.4f}" if (name, size) in found else "-" for name in (OURS, *PEERS)]
            bound = sorted(one.bounds[size] for one in trials)[len(trials) // 2]
            yield [case.model, case.over, f"{size}", f"{bound:.4f}", *errors, f"{ratio(found, size):.3f}"]


def _costs(by_case: dict[Case, list[Trial]]) -> list[list[str]]:
    lines = []
    for case, trials in by_case.items():
        one = sorted(trials, key=lambda trial: trial.seconds)[len(trials) // 2]
        counts = [f"{one.points}", f"{one.learnt:,}", f"{one.tested:,}", "-" if one.alone is None else f"{one.alone:,}"]
        lines.append([case.model, case.over, f"{len(trials)}", *counts, f"{one.seconds:.0f}"])
    return lines


PARTS = {"curves": curves, "optima": optima.section, "endings": endings.section, "forecasts": forecasts.section}


def main() -> None:
    """Print the tables, and write the page if asked to."""
    options = chosen()
    print(describe(), flush=True)
    sections = []
    for part in options.parts:
        sections.append(PARTS[part](options))
        print("\n" + sections[-1].text(), flush=True)
    if options.write:
        command = shlex.join(["python", "-m", "benchmarks.frontier", *sys.argv[1:]])
        opening = OPENING.format(machine=describe().rsplit(", fidelitree", 1)[0], command=command).rstrip()
        LOG.write_text("\n\n".join([opening, *(part.markdown() for part in sections)]) + "\n", encoding="utf-8")
        print(f"\nwrote {LOG.relative_to(LOG.parents[2])}")
    sys.exit(any(bar.met is False for section in sections for bar in section.bars))


if __name__ == "__main__":
    main()
