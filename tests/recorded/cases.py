"""The recorded runs, as data: each is a call through the public API, named by what it is given.

A case holds what to call; ``run`` makes the call in an empty folder and says in plain JSON what came out.
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

import fidelitree as ft
from recorded.subjects import BLIF, PLA, subject

if TYPE_CHECKING:
    from pathlib import Path

Options = dict[str, Any]
ENTROPY = "5c1d3e0f9a7b42688d0e6f3a1b2c4d5e"


@dataclass(frozen=True)
class Case:
    """One run, or a few that belong together; ``needs`` are libraries that have a say in its outcome."""

    name: str
    call: Callable[[Path], Any]
    needs: tuple[str, ...] = ()

    def run(self, folder: Path) -> Any:
        return told(self.call(folder))


@singledispatch
def told(found: Any) -> Any:
    """What must not change, as plain JSON; floats by their bits."""
    raise TypeError(f"no words for {found!r}")


@told.register
def _(found: ft.Distillation) -> Any:
    return {
        "tree": found.tree.digest,
        "leaves": found.tree.size,
        **told(found.certificate),
        **told(found.queries),
    }


@told.register
def _(found: ft.Certificate) -> Any:
    return {"bound": found.error_bound.hex(), "holds": found.holds, "method": found.method}


@told.register
def _(found: ft.targets.Queries) -> Any:
    return {"asked": int(found.asked), "paid": int(found.paid)}


@told.register
def _(found: ft.Analysis) -> Any:
    numbers = [found.influences, found.intervals, found.label_probabilities]
    return {"influences": _hashed(numbers), "exact": found.exact, **told(found.queries)}


@told.register
def _(found: ft.Comparison) -> Any:
    errors = {row.learner: None if row.error is None else float(row.error).hex() for row in found.rows}
    frontier = None if found.frontier is None else _hashed([found.frontier])
    return {"results": told(found.results), "errors": errors, "frontier": frontier}


@told.register
def _(found: ft.Verification) -> Any:
    return {"holds": found.holds, "passed": [check.passed for check in found.checks]}


@told.register
def _(found: Mapping) -> Any:
    return {name: told(value) for name, value in found.items()}


@told.register
def _(found: float) -> Any:
    return found.hex()


def _hashed(arrays: Iterable[Any]) -> str:
    parts = [np.ascontiguousarray(array, "<f8").tobytes() for array in arrays]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def _named(door: str, about: str, options: Options) -> str:
    return " ".join([door, about, *[f"{name}={value}" for name, value in options.items()]])


def _seeded(door: Callable[..., Any], options: Options) -> Options:
    """The options with seed 0 where none is given: a record is of runs that can be repeated."""
    return {"seed": 0, **options} if "seed" in inspect.signature(door).parameters else options


def _case(door: Callable[..., Any], about: str, needs: tuple[str, ...] = (), **options: Any) -> Case:
    told = _seeded(door, options)
    return Case(_named(door.__name__, about, options), lambda _: door(*subject(about), **told), needs)


def _every(door: Callable[..., Any], subjects: Iterable[str], *ways: Options) -> Iterator[Case]:
    for about, options in itertools.product(subjects, ways):
        yield _case(door, about, **options)


def bits() -> Iterator[Case]:
    """Black boxes over bits: all strategies and preferences, several seeds."""
    ways: list[Options] = [{}, {"prefer": "leaves"}, {"strategy": "influence"}, {"strategy": "smallest"}]
    for about in ("parity-3-of-16", "balanced-4", "balanced-4-biased", "chain-9", "selector-parity"):
        yield from _every(ft.distill, [about], *[{"epsilon": 0.1, **way} for way in ways])
    yield from _every(ft.distill, ["parity-3-of-16", "chain-9", "balanced-4"], {"seed": 1}, {"seed": 2, "delta": 0.01})
    yield from _every(ft.distill, ["majority-15-biased"], *[{"epsilon": 0.2, **way} for way in ways[:3]])
    capped: Options = {"epsilon": 0.35, "max_queries": 700}
    yield from _every(ft.distill, ["tribes-3x5-biased", "nand-tree-16"], *[{**capped, **way} for way in ways[:3]])
    yield from _every(ft.distill, ["network-60-uneven"], capped, {**capped, "prefer": "leaves"})
    yield from _every(ft.distill, ["network-16", "threshold-20"], capped)
    yield from _every(ft.distill, ["multiplexer-20"], {"epsilon": 0.1}, {"epsilon": 0.1, "seed": 5})
    yield from _every(ft.distill, ["balanced-3-of-2000", "chain-6-of-2000"], {"epsilon": 0.1}, {"epsilon": 0.2})
    yield from _every(ft.distill, ["constant", "certain-bits"], {"epsilon": 0.1}, {"epsilon": 0.1, "seed": 3})


def few_inputs() -> Iterator[Case]:
    """Spaces whose inputs can all be asked, and no error at all."""
    small = ["parity-5", "majority-7", "multiplexer-6", "hwb-8", "truth-7", "grid"]
    yield from _every(ft.distill, small, {}, {"epsilon": 0})
    yield from _every(ft.distill, small, {"epsilon": 0, "strategy": "influence"}, {"strategy": "smallest"})
    yield from _every(ft.distill, small, {"epsilon": 0.1, "prefer": "leaves"})
    yield from _every(ft.distill, ["tribes-3x4", "network-12"], {"epsilon": 0}, {"epsilon": 0.02})
    yield from _every(ft.distill, ["multiplexer-6", "grid"], {"epsilon": 0, "strategy": "smallest"})


def known_functions() -> Iterator[Case]:
    """Trees, tables and circuits, about which everything is known."""
    for about in ("known-balanced-4", "known-chain-12", "formula", "formula-biased"):
        yield from _every(ft.distill, [about], {}, {"epsilon": 0.2}, {"epsilon": 0, "seed": 1})
        yield from _every(ft.distill, [about], {"strategy": "influence", "epsilon": 0.1})
        yield from _every(ft.distill, [about], {"strategy": "smallest", "epsilon": 0.1})
    for suffix, text, output in (("pla", PLA, "f"), ("pla", PLA, "g"), ("blif", BLIF, "f")):
        for door in (ft.distill, ft.build_top_down):
            yield Case(f"{door.__name__} {suffix} output={output}", _from_file(door, suffix, text, output))


def _from_file(door: Callable[..., Any], suffix: str, text: str, output: str) -> Callable[[Path], Any]:
    def call(folder: Path) -> Any:
        path = folder / f"small.{suffix}"
        path.write_text(text, encoding="ascii")
        circuit = ft.targets.read_circuit(path, output)
        space = ft.ProductSpace.bernoulli(len(circuit.names), 0.4, circuit.names)
        return door(circuit, space, 0.05, **_seeded(door, {}))

    return call


def tables() -> Iterator[Case]:
    """Features of all kinds, read off tables of all kinds."""
    ways: list[Options] = [{}, {"prefer": "leaves"}, {"strategy": "influence"}, {"strategy": "smallest"}]
    yield from _every(ft.distill, ["mixed"], *[{"epsilon": 0.15, **way} for way in ways])
    yield from _every(ft.distill, ["mixed"], {"seed": 1}, {"seed": 2}, {"delta": 0.3, "seed": 3})
    kinds = ["from-dict", "from-pandas", "from-polars", "from-arrow", "from-array"]
    yield from _every(ft.distill, kinds, {"epsilon": 0.1}, {"epsilon": 0.2, "seed": 7})
    yield from _every(ft.distill, ["from-array"], {"epsilon": 0.2, "strategy": "influence"})


def rows() -> Iterator[Case]:
    """Rows of a table, some for learning, some for tests."""
    kinds = ["rows-dict", "rows-pandas", "rows-polars", "rows-arrow", "rows-array"]
    yield from _every(ft.distill, kinds, {"epsilon": 0.1}, {"epsilon": 0.15, "seed": 4})
    yield from _every(ft.distill, ["rows-dict", "rows-array"], {"epsilon": 0.2, "prefer": "leaves"})
    yield from _every(ft.distill, ["rows-dict"], {"epsilon": None, "max_queries": 600}, {"strategy": "smallest"})


def labels() -> Iterator[Case]:
    """Classes of any type and number."""
    kinds = ["labels-text", "labels-truth", "labels-numbers", "labels-floats"]
    yield from _every(ft.distill, kinds, {"epsilon": 0.2})
    yield from _every(ft.distill, kinds[:3], {"epsilon": 0.2, "strategy": "influence"})
    yield from _every(ft.distill, kinds[:3], {"epsilon": 0.3, "prefer": "leaves"})
    yield from _every(ft.build_top_down, kinds, {"epsilon": 0.2})


def budgets() -> Iterator[Case]:
    """Runs that a limit ends, and noise."""
    for most in (1, 20, 100, 500):
        yield from _every(ft.distill, ["network-16", "mixed"], {"epsilon": 0.05, "max_queries": most})
        yield from _every(ft.distill, ["balanced-4"], {"epsilon": None, "max_queries": most})
    for most in (1, 3, 6):
        yield from _every(ft.distill, ["balanced-4", "mixed", "hwb-8"], {"epsilon": 0.3, "max_leaves": most})
    yield from _every(ft.distill, ["balanced-4"], {"strategy": "influence", "max_queries": 150})
    yield from _every(ft.distill, ["balanced-4", "mixed"], {"strategy": "smallest", "max_queries": 700})
    yield from _every(ft.distill, ["balanced-4", "mixed"], {"prefer": "leaves", "max_queries": 700})
    noisy = {"deterministic": False, "epsilon": 0.1}
    yield from _every(ft.distill, ["balanced-4", "majority-7", "mixed"], noisy, {**noisy, "seed": 9})


def learners() -> Iterator[Case]:
    """The learners of the literature."""
    for name, learner in ft.learners.LEARNERS.items():
        needs = () if learner.library is None else (learner.library,)
        yield _case(learner.learn, "majority-7", needs, epsilon=0.1)
        if name != "optimal":
            yield _case(learner.learn, "chain-9", needs, epsilon=0.2, seed=1)
            yield _case(learner.learn, "balanced-4-biased", needs, epsilon=0.1, max_queries=400)
        if not learner.bits_only:
            yield _case(learner.learn, "grid", needs, epsilon=0.05)
        if learner.asks == "labels" and not learner.bits_only:
            yield _case(learner.learn, "rows-dict", needs, epsilon=0.2, max_queries=500)
    yield from _every(ft.learners.optimal, ["hwb-8"], {}, {"epsilon": 0.1, "objective": "depth"})
    yield from _every(ft.learners.optimal, ["grid"], {"tests": "one value"})
    yield from _every(ft.learners.top_down, ["multiplexer-6"], {"size": 8, "pairs": 64})
    yield from _every(ft.learners.blanc_lange_qiao_tan, ["multiplexer-6"], {"candidates": 3, "depth": 3})


def paper() -> Iterator[Case]:
    """The two algorithms of the paper."""
    small = ["parity-5", "majority-7", "multiplexer-6", "tribes-3x4", "truth-7", "grid", "known-chain-12", "formula"]
    yield from _every(ft.build_top_down, small, {"epsilon": 0.0}, {"epsilon": 0.1})
    yield from _every(ft.build_top_down, ["tribes-3x4", "formula"], {"epsilon": 0.0, "max_leaves": 9})
    for schedule in ("printed", "corrected"):
        way: Options = {"epsilon": 0.3, "delta": 0.3, "schedule": schedule}
        yield from _every(ft.practical_top_down, ["majority-7", "multiplexer-6"], way, {**way, "seed": 1})
        yield from _every(ft.practical_top_down, ["truth-7"], {**way, "max_leaves": 3}, {**way, "max_queries": 50_000})


def audits() -> Iterator[Case]:
    """Certificates for trees and for rules that somebody else made."""
    for about in ("balanced-4", "majority-7", "mixed", "rows-dict", "from-pandas", "formula"):
        for epsilon in (0.1, 0.4):
            name = _named("certify", about, {"epsilon": epsilon})
            yield Case(f"{name} of a tree", _audit_of_tree(about, epsilon))
            yield Case(f"{name} of a rule", _audit_of_rule(about, epsilon))
    for about in ("majority-15-biased", "mixed"):
        yield Case(f"tree_error {about}", _error_of_tree(about))


def _made(about: str) -> ft.Distillation:
    """A tree to audit."""
    return ft.distill(*subject(about), 0.3, max_queries=200, seed=0)


def _audit_of_tree(about: str, epsilon: float) -> Callable[[Path], Any]:
    return lambda _: ft.certify(_made(about).tree, *subject(about), epsilon, seed=5)


def _audit_of_rule(about: str, epsilon: float) -> Callable[[Path], Any]:
    def call(_: Path) -> Any:
        rule = _made(about).tree.predict  # the method alone: nobody knows that it is a tree's
        return ft.certify(rule, *subject(about), epsilon, seed=6, entropy=ENTROPY)

    return call


def _error_of_tree(about: str) -> Callable[[Path], Any]:
    """How far the trees of two seeds are apart."""

    def call(_: Path) -> Any:
        space = subject(about)[1]
        one, two = (ft.distill(*subject(about), 0.2, seed=seed).tree for seed in (0, 1))
        return ft.tree_error(one, two, space)

    return call


def running() -> Iterator[Case]:
    """Batches, threads, journals and stored results, none of which may change anything."""
    for about in ("balanced-4", "mixed", "rows-dict", "labels-text"):
        yield _case(ft.distill, about, epsilon=0.2, batch_size=7)
        yield Case(f"distill {about} on two threads", _on_threads(about))
        yield Case(f"distill {about} twice from a journal", _journalled(about))
    yield Case("practical_top_down multiplexer-6 on two threads", _paper_on_threads)
    yield from _every(ft.build_top_down, ["hwb-8"], {"epsilon": 0.1, "batch_size": 5})


def _on_threads(about: str) -> Callable[[Path], Any]:
    def call(_: Path) -> Any:
        with ThreadPoolExecutor(2) as pool:
            return ft.distill(*subject(about), 0.2, executor=pool, batch_size=16, seed=0)

    return call


def _paper_on_threads(_: Path) -> Any:
    with ThreadPoolExecutor(2) as pool:
        return ft.practical_top_down(*subject("multiplexer-6"), 0.4, 0.4, schedule="printed", executor=pool, seed=0)


def _journalled(about: str) -> Callable[[Path], Any]:
    def call(folder: Path) -> Any:
        journal = folder / "answers.journal"
        one, two = (ft.distill(*subject(about), 0.2, journal=journal, seed=0) for _ in range(2))
        two.save(folder / "stored")
        return {"first": one, "again": two, "verified": ft.verify(folder / "stored")}

    return call


def comparisons() -> Iterator[Case]:
    """All learners side by side, and influences."""
    # Not cart and streed: their libraries are recorded by the cases of learners alone.
    own = [name for name, learner in ft.learners.LEARNERS.items() if learner.library is None]
    for about in ("multiplexer-6", "grid", "chain-9"):
        few = [name for name in own if about != "chain-9" or name != "optimal"]
        yield Case(f"compare {about}", _compared(about, ["distill", "smallest", *few]))
    everything = ["majority-7", "tribes-3x4", "grid", "formula", "truth-7", "known-chain-12", "hwb-8"]
    yield from _every(ft.analyze, everything, {})
    drawn: Options = {"method": "sampled", "max_queries": 3000}
    yield from _every(
        ft.analyze, ["balanced-4", "network-60-uneven", "mixed", "rows-dict"], drawn, {**drawn, "seed": 2}
    )
    yield from _every(ft.analyze, ["mixed"], {**drawn, "given": {"owner": 1, "age": (20, 60)}})


def _compared(about: str, names: list[str]) -> Callable[[Path], Any]:
    return lambda _: ft.compare(*subject(about), 0.15, learners=names, max_queries=3000, max_seconds=None, seed=0)


GROUPS: dict[str, list[Case]] = {
    group.__name__: list(group())
    for group in (
        bits,
        few_inputs,
        known_functions,
        tables,
        rows,
        labels,
        budgets,
        learners,
        paper,
        audits,
        running,
        comparisons,
    )
}
