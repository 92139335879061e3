"""Hostile targets through every door: the certificate of the well-behaved twin, or an error of our own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fidelitree as ft
from fidelitree.asking import call as calls
from fidelitree.asking.workers import processes
from fidelitree.errors import FidelitreeError
from fidelitree.learners import LEARNERS
from hostile import DEADLY, FAULTY, HARMLESS, WRONG, HostileTarget

BITS, FEW = ft.ProductSpace.bernoulli(12), ft.ProductSpace.bernoulli(5)
FEATURES = [
    ft.Boolean("owner", 0.3),
    ft.Categorical("job", {"clerk": 0.5, "nurse": 0.3, "pilot": 0.2}),
    ft.Numeric.from_values("children", [0, 0, 1, 2, 3]),
    ft.Numeric("age", 18, 90),
]
PEOPLE: dict[str, Any] = {
    "owner": np.arange(400) % 3 == 0,
    "job": np.array(["clerk", "nurse", "pilot"])[np.arange(400) // 7 % 3],
    "children": np.arange(400) // 5 % 4,
    "age": np.random.default_rng(0).integers(18, 91, 400).astype(float),
}


def on_bits(batch: Any) -> Any:
    """Three features decide, two labels."""
    return (batch[:, 0] & batch[:, 1]) | batch[:, 3]


def on_people(batch: Any) -> Any:
    """Two features decide, three labels."""
    age, children = np.asarray(batch["age"]), np.asarray(batch["children"])
    return np.where(age > 60, 2, (children > 1).astype(int))


def on_array(batch: Any) -> Any:
    return np.where(batch[:, 0] > 60, 2, (batch[:, 1] > 1).astype(int))


def told(result: Any) -> Any:
    """What must be equal."""
    if isinstance(result, ft.Distillation):
        return result.tree.digest, result.certificate, result.queries, result.reason
    if isinstance(result, ft.Certificate):
        return result.error_bound, result.holds, result.samples, result.errors, result.method
    if isinstance(result, ft.Frontier):
        points = [(point.tree.digest, point.certificate) for point in result]
        return points, result.queries, result.reason
    if isinstance(result, ft.Analysis):
        return result.influences.tolist(), result.intervals.tolist(), result.queries
    if isinstance(result, ft.Difference):
        return result.to_json()
    return [told(found) for found in result.results.values()]


Door = Callable[..., Any]
DOORS: dict[str, tuple[Any, Door]] = {
    **{
        f"distill {strategy} {prefer}": (
            on_bits,
            partial(
                ft.distill, space=BITS, epsilon=0.1, strategy=strategy, prefer=prefer, max_queries=250, batch_size=size
            ),
        )
        for strategy, prefer, size in [
            ("auto", "queries", None),
            ("auto", "leaves", 7),
            ("influence", "queries", 7),
            ("smallest", "queries", 97),
        ]
    },
    "distill a noisy target": (
        on_bits,
        partial(ft.distill, space=BITS, epsilon=0.1, deterministic=False, batch_size=7),
    ),
    "distill within a budget": (on_bits, partial(ft.distill, space=BITS, epsilon=None, max_queries=150)),
    "distill every input": (on_bits, partial(ft.distill, space=FEW, epsilon=0)),
    **{
        f"distill features as {kind}": (
            on_people,
            partial(
                ft.distill, space=ft.ProductSpace(FEATURES, batch=kind), epsilon=0.15, max_queries=250, batch_size=size
            ),
        )
        for kind, size in [("dict", 7), ("pandas", None), ("polars", 97), ("arrow", 97)]
    },
    **{
        f"distill a table of {name}": (
            on_people,
            partial(
                ft.distill, space=ft.ProductSpace.from_data(make(PEOPLE)), epsilon=0.15, max_queries=250, batch_size=97
            ),
        )
        for name, make in [("mapping", dict), ("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("arrow", pa.table)]
    },
    "distill an array": (
        on_array,
        partial(
            ft.distill,
            space=ft.ProductSpace.from_data(np.stack([PEOPLE["age"], PEOPLE["children"]], axis=1)),
            epsilon=0.15,
            max_queries=250,
        ),
    ),
    "distill rows": (on_people, partial(ft.distill, space=ft.Rows(PEOPLE), epsilon=0.2, batch_size=7)),
    "distill rows of pandas": (on_people, partial(ft.distill, space=ft.Rows(pd.DataFrame(PEOPLE)), epsilon=0.2)),
    **{
        f"frontier over {name}": (rule, partial(ft.frontier, space=space, max_queries=900, batch_size=size))
        for name, rule, space, size in [
            ("bits", on_bits, BITS, 7),
            ("every input", on_bits, FEW, None),
            ("features", on_people, ft.ProductSpace(FEATURES, batch="pandas"), 97),
            ("rows", on_people, ft.Rows(PEOPLE), 7),
            ("a dependence", on_people, ft.ChowLiu.from_data(pd.DataFrame(PEOPLE)), None),
            ("a mixture", on_people, ft.Mixture.from_data(pl.DataFrame(PEOPLE)), 97),
        ]
    },
    "certify": (on_bits, lambda target: ft.certify(ft.Tree.constant(BITS, 0), target, BITS, 0.7, seed=0, batch_size=7)),
    "certify every input": (on_bits, lambda target: ft.certify(ft.Tree.constant(FEW, 0), target, FEW, 0)),
    "certify rows": (on_people, lambda target: ft.certify(on_people, target, ft.Rows(PEOPLE), 0.1, seed=0)),
    "certify a predictor": (on_bits, lambda target: ft.certify(target, on_bits, BITS, 0.1, seed=0)),
    "certify a predictor everywhere": (on_bits, lambda target: ft.certify(target, on_bits, FEW, 0)),
    "certify a predictor of rows": (
        on_people,
        lambda target: ft.certify(target, on_people, ft.Rows(PEOPLE), 0.1, seed=0),
    ),
    "analyze": (on_bits, partial(ft.analyze, space=BITS, method="sampled", max_queries=4_000)),
    "analyze every input": (on_bits, partial(ft.analyze, space=FEW)),
    "analyze rows": (on_people, partial(ft.analyze, space=ft.Rows(PEOPLE), max_queries=2_000)),
    "build_top_down": (on_bits, partial(ft.build_top_down, space=FEW, epsilon=0.1, batch_size=7)),
    **{
        f"practical_top_down {schedule}": (
            on_bits,
            partial(ft.practical_top_down, space=FEW, epsilon=0.4, delta=0.3, schedule=schedule, max_queries=60_000),
        )
        for schedule in ("printed", "corrected")
    },
    **{
        f"learn by {name}": (on_bits, partial(learner.learn, space=FEW, epsilon=0.2, delta=0.2, max_queries=2_000))
        for name, learner in LEARNERS.items()
    },
    "diff": (on_bits, lambda target: ft.diff(target, lambda batch: batch[:, 5], BITS, epsilon=0.05, batch_size=7)),
    "compare": (on_bits, partial(ft.compare, space=FEW, epsilon=0.2, delta=0.2, learners=("distill", "c45"))),
}


@cache
def twin(door: str) -> Any:
    rule, call = DOORS[door]
    return told(call(rule))


@pytest.mark.parametrize("mode", HARMLESS)
@pytest.mark.parametrize("door", DOORS)
def test_whatever_a_target_does_to_its_memory_changes_nothing(door: str, mode: str) -> None:
    rule, call = DOORS[door]
    assert told(call(HostileTarget(rule, mode))) == twin(door)


QUICK = [
    "distill auto queries",
    "distill features as dict",
    "frontier over bits",
    "frontier over rows",
    "certify",
    "certify a predictor",
    "analyze",
    "learn by c45",
]
OWN = r"^(?:predictor must label every batch: )?(?:the target|it|labels|a label) "


def ended(call: Door, target: HostileTarget) -> Any:
    """The result, or the error of our own that came in its place."""
    try:
        return call(target)
    except FidelitreeError as error:
        return error


@pytest.mark.parametrize("mode", [*FAULTY, *WRONG])
@pytest.mark.parametrize("door", QUICK)
def test_what_is_no_answer_is_an_error_of_our_own(door: str, mode: str) -> None:
    rule, call = DOORS[door]
    for first in (1, 2):  # at once, and once some answers were good
        target = HostileTarget(rule, mode, first)
        found = ended(call, target)
        if isinstance(found, FidelitreeError):
            assert re.match(OWN, str(found)), found
            assert len(str(found)) < 400
        else:  # it was asked once only
            assert target.calls < first
            assert told(found) == twin(door)


@pytest.mark.parametrize("mode", FAULTY)
def test_another_try_has_a_batch_of_its_own(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls.time, "sleep", lambda seconds: None)
    for rule, space in ((on_bits, BITS), (on_people, ft.ProductSpace(FEATURES))):

        class Spoils(HostileTarget):
            def __call__(self, batch: Any) -> Any:
                self.calls += 1
                if self.calls % 2:
                    return HostileTarget(self.rule, "scribbles")(batch) is None or FAULTY[mode](self, batch, None)
                return self.rule(batch)

        run = partial(ft.distill, space=space, epsilon=0.15, max_queries=400)
        assert told(run(Spoils(rule, mode), retries=1)) == told(run(rule))


class Minimal(Executor):
    """The least that an executor can be: `submit`, and a `shutdown` that knows nothing but ``wait``."""

    def submit(self, function: Any, /, *arguments: Any) -> Future[Any]:  # type: ignore[override]
        future: Future[Any] = Future()
        future.set_result(function(*arguments))
        return future

    def shutdown(self, wait: bool = True) -> None:  # type: ignore[override]
        pass


@pytest.fixture(scope="module")
def staff() -> Iterator[dict[str, Any]]:
    """Workers of every kind."""
    distributed = pytest.importorskip("distributed")
    with (
        ProcessPoolExecutor(2) as pool,
        ThreadPoolExecutor(2) as threads,
        distributed.LocalCluster(
            processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield {
            "processes": pool,
            "threads": threads,
            "made threads": partial(ThreadPoolExecutor, 2),
            "minimal": Minimal(),
            "made minimal": Minimal,
            "Dask in this process": client.get_executor(),
        }


WORKED = {
    "bits": (on_bits, BITS, {"epsilon": 0.1, "batch_size": 7}),
    "pandas": (on_people, ft.ProductSpace.from_data(pd.DataFrame(PEOPLE)), {"epsilon": 0.15, "max_queries": 300}),
}


@cache
def worked(what: str) -> Any:
    rule, space, arguments = WORKED[what]
    return told(ft.distill(rule, space, **arguments))


@pytest.mark.filterwarnings("ignore")  # what Dask warns of is not ours
@pytest.mark.parametrize("mode", HARMLESS)
@pytest.mark.parametrize(
    "who", ["processes", "threads", "made threads", "minimal", "made minimal", "Dask in this process"]
)
def test_nor_does_it_on_workers_or_behind_a_journal(who: str, mode: str, staff: dict[str, Any], tmp_path: Path) -> None:
    for what, (rule, space, arguments) in WORKED.items():
        path = tmp_path / f"{what}.db"
        for _ in range(2):  # made, and made again from its journal
            target = HostileTarget(rule, mode)
            found = ft.distill(target, space, executor=staff[who], journal=path, **arguments)
            assert told(found) == worked(what)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", [*FAULTY, *WRONG])
@pytest.mark.parametrize("who", ["processes", "threads", "minimal", "Dask in this process"])
def test_an_error_on_workers_is_our_own(who: str, mode: str, staff: dict[str, Any]) -> None:
    with pytest.raises(ft.TargetError) as caught:
        ft.distill(HostileTarget(on_bits, mode), BITS, 0.1, executor=staff[who])
    assert re.match(OWN, str(caught.value))


@pytest.mark.parametrize("mode", DEADLY)
def test_a_target_that_hangs_or_dies_takes_its_worker_only(mode: str, tmp_path: Path) -> None:
    """Once, and a new worker goes on; always, and it is an error of our own."""
    run = partial(ft.distill, space=BITS, epsilon=0.1, executor=processes(1), timeout=3)
    target = HostileTarget(on_bits, mode, once=tmp_path / "once")
    assert told(run(target, retries=1)) == told(ft.distill(on_bits, BITS, 0.1))
    with pytest.raises(ft.TargetError, match=r"^the (?:workers were silent|executor broke)"):
        run(HostileTarget(on_bits, mode))


def test_loky_makes_workers_too() -> None:
    loky = pytest.importorskip("joblib.externals.loky")
    found = ft.distill(on_bits, BITS, 0.1, executor=partial(loky.ProcessPoolExecutor, 1))
    assert told(found) == told(ft.distill(on_bits, BITS, 0.1))


class ChangesItsMind:
    """Answers otherwise from some call on."""

    def __init__(self, calls: int) -> None:
        self.calls = calls

    def __call__(self, batch: Any) -> Any:
        self.calls -= 1
        return on_bits(batch) ^ (self.calls < 0)


def by_company(batch: Any) -> Any:
    """Answers by what else is in the batch: a model that subtracts the mean of a batch."""
    ones = batch.sum(axis=1)
    return (ones > ones.mean()).astype(int)


@pytest.mark.parametrize("target", [ChangesItsMind(2), by_company])
def test_a_target_that_breaks_the_assumption_is_noticed_where_an_input_comes_again(target: Any) -> None:
    with pytest.raises(ft.TargetError, match="answered an input differently the second time"):
        ft.distill(target, ft.ProductSpace.bernoulli(8), 0.05)


def test_nobody_else_makes_a_batch() -> None:
    """The door is the only place where a target can be called: it alone has what a target is called with."""
    source = Path(ft.__file__).parent
    makers = {
        path.relative_to(source).as_posix() for path in source.rglob("*.py") if ".batch(" in path.read_text("utf-8")
    }
    # Two hand on. `fitted` gives copies of rows to a model's own transformers, and `values` looks at a batch of the
    # values of each feature, to learn what a model on a device receives: neither asks anything.
    asks_nothing = {"targets/fitted.py", "targets/device/values.py"}
    assert makers == {"asking/guarded.py", "spaces/product.py", "spaces/world.py", *asks_nothing}
