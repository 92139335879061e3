"""Run the campaign: python -m benchmarks.campaign [--smoke] [--write] [--processes P]."""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.campaign.faults import FAULTS
from benchmarks.campaign.judge import ALARM, Line, Verdict, perform, runs_of
from benchmarks.machine import describe
from benchmarks.report import Bar, Section, Table

if TYPE_CHECKING:
    from collections.abc import Iterable

PAGE = Path(__file__).resolve().with_name("RESULTS.md")
DELTAS = (0.05, 0.2)
COUNTS = {  # runs at each delta; those that take longest are fewer
    "certify": 2_000,
    "auto": 600,
    "auto, prefer leaves": 40,
    "influence": 150,
    "smallest": 40,
    "auto, not deterministic": 300,
    "auto, epsilon None": 400,
    "auto, any features": 80,
    "auto, rows of a table": 150,
    "practical_top_down": 300,
    "auto, extended three times": 200,
    "certify, patched predictor": 1_000,
    "auto, rows held out of a fit": 150,
    "auto, scribbling target": 150,
    "auto, re-used buffer": 150,
    "auto, NUL labels": 150,
    "frontier, all points": 1_200,
    "auto, patched target": 400,
    "auto, mixtures": 250,
    "auto, samplers": 250,
    "auto, neighbours of rows": 250,
    "auto, numbers": 250,
    "auto, missing numbers": 250,
    "deferring, all points": 500,
    "deferring, rows of a table": 200,
    "diff": 250,
    "auto, Chow-Liu trees": 250,
    "auto, cached target": 400,
    "auto, replayed seeds": 500,
    "certify, replayed seeds": 1_000,
    "auto, interrupted counting": 500,
    "diff, patched target": 600,
    "auto, rows kept from a fit": 500,
    "auto, duplicated rows": 300,
    "auto, grouped rows": 300,
}
FAULTY = 300  # runs with each fault planted
OPENING = """\
# Do certificates keep their word?

Written by `make campaign`: {runs:,} runs whose true errors are known, {planted:,} of them with a fault planted, in
{seconds:.0f} seconds on {machine}.

Six families of targets take turns: textbook functions, random trees, small trees spoiled without a pattern on just
more than epsilon of inputs (edge), small trees with a coin for a target in a corner of the space (rare), constants
spoiled on just more than epsilon (quiet), and parities under a condition, which tell a greedy learner nothing
(blind). `certify` is given predictors whose error is 1.02 or 1.03 times epsilon, or far above it. A patched predictor
was repaired on the test inputs of one audit, and is audited again with the same seed. A patched target was repaired
where a first run met it, so that it answers as the tree of that run; a cached one answers those inputs as its model did
before it was replaced. Their second runs have fresh seeds, and are judged by what is so on all inputs. Replayed seeds
are given twice, to a model and to its successor, which was made without knowing the inputs. An interrupted run ends by
Ctrl-C, in its observer, its target or the middle of a count, goes on from its journal, is interrupted again, and ends:
all three results are judged together. Rows held out of a fit are new to a target that answers as the nearest of its 700
training rows. Rows kept from a fit show the error of such a target on real rows, beside a world that was fitted to
other rows; their interval has 95 % whatever delta is. Duplicated rows are 240 rows, each of them four times in a table,
without a word about it; grouped rows are eight rows each of 180 people, nearly the same, whose column is named.
Mixtures, samplers (a chain of bits), neighbours of rows and Chow-Liu trees are worlds that are no product, and numbers
are labels that are a little off, within a tolerance. Missing numbers are inputs with gaps in four of their fourteen
columns. Epsilon is 0.05, 0.1 and 0.15 in turns. Trees that defer are judged where they answer, and by how much they
answer. `diff` compares a target with its rival: how much changed, and the precision and the recall of what its tree
flags.

A certificate is false when the true error is above the error that it certifies, whether that is the epsilon asked for
or the bound of a run that ended early. A frontier is false when one of its points is, at either end of its interval.
Exact certificates are not counted here: they must be right, and were.

Delta bounds runs, whatever came of them: of all runs at most a share delta may state a false bound. It does not bound
the share of false ones among the certificates that *hold*. Nearly all predictors that `certify` is given are too bad,
so nearly all of its certificates that hold are false. The columns *share* and *at most* count all runs. Where runs keep
their word, a line is accused with probability {alarm:g} at most.
"""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaign", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="a hundredth of the runs; judges all the same")
    parser.add_argument("--write", action="store_true", help="write RESULTS.md beside this program as well")
    parser.add_argument("--doors", nargs="*", help="parts of names of ways, such as samplers; no faults (default: all)")
    parser.add_argument("--processes", type=int, default=2, help="(default %(default)s)")
    chosen = parser.parse_args()
    if chosen.write and (chosen.smoke or chosen.doors):
        parser.error("--write needs the full campaign: give it without --smoke and --doors")
    if unknown := [part for part in chosen.doors or () if not any(part in door for door in COUNTS)]:
        parser.error(f"--doors must be parts of {'; '.join(COUNTS)}; got {', '.join(unknown)}")
    return chosen


def main() -> None:
    chosen = arguments()
    scale, started = (100 if chosen.smoke else 1), time.monotonic()
    doors = [door for door in COUNTS if not chosen.doors or any(part in door for part in chosen.doors)]
    wanted = {(door, delta): runs_of(door, delta, COUNTS[door] // scale) for door in doors for delta in DELTAS}
    planted_in = {} if chosen.doors else FAULTS
    faulty = {fault: runs_of(door, 0.05, max(120, FAULTY // scale), fault) for fault, (_, door) in planted_in.items()}
    runs = [run for group in (*wanted.values(), *faulty.values()) for run in group]
    with ProcessPoolExecutor(chosen.processes) as pool:
        verdicts = dict(zip(runs, _noted(pool.map(perform, runs, chunksize=5), len(runs)), strict=True))
    lines = [Line.of(*key, map(verdicts.__getitem__, group)) for key, group in wanted.items()]
    planted = {fault: Line.of(fault, 0.05, map(verdicts.__getitem__, group)) for fault, group in faulty.items()}
    sections = [_kept(lines), *([] if chosen.doors else [_seen(planted)])]
    print("\n\n".join(section.text() for section in sections))
    if chosen.write:
        seconds = time.monotonic() - started
        opening = OPENING.format(
            runs=len(runs),
            planted=sum(map(len, faulty.values())),
            seconds=seconds,
            machine=describe(),
            alarm=ALARM,
        )
        PAGE.write_text(
            "\n\n".join([opening.rstrip(), *(part.markdown() for part in sections)]) + "\n", encoding="utf-8"
        )
    sys.exit(any(bar.met is False for section in sections for bar in section.bars))


def _noted(verdicts: Iterable[Verdict], total: int) -> Iterable[Verdict]:
    for number, verdict in enumerate(verdicts, start=1):
        if not number % 200:
            print(f"{number:,} of {total:,} runs", file=sys.stderr, flush=True)
        yield verdict


def _row(line: Line) -> list[str]:
    share = line.false / max(1, line.certificates)
    counts = [f"{count:,}" for count in (line.runs, line.certificates, line.hold, line.false)]
    return [line.door, f"{line.delta:g}", *counts, f"{100 * share:.2f} %", f"{100 * line.bound:.2f} %"]


HEADINGS = ["way to it", "delta", "runs", "certificates", "hold", "false", "share", "at most (99 %)"]


def _kept(lines: list[Line]) -> Section:
    broken = [f"{line.door} at {line.delta:g}" for line in lines if line.broken]
    total = sum(line.certificates for line in lines)
    false = sum(line.false for line in lines)
    bar = Bar(
        "false certificates no more than delta explains, for every way and both deltas",
        f"{false:,} of {total:,} false{'; broken: ' + ', '.join(broken) if broken else ''}",
        not broken,
    )
    return Section("honesty", "how often a certificate is false", [Table(HEADINGS, list(map(_row, lines)))], [bar])


def _seen(planted: dict[str, Line]) -> Section:
    unseen = [fault for fault, line in planted.items() if not line.broken]
    bar = Bar("each planted fault is seen by the same judge", ", ".join(unseen) or "all seen", not unseen)
    rows = [_row(line) for line in planted.values()]
    return Section("faults", "the same judge with a fault planted", [Table(["fault", *HEADINGS[1:]], rows)], [bar])


if __name__ == "__main__":
    main()
