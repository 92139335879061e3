"""What worlds that are no product cost at 100 000 rows by 100 columns: python -m benchmarks.worlds.

For each world: how long fitting it takes, a run of `distill` against the same run over the product of marginals, and
the exact disagreement of two trees with 30 leaves each. Times are those of the processor, in one thread.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import fidelitree as ft
from benchmarks.report import Bar, Section, Table, duration
from fidelitree.exact.paths import disagreement
from fidelitree.spaces.features import AtMost
from fidelitree.spaces.region import Region
from fidelitree.trees.nested import build

if TYPE_CHECKING:
    from collections.abc import Callable

ROWS, COLUMNS, LEAVES = 100_000, 100, 30
TIMES, SECONDS = 3.0, 0.5
WORLDS: dict[str, Callable[[Any], Any]] = {
    "product": ft.ProductSpace.from_data,
    "Chow-Liu": ft.ChowLiu.from_data,
    "mixture": ft.Mixture.from_data,
    "blend .1": lambda table: ft.Rows(table, blend=0.1),
    "rows": ft.Rows,
}


def table(rows: int, columns: int) -> dict[str, Any]:
    """Columns that go together: numbers with common causes, some categories and some bits."""
    random = np.random.default_rng(0)
    causes = random.normal(size=(rows, 4))
    noisy = causes @ random.normal(size=(4, columns)) + random.normal(size=(rows, columns))
    found: dict[str, Any] = {}
    for i, column in enumerate(noisy.T):
        if i % 10 == 8:
            found[f"x{i}"] = np.array(list("abcdefg"))[np.clip((column + 3.5).astype(int), 0, 6)]
        else:
            found[f"x{i}"] = column > 0.3 if i % 10 == 9 else np.round(column, 2)
    return found


def model(batch: Any) -> Any:
    """A score of many columns."""
    return sum(np.asarray(batch[f"x{i}"]) for i in (0, 1, 2, 3, 4, 5)) > 0.5


def measure(rows: int, columns: int) -> list[list[Any]]:
    """Name, seconds to fit, of a run with its leaves and labels, and of a disagreement."""
    data, found = table(rows, columns), []
    for name, make in WORLDS.items():
        begun = time.process_time()
        world = make(data)
        fitted = time.process_time()
        result = ft.distill(model, world, 0.1, max_queries=20_000, max_leaves=64)
        ended = time.process_time()
        tested = world.apart(0)[1]
        apart = None if tested.masses is None else _apart(tested.masses, rows)
        found.append([name, fitted - begun, ended - fitted, result.leaves, int(result.queries.asked), apart])
    return found


def _apart(world: Any, seed: int) -> float:
    """Seconds that the disagreement of two large trees takes."""
    one, two = (_random_tree(world.product, np.random.default_rng([seed, k])) for k in range(2))
    assert (one.size, two.size) == (LEAVES, LEAVES), "as the bar has it"
    begun = time.process_time()
    disagreement(one, two, world)
    return time.process_time() - begun


def _random_tree(space: ft.ProductSpace, random: np.random.Generator) -> ft.Tree:
    """Cuts of random numbers, anywhere in what is left of them."""
    numbers = [i for i, feature in enumerate(space) if feature.kind == "numeric"]

    def below(region: Region, leaves: int) -> Any:
        if leaves == 1:
            return int(random.integers(2))
        feature = int(random.choice(numbers))
        cuts = space.features[feature].cuts(region.restrictions.get(feature))
        test = AtMost(feature, float(random.choice(cuts)))
        no, yes = region.split(test)
        return test, below(no, leaves - leaves // 2), below(yes, leaves // 2)

    return build(space, below(space.whole, LEAVES), [0, 1])


def run(smoke: bool) -> Section:
    rows = measure(*(1_000, 12) if smoke else (ROWS, COLUMNS))
    base = rows[0][2]
    cells = [
        [name, duration(fit), duration(ran), f"{ran / base:.2f}", f"{leaves}", f"{asked:,}", _said(apart)]
        for name, fit, ran, leaves, asked, apart in rows
    ]
    slowest = max(ran / base for _, _, ran, *_ in rows)
    longest = max(apart for *_, apart in rows if apart is not None)
    bars = [
        Bar(f"a run within {TIMES:g} times the product's", f"{slowest:.2f}", None if smoke else slowest <= TIMES),
        Bar(
            f"a disagreement of two {LEAVES}-leaf trees within {SECONDS} s",
            duration(longest),
            None if smoke else longest <= SECONDS,
        ),
    ]
    headings = ["world", "fit", "run", "of the product's", "leaves", "labels", "disagreement"]
    return Section("worlds", f"{ROWS:,} rows by {COLUMNS} columns", [Table(headings, cells)], bars)


def _said(seconds: float | None) -> str:
    return "-" if seconds is None else duration(seconds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.worlds", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="a small table: shows that everything runs")
    print(run(parser.parse_args().smoke).text())
