"""The same calls by this checkout and by an older commit, in pairs: labels, leaves, what is certified, own time.

    python -m benchmarks.paired KIND [KIND ...] [--seeds 8] [--first 0] [--against ef16d9e0]

KIND is ``bits``, ``bits-small`` (epsilon .02), ``tables``, ``rounds``, ``rounds-tables``, ``frontier`` or ``defer``.
Both versions get the same target, space and seed, in turns, each in a process of its own; only public names that both
have are used. A ratio is this checkout's figure by the other one's; its interval is that of the mean of the logarithms,
all pairs independent.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np

import fidelitree as ft
from benchmarks.queries import functions

ROOT = Path(__file__).resolve().parents[1]
AGAINST = "ef16d9e0"
SAMPLE = 20_000  # fresh inputs that show the error of a tree over a table
CURVE_LABELS = 6_000
Target = Callable[[Any], Any]


def _tree(random: np.random.Generator, n: int, depth: int) -> Target:
    """A complete tree: any feature at any node, labels by coins."""
    features = random.integers(0, n, 2**depth - 1)
    labels = random.integers(0, 2, 2**depth)
    labels[:2] = 0, 1

    def answer(bits: Any) -> Any:
        node = np.zeros(len(bits), np.intp)
        for _ in range(depth):
            node = 2 * node + 1 + bits[np.arange(len(bits)), features[node]]
        return labels[node - len(features)]

    return answer


def _parity(random: np.random.Generator, n: int, bits_of_it: int) -> Target:
    chosen = random.permutation(n)[:bits_of_it]
    return lambda bits: bits[:, chosen].sum(axis=1) % 2


def _junta(random: np.random.Generator, n: int, relevant: int) -> Target:
    chosen = random.permutation(n)[:relevant]
    table = random.integers(0, 2, 1 << relevant)
    return lambda bits: table[bits[:, chosen].astype(np.intp) @ (1 << np.arange(relevant))]


def _selector(random: np.random.Generator, n: int, address: int) -> Target:
    chosen = random.permutation(n)[: address + (1 << address)]

    def answer(bits: Any) -> Any:
        place = bits[:, chosen[:address]].astype(np.intp) @ (1 << np.arange(address))
        return bits[np.arange(len(bits)), chosen[address:][place]]

    return answer


BITS: dict[str, tuple[int, float, Callable[[np.random.Generator], Target]]] = {
    "tree of depth 3, n = 20": (20, 0.5, lambda random: _tree(random, 20, 3)),
    "tree of depth 4, n = 60, p = .3": (60, 0.3, lambda random: _tree(random, 60, 4)),
    "tree of depth 4, n = 200": (200, 0.5, lambda random: _tree(random, 200, 4)),
    "tree of depth 5, n = 20": (20, 0.5, lambda random: _tree(random, 20, 5)),
    "tree of depth 6, n = 20, p = .1": (20, 0.1, lambda random: _tree(random, 20, 6)),
    "tree of depth 6, n = 60, p = .3": (60, 0.3, lambda random: _tree(random, 60, 6)),
    "parity of 5, n = 20": (20, 0.5, lambda random: _parity(random, 20, 5)),
    "parity of 4, n = 60, p = .3": (60, 0.3, lambda random: _parity(random, 60, 4)),
    "junta of 6, n = 60": (60, 0.5, lambda random: _junta(random, 60, 6)),
    "DNF of 5, n = 20": (20, 0.5, lambda random: functions.dnf(random, 20, 5)),
    "list of literals, n = 60": (60, 0.5, lambda random: functions.list_1(random, 60, 8)),
    "list of pairs, n = 20": (20, 0.5, lambda random: functions.list_2(random, 20, 6)),
    "threshold of 9, n = 20": (20, 0.5, lambda random: functions.threshold(random, 20, 9)),
    "read-once, n = 20": (20, 0.5, lambda random: functions.read_once(random, 20, 8)),
    "selector of 3, n = 60": (60, 0.5, lambda random: _selector(random, 60, 3)),
    "network, n = 20": (20, 0.5, lambda random: functions.network(random, 20, 2)),
    "canalizing, n = 20, p = .3": (20, 0.3, lambda random: functions.canalizing(random, 20, 6)),
}


def _of_bits(epsilon: float, prefer: str = "queries") -> Callable[[str, int], dict[str, Any]]:
    def one(case: str, seed: int) -> dict[str, Any]:
        n, p, make = BITS[case]
        target = make(np.random.default_rng([seed, sum(map(ord, case))]))
        return _distilled(target, ft.ProductSpace.bernoulli(n, p), seed, epsilon=epsilon, prefer=prefer)

    return one


@cache
def _data(name: str) -> tuple[Any, Any]:
    """Rows and labels of a table that comes with scikit-learn, or is made."""
    from sklearn import datasets

    if name == "credit":
        import pandas as pd

        random = np.random.default_rng(5)
        table = pd.DataFrame(
            {
                "age": random.integers(18, 80, 3_000),
                "income": random.lognormal(3, 0.6, 3_000).round(1),
                "debt": random.random(3_000).round(3),
                "children": random.integers(0, 5, 3_000),
                "owner": random.integers(0, 2, 3_000),
                "years": random.integers(0, 30, 3_000),
            }
        )
        burden = table.debt * 60 - table.income + table.children * 3 - 10 * table.owner
        return table, ((burden - 0.4 * table.years + 0.02 * (table.age - 45) ** 2) > 0).astype(int)
    if name == "made":
        inputs, labels = datasets.make_classification(3_000, 12, n_informative=6, n_classes=3, random_state=1)
        return inputs, labels
    return getattr(datasets, f"load_{name}")(return_X_y=True)


@cache
def _model(case: str) -> tuple[Any, Any]:
    """A model fitted to half of a table, and the world of the other half."""
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    name, _, kind = case.partition(" ")
    inputs, labels = _data(name)
    kinds = {
        "forest": RandomForestClassifier(60, random_state=0, n_jobs=1),
        "boosting": GradientBoostingClassifier(n_estimators=60, random_state=0),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2_000)),
    }
    rows, answers = inputs[::2], np.asarray(labels)[::2]
    model = kinds[kind.partition(",")[0]].fit(rows, answers)
    others = inputs[1::2]
    independent = kind.endswith("marginals")
    return model.predict, (ft.ProductSpace if independent else ft.ChowLiu).from_data(others)


TABLES = (
    "wine forest",
    "wine boosting",
    "wine boosting, marginals",
    "breast_cancer forest",
    "breast_cancer logistic",
    "credit boosting",
    "made boosting",
    "made forest",
)


def _of_tables(case: str, seed: int, prefer: str = "queries") -> dict[str, Any]:
    target, space = _model(case)
    return _distilled(target, space, seed, epsilon=0.1, prefer=prefer)


def _distilled(target: Target, space: Any, seed: int, **options: Any) -> dict[str, Any]:
    started = time.process_time()
    found = ft.distill(target, space, seed=seed, **options)
    return {
        "labels": float(found.queries.asked),
        "leaves": float(found.tree.size),
        "rounds": float(found.queries.rounds),
        "bound": found.certificate.error_bound,
        "certified": found.certificate.holds,
        "own time": time.process_time() - started,
    }


def _of_curves(case: str, seed: int, labels_at_most: int | None = CURVE_LABELS) -> dict[str, Any]:
    """Bounds and errors of all sizes that both have are compared one by one."""
    target, space = _model(case)
    started = time.process_time()
    front = ft.frontier(target, space, seed=seed, max_queries=labels_at_most)
    seconds = time.process_time() - started
    batch = space.draw(SAMPLE, seed=10_000 + seed)
    labels = np.asarray(target(batch))
    errors = {point.leaves: float(np.mean(np.asarray(point.tree.predict(batch)) != labels)) for point in front}
    return {
        "labels": float(front.queries.asked),
        "bounds": {point.leaves: point.error_bound for point in front},
        "errors": errors,
        "certified": True,
        "own time": seconds,
    }


def _of_deferring(case: str, seed: int) -> dict[str, Any]:
    target, space = _model(case)
    return _distilled(target, space, seed, epsilon=0.05, defer=True, max_queries=8_000, max_leaves=30)


KINDS: dict[str, tuple[tuple[str, ...], Callable[[str, int], dict[str, Any]]]] = {
    "bits": (tuple(BITS), _of_bits(0.1)),
    "bits-small": (tuple(BITS), _of_bits(0.02)),
    "tables": (TABLES, _of_tables),
    "rounds": (tuple(BITS), _of_bits(0.1, "rounds")),
    "rounds-tables": (TABLES, partial(_of_tables, prefer="rounds")),
    "frontier": (TABLES, _of_curves),
    "defer": (TABLES, _of_deferring),
}


def sources_of(commit: str, folder: str) -> Path:
    """The package as it was at a commit, with its kernels compiled by its own build script."""
    command = ["git", "archive", commit, "src", "hatch_build.py"]
    packed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    subprocess.run([sys.executable, "hatch_build.py"], cwd=folder, check=True)
    return Path(folder, "src")


class Child:
    """A process with one version's sources, which answers a line for each case that it is told."""

    def __init__(self, sources: Path, kind: str) -> None:
        environment = os.environ | {"PYTHONPATH": f"{sources}{os.pathsep}{ROOT}"}
        command = [sys.executable, "-m", "benchmarks.paired", "--child", kind]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=sources
        )

    def ask(self, case: str, seed: int) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([case, seed]), file=self._process.stdin, flush=True)
        return dict(json.loads(self._process.stdout.readline()))

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def answer(kind: str) -> None:
    """Be such a process."""
    one = KINDS[kind][1]
    for line in sys.stdin:
        case, seed = json.loads(line)
        print(json.dumps(one(case, seed)), flush=True)


def ratio(pairs: list[tuple[float, float]]) -> str:
    """The geometric mean of the second by the first of each pair, with its 95 % interval."""
    logs = [math.log(now / before) for before, now in pairs if before > 0 and now > 0]
    if not logs:
        return "-"
    middle = fmean(logs)
    if len(logs) == 1:
        return f"{math.exp(middle):.3f}"
    width = 1.96 * stdev(logs) / math.sqrt(len(logs))
    return f"{math.exp(middle):.3f} [{math.exp(middle - width):.3f}, {math.exp(middle + width):.3f}]"


def told(runs: list[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    """Every figure that both sides have, as a ratio."""
    held = [f"certified {sum(run[side]['certified'] for run in runs)}" for side in (0, 1)]
    parts = [f"{held[0]} -> {held[1].removeprefix('certified ')} of {len(runs)}"]
    both = [(before, now) for before, now in runs if before["certified"] and now["certified"]] or runs
    known = runs[0][0].keys()
    plain = [name for name in ("labels", "leaves", "rounds", "own time") if name in known]
    sized = [name for name in ("bounds", "errors") if name in known]
    parts += [f"{name} {ratio([(before[name], now[name]) for before, now in both])}" for name in plain]
    parts += [f"{name} {ratio(list(_common(runs, name)))}" for name in sized]
    return "; ".join(parts)


def _common(runs: list[tuple[dict[str, Any], dict[str, Any]]], name: str) -> Iterator[tuple[float, float]]:
    for before, now in runs:
        for size in before[name].keys() & now[name].keys():
            yield before[name][size], now[name][size]


def compare(kind: str, seeds: list[int], before: Path) -> None:
    """All cases of a kind, and all together."""
    cases, _ = KINDS[kind]
    sides = [Child(before, kind), Child(ROOT / "src", kind)]
    everything = []
    for case in cases:
        runs = []
        for seed in seeds:
            first, second = (side.ask(case, seed) for side in sides)
            runs.append((first, second))
        everything += runs
        print(f"  {case:<34}{told(runs)}", flush=True)
    print(f"{kind}: {told(everything)}", flush=True)
    for side in sides:
        side.end()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paired", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"one or more of {', '.join(KINDS)}")
    parser.add_argument("--seeds", type=int, default=8, help="pairs of each case (default %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default %(default)s)")
    parser.add_argument("--against", default=AGAINST, help="the older commit (default %(default)s)")
    parser.add_argument("--child", choices=KINDS, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.child is not None:
        answer(chosen.child)
        return
    if not chosen.kinds or {*chosen.kinds} - {*KINDS}:
        parser.error(f"KIND must be one or more of {', '.join(KINDS)}; got {', '.join(chosen.kinds) or 'none'}")
    seeds = list(range(chosen.first, chosen.first + chosen.seeds))
    with tempfile.TemporaryDirectory() as folder:
        before = sources_of(chosen.against, folder)
        print(f"{chosen.seeds} seeds from {chosen.first}; ratios: this checkout by {chosen.against}")
        for kind in chosen.kinds:
            compare(kind, seeds, before)


if __name__ == "__main__":
    main()
