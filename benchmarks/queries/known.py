"""Fixed targets: multiplexers, majority, tribes, and forests trained on COMPAS."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.queries.forests import FOLDER, compas
from benchmarks.queries.judge import at_most, no_worse_than_cart
from benchmarks.queries.runs import HEADINGS, Cell, compare
from benchmarks.queries.settings import Settings
from benchmarks.report import Bar, Section, Table
from fidelitree.targets import majority, tribes
from fidelitree.targets.textbook import Textbook, multiplexer

SLOW = "multiplexer 37"
PATIENCE = 4
BARS: dict[str, tuple[int, int | None]] = {
    "multiplexer 11": (165, 16),
    "multiplexer 20": (310, 32),
    SLOW: (800, 64),
    "majority 9": (512, None),
    "tribes 3x5": (2600, None),
    **{f"COMPAS RF{k}": (450, None) for k in range(1, 6)},
    "tribes 3x3": (0, None),
}
FEWEST: dict[str, tuple[str, int]] = {
    "majority 9": ("leaves", 130),
    "tribes 3x3": ("leaves", 15),
    "tribes 3x5": ("leaves", 100),
    **{f"COMPAS RF{k}": ("leaves, 5,000", most) for k, most in enumerate((9, 4, 4, 6, 2), start=1)},
}
"""With prefer="leaves": the most leaves; for the forests those of the exact optimum at error .08."""


class Named:
    """A textbook function that can be sent to another process: it is built again there."""

    def __init__(self, maker: str, *sizes: int) -> None:
        self.maker, self.sizes = maker, sizes

    def __call__(self, batch: object) -> object:
        return self.function()(batch)

    def function(self) -> Textbook:
        makers = {"multiplexer": multiplexer, "majority": majority, "tribes": tribes}
        return makers[self.maker](*self.sizes)


def cells(smoke: bool) -> list[Cell]:
    """Every target; at smoke size the quick ones."""
    made = [("multiplexer 11", Named("multiplexer", 3)), ("majority 9", Named("majority", 9))]
    made += [("tribes 3x3", Named("tribes", 3, 3))]
    if not smoke:
        made += [("multiplexer 20", Named("multiplexer", 4)), (SLOW, Named("multiplexer", 5))]
        made += [("tribes 3x5", Named("tribes", 3, 5))]
    found = [Cell(name, target.function().n, fixed=target) for name, target in made]
    forests = list(compas().items())[: 1 if smoke else None]
    return found + [Cell(f"COMPAS {name}", forest.n, fixed=forest) for name, forest in forests]


def run(settings: Settings) -> Section:
    many, few = (2, 2) if settings.smoke else (settings.targets, settings.slow_targets)
    chosen = sorted(cells(settings.smoke), key=lambda cell: list(BARS).index(cell.name))
    counts = {cell.name: few if cell.name == SLOW else many for cell in chosen}
    patient = replace(settings, seconds=PATIENCE * settings.seconds)
    compared = [cell for cell in chosen if BARS[cell.name][0]]
    found = compare([(cell, ("auto", "CART"), counts[cell.name]) for cell in compared], patient)
    fewest = [(cell, (FEWEST[cell.name][0],), min(few, 3)) for cell in chosen if cell.name in FEWEST]
    small = compare(fewest, replace(patient, seconds=10 * settings.seconds))
    table = [[name, method, f"{counts[name]}", *summary.cells()] for (name, method), summary in found.items()]
    bars: list[Bar] = []
    table += [[name, method, f"{len(summary.runs)}", *summary.cells()] for (name, method), summary in small.items()]
    for (name, _), summary in small.items():
        bars.append(at_most(f"{name}, prefer leaves, leaves", FEWEST[name][1], summary.leaves, settings.smoke))
    for cell in compared:
        queries, leaves = BARS[cell.name]
        ours = found[cell.name, "auto"]
        bars.append(at_most(f"{cell.name}, queries", queries, ours.asked, settings.smoke))
        if leaves is not None:
            bars.append(at_most(f"{cell.name}, leaves", leaves, ours.leaves, settings.smoke))
    exact = all(run.error <= 0.1 for run in found["majority 9", "auto"].runs)
    bars.append(Bar("majority 9 within epsilon in every run", f"{exact}", None if settings.smoke else exact))
    bars.append(no_worse_than_cart(found, settings.smoke))
    absent = "" if any("COMPAS" in cell.name for cell in chosen) else f" Skipped: the forests, no files in {FOLDER}."
    remark = (
        f"p = .5; one target a row, medians over as many seeds as stated ({SLOW} has fewer because it is slow; ended "
        f"after {patient.seconds:g} s). CART as in the section small, with at most 25,600 training labels; *never* "
        "is a median over runs of which half or more found no certificate. A true error of - cannot be exact at this "
        'n. Method *leaves* is auto with prefer="leaves", over 3 seeds: with ten times the queries of its first '
        "certificate, or 5,000."
    )
    headings = ["target", "method", "seeds", *HEADINGS]
    return Section("known", "textbook functions and real forests", [Table(headings, table, 2)], bars, remark + absent)
