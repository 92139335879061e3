"""Models on a device: rows a second beside the model alone, and the exact engine there.

    python -m benchmarks.device [--device cuda] [--rows 300000000] [--features 64 1024]

The model is an MLP of n, 1 024, 1 024 and 2 units in bf16. Its bare forward pass, in the same run, is given inputs that
are there already; a door draws its own. Every time is that of a whole call, after a short one that compiles kernels.
On a CPU, which is a double for tests, take few rows.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np
import torch
from torch import nn

import fidelitree as ft
from benchmarks.report import Table
from fidelitree.exact.device_table import DeviceTable
from fidelitree.exact.truthtable import TableSubfunction
from fidelitree.spaces.draw import Stream, block_rows, draw
from fidelitree.targets.device.lanes import BitLanes
from fidelitree.targets.device.values import ValueLanes
from fidelitree.trees.tree import Tree

BARS = {"certify": (0.9, 0.75), "practical_top_down": (0.9, 0.75), "analyze": (0.6, 0.6)}
EXACT_BARS = {30: 2.5, 34: 60.0}


def network(features: int, device: str, constant: bool = False) -> nn.Sequential:
    """The MLP; one that is ``constant`` does all its work for an answer that never changes."""
    torch.manual_seed(features)
    layers = [nn.Linear(features, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 2)]
    model = nn.Sequential(*layers).to(device, torch.bfloat16).eval()
    if constant:
        with torch.no_grad():
            layers[-1].weight.zero_()
            layers[-1].bias.copy_(torch.tensor([0.0, 1.0]))
    return model


def whole_numbers(features: int, device: str) -> nn.Sequential:
    """A small model whose sums are exact, so that it answers the same everywhere."""
    torch.manual_seed(7)
    model = nn.Sequential(nn.Linear(features, 16), nn.ReLU(), nn.Linear(16, 2))
    with torch.no_grad():
        for values in model.parameters():
            values.copy_(torch.randint(-3, 4, values.shape))
    return model.to(device)


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


def times(work: Callable[[], Any], device: str, repeats: int = 9) -> float:
    """The median of some calls, in seconds."""
    taken = []
    for _ in range(repeats + 2):
        began = time.perf_counter()
        work()
        if device != "cpu":
            torch.cuda.synchronize()
        taken.append(time.perf_counter() - began)
    return median(taken[2:])


def bare(features: int, device: str, rows: int = 1 << 18) -> float:
    """Rows a second of the model alone."""
    model, rows = network(features, device), rows if device != "cpu" else 1 << 12
    inputs = torch.randint(0, 2, (rows, features), device=device).to(torch.bfloat16)
    with torch.inference_mode():
        return rows / times(lambda: model(inputs), device)


def doors(features: int, device: str, rows: int) -> dict[str, Callable[[int], float]]:
    """For each door, from a number of rows to rows a second."""
    space = ft.ProductSpace.bernoulli(features)
    target, constant = (ft.targets.torch(network(features, device, same)) for same in (False, True))
    tree = Tree.build(space, [(0, 1, 2), (1, 3, 4), (2, 5, 6), 1, 1, 1, 1], [0, 1])

    def rate(work: Callable[[], Any]) -> float:
        taken, found = seconds(work)
        queries = found.queries if hasattr(found, "tree") or hasattr(found, "influences") else None
        return (found.samples if queries is None else int(queries.asked)) / taken

    return {
        "certify": lambda some: rate(lambda: ft.certify(tree, constant, space, 3.7 / some, seed=1)),
        "practical_top_down": lambda some: rate(
            lambda: ft.practical_top_down(target, space, 0.05, 0.05, max_queries=some)
        ),
        "analyze": lambda some: rate(lambda: ft.analyze(target, space, method="sampled", max_queries=some)),
    }


def speeds(device: str, rows: int, sizes: list[int]) -> None:
    lines: list[tuple[str, ...]] = []
    head = "door", "bits", "rows a second", "of bare", "bar"
    for features in sizes:
        alone = bare(features, device)
        lines.append(("bare", f"{features}", f"{alone:.3e}", "1.00", ""))
        for name, run in doors(features, device, rows).items():
            run(min(rows, 6_000_000))
            found = run(rows)
            again = bare(features, device)
            bar = BARS[name][features > 64]
            lines.append((name, f"{features}", f"{found:.3e}", f"{found / max(alone, again):.3f}", f">= {bar}"))
    print(Table(head, lines).text())


def one_in_a_million(device: str) -> None:
    space = ft.ProductSpace.bernoulli(64)
    target, tree = ft.targets.torch(network(64, device, constant=True)), Tree.constant(space, 1)
    ft.certify(tree, target, space, 1e-5, seed=1)
    taken, found = seconds(lambda: ft.certify(tree, target, space, 1e-6, seed=2))
    print(f"error <= 1e-6 certified with {found.samples:,} inputs: {found.holds}, {taken:.3f} s (bar: 1 s)")


def same_inputs(device: str) -> None:
    for features, p in ((64, 0.5), (64, 0.3), (1024, 0.5), (1024, 0.3)):
        space, stream = ft.ProductSpace.bernoulli(features, p), Stream.named(11, "certify")
        rows, region = block_rows(features), space.whole
        lanes = BitLanes.of(region, stream, torch.device(device))
        found = lanes.draw(range(4, 6), rows, torch.uint8).cpu().numpy()
        wanted = np.concatenate([draw(region, stream, block, rows).T for block in (4, 5)])
        print(
            f"{2 * rows:,} inputs of {features} bits, p = {p}: same on device and CPU: {bool((found == wanted).all())}"
        )


def any_features(numbers: int) -> ft.ProductSpace:
    """Numbers, categories and bits in equal parts."""
    kinds: list[Any] = []
    for i in range(numbers):
        kinds += [ft.Numeric(f"number {i}", -1, 1 + i), ft.Categorical(f"code {i}", [0, 1, 5])]
        kinds += [ft.Boolean(f"bit {i}", 0.3)]
    return ft.ProductSpace(kinds)


def numbers_there(device: str, rows: int) -> None:
    """Draws of numbers, categories and mixtures against the CPU's, and how fast they are certified."""
    product, stream = any_features(8), Stream.named(3, "certify")
    target, tree = ft.targets.torch(network(24, device, constant=True)), Tree.constant(product, 1)
    target.counts_there = True
    for world in (product, ft.Mixture([(0.3, product), (0.7, product)])):
        found = ValueLanes.of(world, stream, torch.device(device)).draw(range(2, 4), 30_000).cpu().numpy()
        wanted = np.concatenate([world.inputs(stream, block, 30_000) for block in (2, 3)])
        audit = partial(ft.certify, tree, target, world)
        audit(1e-3, seed=1)
        taken, made = seconds(partial(audit, 3.7 / min(rows, 30_000_000), seed=2))
        same, name = bool((found == wanted).all()), type(world).__name__
        rate = made.samples / taken
        print(f"{name} of 24 features: same on device and CPU: {same}, certify {rate:.2e} rows a second")


def same_results(device: str, rows: int) -> None:
    space = ft.ProductSpace.bernoulli(20, 0.4)
    there, here = (ft.targets.torch(whole_numbers(20, where)) for where in (device, "cpu"))
    there.counts_there = True
    trees = [ft.practical_top_down(t, space, 0.2, 0.1, max_queries=min(rows, 3_000_000)) for t in (there, here)]
    audits = [ft.certify(trees[0].tree, t, space, seed=1) for t in (there, here)]
    shares = [ft.analyze(t, space, method="sampled", max_queries=min(rows, 6_000_000)) for t in (there, here)]
    same = {
        "tree": trees[0].tree.digest == trees[1].tree.digest,
        "its certificate": trees[0].certificate == trees[1].certificate,
        "audit": audits[0] == audits[1],
        "influences": bool((shares[0].influences == shares[1].influences).all()),
    }
    print(f"whole-number weights, device and CPU: {', '.join(f'{what} same: {yes}' for what, yes in same.items())}")


def exact(device: str, sizes: list[int]) -> None:
    lines: list[tuple[str, ...]] = []
    head = "features", "where", "ms", "bar"
    rng = np.random.default_rng(0)
    for n in sizes:
        biases = rng.uniform(0.1, 0.9, n)
        planes = torch.randint(-(2**31), 2**31, (1, 1 << (n - 5)), device=device, dtype=torch.int64).int()
        held = DeviceTable(planes, biases, np.zeros(2))
        found = held.influences()
        taken = times(held.influences, device)  # weights are made once for a table
        lines.append((f"{n}", device, f"{1e3 * taken:.2f}", f"<= {EXACT_BARS[n]}" if n in EXACT_BARS else ""))
        if n <= 26:
            codes = np.unpackbits(planes.cpu().numpy().view(np.uint8).ravel(), bitorder="little")
            space = ft.ProductSpace.bernoulli(n, biases)
            usual = TableSubfunction.of(codes, space.whole, [0, 1])
            took, wanted = seconds(usual.influences)
            lines.append((f"{n}", "CPU", f"{1e3 * took:.2f}", ""))
            print(f"n = {n}: largest difference from the CPU {np.abs(found - wanted).max():.1e} (bar: 1e-12)")
    print(Table(head, lines).text())


def exact_error(device: str, n: int) -> None:
    space = ft.ProductSpace.bernoulli(n, np.linspace(0.3, 0.7, n))
    target = ft.targets.torch(network(n, device, constant=True))
    target.counts_there = True
    tree = Tree.build(space, [(0, 1, 2), (1, 3, 4), 1, 0, 1], [0, 1])
    taken, found = seconds(lambda: ft.tree_error(tree, target, space))
    wanted = 0.7 * (1 - space.biases[1])
    print(f"exact error over 2^{n} inputs: {found:.15f}, off by {abs(found - wanted):.1e}, {taken:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--rows", type=int, default=300_000_000)
    parser.add_argument("--features", type=int, nargs="+", default=[64, 1024])
    parser.add_argument("--exact", type=int, nargs="*", default=[20, 26, 30, 34])
    parser.add_argument("--error", type=int, default=30)
    chosen = parser.parse_args()
    name = torch.cuda.get_device_name() if chosen.device != "cpu" else "CPU"
    print(f"torch {torch.__version__}, {name}")
    same_inputs(chosen.device)
    numbers_there(chosen.device, chosen.rows)
    same_results(chosen.device, chosen.rows)
    speeds(chosen.device, chosen.rows, chosen.features)
    if chosen.rows >= 5_000_000:
        one_in_a_million(chosen.device)
    exact(chosen.device, chosen.exact)
    exact_error(chosen.device, chosen.error)


if __name__ == "__main__":
    main()
