"""Exact influences of all features under unequal biases, given the truth table.

The peers: plain NumPy in two idioms, and boofun, which knows one bias for all features only.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.clock import Contestant, shortest
from benchmarks.report import Bar, Section, Table, duration, times
from fidelitree.asking.counted import tabulate
from fidelitree.exact.truthtable import TableSubfunction
from fidelitree.spaces.product import ProductSpace
from fidelitree.targets import Counted, TruthTable

Floats = NDArray[np.float64]

BOOFUN_SECONDS = 60
BOOFUN_BIASES = (0.5, 0.3)
AGREEMENT = 1e-12
# boofun adds 2^(n-1) terms one by one: 1.07e-12 off at n = 22, where the correctly rounded sum (math.fsum) is ours.
BOOFUN_AGREEMENT = 1e-11


def problem(n: int) -> tuple[NDArray[np.uint8], Floats]:
    """A random truth table, and a bias of its own for each feature."""
    random = np.random.default_rng(n)
    return random.integers(0, 2, 1 << n, dtype=np.uint8), random.uniform(0.05, 0.95, n)


def pack(table: NDArray[np.uint8], biases: Any) -> TableSubfunction:
    """The table as fidelitree holds it."""
    return TableSubfunction.of(table, ProductSpace.bernoulli(len(table).bit_length() - 1, biases).whole, [0, 1])


def masses(biases: Floats) -> Floats:
    """The probability of every input, in truth-table order."""
    out = np.ones(1)
    for p in biases:
        out = np.concatenate([out * (1 - p), out * p])
    return out


def by_reshape(table: NDArray[np.uint8], biases: Floats) -> Floats:
    """The fastest plain NumPy of eight we tried at n = 16 to 24: a cube with one axis for each feature."""
    n = len(biases)
    cube, mass = table.reshape((2,) * n), masses(biases).reshape((2,) * n)
    out = np.empty(n)
    for i, p in enumerate(biases):
        axis = n - 1 - i
        changed = cube.take(0, axis) != cube.take(1, axis)
        # x_i = 0 has mass 1 - p of what the other features have; an influence is 2p(1-p) times the flip.
        out[i] = 2 * p * (mass.take(0, axis) * changed).sum()
    return out


def by_flipping(table: NDArray[np.uint8], biases: Floats) -> Floats:
    """The definition word for word: enumerate the inputs, flip a bit of each, add up where the label changes."""
    inputs, mass = np.arange(len(table)), masses(biases)
    return np.array([2 * p * (1 - p) * mass[table != table[inputs ^ 1 << i]].sum() for i, p in enumerate(biases)])


def measure(n: int, seconds: float) -> list[float]:
    """Seconds to tabulate, to pack, for our influences, by reshape, by flipping."""
    table, biases = problem(n)
    space = ProductSpace.bernoulli(n, biases)
    ours = pack(table, biases).influences()
    for peer in (by_reshape, by_flipping):
        agree(f"{peer.__name__} at n = {n}", ours, peer(table, biases))
    return shortest(
        Contestant(lambda _: tabulate(Counted(TruthTable(table), space), space.whole)),
        Contestant(lambda _: pack(table, biases)),
        # A new one each time: what it caches on the way belongs to the time.
        Contestant(lambda function: function.influences(), lambda: pack(table, biases)),
        Contestant(lambda _: by_reshape(table, biases)),
        Contestant(lambda _: by_flipping(table, biases)),
        seconds=seconds,
    )


def agree(who: str, ours: Floats, theirs: Floats, within: float = AGREEMENT) -> None:
    """A benchmark of wrong answers is worth nothing."""
    apart = float(np.abs(ours - theirs).max())
    if not apart <= within:
        raise RuntimeError(f"influences must agree within {within}; {who} differs from fidelitree by {apart}")


def child(module: str, *arguments: object, timeout: float | None = None) -> Any:
    """What a module prints as JSON when it runs in a fresh process; None when it takes too long."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *map(str, arguments)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=True)
    except subprocess.TimeoutExpired:
        return None
    return json.loads(done.stdout.splitlines()[-1])


def boofun(sizes: list[int], p: float) -> dict[int, str]:
    """The time of boofun at each size until it takes too long."""
    if find_spec("boofun") is None:
        return dict.fromkeys(sizes, "not installed")
    out: dict[int, str] = {}
    for n in sizes:
        answer = child("boofun_peer", n, p, timeout=BOOFUN_SECONDS)
        if answer is None:
            return out | {larger: f"> {BOOFUN_SECONDS} s" for larger in sizes if larger >= n}
        table, _ = problem(n)
        theirs = 2 * p * (1 - p) * np.array(answer["flips"])
        agree(f"boofun at n = {n}, p = {p}", pack(table, p).influences(), theirs, BOOFUN_AGREEMENT)
        out[n] = duration(answer["seconds"])
    return out


def run(smoke: bool) -> Section:
    """All sizes; the memory of the largest in a process of its own."""
    sizes = [10] if smoke else [16, 18, 20, 22, 24]
    measured = {n: measure(n, 0.1 if smoke else 10) for n in sizes}
    uniform, biased = (boofun(sizes, p) for p in BOOFUN_BIASES)
    rows = []
    for n, (tabulated, packed, ours, reshaped, flipped) in measured.items():
        cells = [duration(tabulated), duration(packed), duration(ours), duration(reshaped), times(reshaped / ours)]
        rows.append([str(n), *cells, duration(flipped), times(flipped / ours), uniform[n], biased[n]])
    headings = ["n", "tabulate", "pack", "fidelitree", "NumPy, reshape", "", "NumPy, flip", "", "boofun, p = .5"]
    judged = sizes[-1] if smoke else 20
    _, _, ours, reshaped, flipped = measured[judged]
    ratio, peak = reshaped / ours, child("peak_memory", sizes[-1])["bytes"]
    bars = [
        Bar(
            "at least 20x a plain NumPy enumeration (flip every bit of every input) at n = 20",
            times(flipped / ours),
            None if smoke else flipped / ours >= 20,
        ),
        Bar(
            "and 30x the fastest NumPy idiom we know (reshape, then compare along an axis)",
            times(ratio),
            None if smoke else ratio >= 30,
        ),
        Bar("n = 24 within 2 GB", f"{peak / 1e9:.2f} GB at n = {sizes[-1]}", None if smoke else peak <= 2e9),
    ]
    remark = (
        f"All influences agree within {AGREEMENT} (boofun's {BOOFUN_AGREEMENT}: it adds one by one, with the rounding "
        "that this brings). Tabulating (asking a vectorised callable about every input) and packing are not in the "
        "other times. boofun has one bias for all features: p = .5 is its compiled path (dense storage, Numba where "
        "installed; its default storage is far slower at these sizes), p = .3 its p-biased one. It runs in a process "
        f"of its own, for at most {BOOFUN_SECONDS} s. The memory is that of a fresh process that runs `analyze`, "
        "tabulating included."
    )
    return Section(
        "influences",
        "exact influences of all features, unequal biases",
        [Table([*headings, "boofun, p = .3"], rows)],
        bars,
        remark,
    )
