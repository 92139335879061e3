"""Try mutants: python -m benchmarks.mutants [--most N] [MODULE...].

A mutant is killed when a test of its module fails, or takes far too long. One that survives is printed, unless
survivors.txt beside this file says why nobody could notice it; what is printed can be added there, below a reason.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.mutants.bench import TESTS, Bench, original
from benchmarks.mutants.changes import Mutant, mutants

EXPLAINED = Path(__file__).with_name("survivors.txt")


def listed(path: Path) -> set[str]:
    """The survivors in a file, as they are printed."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {"\n".join(lines[at - 1 : at + 2]) for at, line in enumerate(lines) if line.startswith("  - ")}


def described(module: str, mutant: Mutant) -> str:
    """Where and what; lines have no numbers, which would change."""
    return f"{module}.py {mutant.where}".rstrip() + f"\n  - {mutant.was}\n  + {mutant.now}"


def chosen_mutants(module: str, most: int | None, again: Path | None) -> list[Mutant]:
    """All mutants of a module, those that survived an earlier run, or an even sample."""
    found = list(mutants(original(module)))
    if again is not None:
        survived = listed(again)
        found = [mutant for mutant in found if described(module, mutant) in survived]
    return found if most is None else random.Random(module).sample(found, min(most, len(found)))


def judge(module: str, bench: Bench, chosen: list[Mutant]) -> Counter[str]:
    """Try mutants of a module; print survivors that have no reason."""
    reasons, started, outcomes = listed(EXPLAINED), time.monotonic(), Counter(mutants=len(chosen))
    if chosen and bench.outcome(module, original(module), 600) != "survived":
        sys.exit(f"the tests of {module} fail without any change: {', '.join(TESTS[module])}")
    patience = 5 * (time.monotonic() - started) + 5
    for mutant in chosen:
        outcome, text = bench.outcome(module, mutant.source, patience), described(module, mutant)
        if outcome == "survived":
            outcome = "explained" if text in reasons else "not explained"
        outcomes[outcome] += 1
        if outcome == "not explained":
            print(text, flush=True)
    bench.write(module, original(module))
    _say(module, outcomes, started)
    return outcomes


def _say(name: str, outcomes: Counter[str], started: float) -> None:
    counts = ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.items())
    print(f"{name}: {counts}; {time.monotonic() - started:.0f} s", flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__)
    parser.add_argument("modules", metavar="MODULE", nargs="*", help=f"some of {', '.join(TESTS)} (default: all)")
    parser.add_argument("--most", type=int, metavar="N", help="try N mutants of each module, drawn evenly, not all")
    parser.add_argument("--again", type=Path, metavar="FILE", help="try only those that an earlier run printed")
    given = parser.parse_args()
    unknown = [name for name in given.modules if name not in TESTS]
    if unknown:
        parser.error(f"MODULE must be one of {', '.join(TESTS)}; got {', '.join(unknown)}")
    return given


def main() -> None:
    given, started, total = arguments(), time.monotonic(), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder)
        for module in given.modules or TESTS:
            total += judge(module, bench, chosen_mutants(module, given.most, given.again))
    _say("all", total, started)
    sys.exit(total["not explained"] > 0)


if __name__ == "__main__":
    main()
