"""True errors of trees, and all methods on a case."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.leaves.bars import MANY
from benchmarks.leaves.cases import SMALL, Case
from benchmarks.leaves.peers import PEERS
from benchmarks.leaves.trial import OURS, Found, perform
from fidelitree.asking.counted import Counted

if TYPE_CHECKING:
    from collections.abc import Sequence

FRESH = 1_000_000
PORTION = 50_000
JUDGE = 7_919  # added to the seed: inputs that no run has drawn
MANY_LABELS = 100_000


def on_subject(todo: Sequence[Case], seed: int, seconds: float, fresh: int = FRESH) -> list[Found]:
    """All methods on all cases of a subject, and the true errors of their trees where inputs can be drawn."""
    found = [result for case in todo for result in _on_case(case, seed, seconds)]
    drawn = [result for result in found if result.case.labels is not None]
    return [*_with_errors(drawn, seed, fresh), *(result for result in found if result.case.labels is None)]


def _on_case(case: Case, seed: int, seconds: float) -> list[Found]:
    found = []
    for method in (OURS, *PEERS):
        started = time.perf_counter()
        result = perform(case, method, seed, seconds)
        found.append(result)
        leaves = f"{result.tree.size} leaves" if result.certified else f"bound {result.bound:.3f}"
        print(f"{case} {method}: {leaves} ({time.perf_counter() - started:.1f} s)", file=sys.stderr, flush=True)
    if case.labels == SMALL:
        found.append(replace(perform(case, "CART", seed, labels=MANY_LABELS), method=MANY))
    return found


def _with_errors(found: Sequence[Found], seed: int, fresh: int) -> list[Found]:
    if not found:
        return []
    case = found[0].case
    source = case.source(seed + JUDGE)
    counted = Counted(case.target, source.product)
    errors, rows = np.zeros(len(found)), 0
    while rows < fresh:
        inner = source.test(min(PORTION, fresh - rows))
        labels = counted.labels(counted.ask(inner, "certify"))
        errors += [(result.tree.predict_inner(inner) != labels).sum() for result in found]
        rows += len(inner)
    return [replace(result, error=float(count / rows)) for result, count in zip(found, errors, strict=True)]
