"""Odd values for every parameter of every public door: what a slip, a file or another library hands over."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import fidelitree as ft
from fidelitree import export, learners, targets

if TYPE_CHECKING:
    from collections.abc import Callable


class Refusing:
    """An object that answers nothing that it is asked."""

    def _refuse(self, *_: object) -> Any:
        raise RuntimeError("this object refuses")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __repr__ = __str__ = __format__ = __bool__ = __hash__ = __len__ = __iter__ = __getitem__ = __contains__ = _refuse
    __float__ = __index__ = __int__ = __array__ = __fspath__ = _refuse


class Unprintable:
    """An object without a printed form."""

    def __repr__(self) -> str:
        raise RuntimeError("no printed form")


ODD: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "3": lambda: 3,
    "-1": lambda: -1,
    "10**400": lambda: 10**400,
    "-10**400": lambda: -(10**400),
    "10**5000": lambda: 10**5000,
    "2**63": lambda: 2**63,
    "2**100": lambda: 2**100,
    "1e-320": lambda: 1e-320,
    "1e308": lambda: 1e308,
    "0.3": lambda: 0.3,
    "inf": lambda: float("inf"),
    "3j": lambda: 3j,
    "Decimal": lambda: Decimal("0.5"),
    "Decimal(sNaN)": lambda: Decimal("sNaN"),
    "Fraction": lambda: Fraction(1, 3),
    "np.float64(nan)": lambda: np.float64("nan"),
    "np.float16(0.5)": lambda: np.float16(0.5),
    "np.int8(-1)": lambda: np.int8(-1),
    "np.uint64": lambda: np.uint64(2**64 - 1),
    "np.bool_": lambda: np.bool_(True),
    "np.datetime64": lambda: np.datetime64("2026-01-01"),
    "array of text": lambda: np.array(["auto", "exact"]),
    "array": lambda: np.zeros(3),
    "empty array": lambda: np.zeros(0),
    "0-d array": lambda: np.array(0.5),
    "3-d array": lambda: np.zeros((2, 2, 2)),
    "Series": lambda: pd.Series([0.5, 0.5]),
    "list": lambda: [1, 2],
    "ragged list": lambda: [[1], [2, 3]],
    "list of lists": lambda: [["a"], {}],
    "tuple": lambda: ("a", "b"),
    "set": lambda: {1, "a"},
    "dict": lambda: {"a": 1},
    "dict of None": lambda: {None: None},
    "empty text": lambda: "",
    "text": lambda: "nonsense",
    "NUL": lambda: "a\0b",
    "lone surrogate": lambda: "a\udc80",
    "high surrogate": lambda: "a\ud800",
    "long text": lambda: "x" * 5000,
    "bytes": lambda: b"auto",
    "class": lambda: int,
    "generator": lambda: (x for x in (1, 2)),
    "NotImplemented": lambda: NotImplemented,
    "Path": lambda: Path("nowhere"),
    "/dev/null": lambda: "/dev/null",
    "Unprintable": Unprintable,
    "Refusing": Refusing,
    "list of Refusing": lambda: [Refusing()],
    "duplicate columns": lambda: pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]),
    "tuple columns": lambda: pd.DataFrame([[1, 2], [3, 4]], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])),
    "None columns": lambda: pd.DataFrame([[1, 2], [3, 4]], columns=[None, "a"]),
}
"""Made anew for every call: some are used up."""


def first(batch: Any) -> Any:
    """A target: the first bit."""
    return batch[:, 0]


def doors(folder: Path) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Every public door with arguments that suit it; those that may be left out are tried too."""
    space = ft.ProductSpace.bernoulli(3)
    result = ft.distill(first, space)
    result.save(folder / "result")
    tree, analysis = result.tree, ft.analyze(first, space)
    space_file = folder / "space.toml"
    space_file.write_text('[features.a]\nkind = "boolean"\n', encoding="utf-8")
    circuit = folder / "and.pla"
    circuit.write_text(".i 2\n.o 1\n11 1\n.e\n", encoding="utf-8")
    run = {"target": first, "space": space, "epsilon": 0.1, "delta": 0.1}
    small = {**run, "max_queries": 500, "max_leaves": 8, "max_seconds": 0.5, "observer": print_nothing}
    table = {"a": [0, 1, 0, 1] * 40, "b": ["x", "y", "y", "x"] * 40}
    found: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
        "distill": (ft.distill, run),
        "distill_rows": (ft.distill, {**run, "target": lambda batch: batch["a"], "space": ft.Rows(table)}),
        "frontier": (ft.frontier, {"target": first, "space": space, "delta": 0.1}),
        "certify": (ft.certify, {**run, "predictor": tree}),
        "diff": (ft.diff, {"old": tree, "new": first, "space": space, "delta": 0.1, "max_queries": 500}),
        "errors_by_class": (ft.errors_by_class, {"tree": tree, "target": first, "space": space, "max_queries": 500}),
        "analyze": (ft.analyze, {"target": first, "space": space}),
        "build_top_down": (ft.build_top_down, {name: run[name] for name in ("target", "space", "epsilon")}),
        "practical_top_down": (ft.practical_top_down, {**run, "epsilon": 0.4, "delta": 0.4, "max_queries": 20_000}),
        "compare": (ft.compare, {**run, "learners": ["id3"], "max_queries": 500}),
        "verify": (ft.verify, {"folder": folder / "result"}),
        "verify_target": (ft.verify, {"folder": folder / "result", "target": first}),
        "tree_error": (ft.tree_error, {"tree": tree, "target": first, "space": space}),
        "ProductSpace": (ft.ProductSpace, {"features": [ft.Boolean("a")]}),
        "bernoulli": (ft.ProductSpace.bernoulli, {"n": 2}),
        "from_data": (ft.ProductSpace.from_data, {"table": table}),
        "from_file": (ft.ProductSpace.from_file, {"path": space_file}),
        "from_dict": (ft.ProductSpace.from_dict, {"data": space.to_dict()}),
        "encode": (space.encode, {"inputs": [[0, 1, 0]]}),
        "index": (space.index, {"name": "x0"}),
        "Rows": (ft.Rows, {"table": table}),
        "Rows.from_dict": (ft.Rows.from_dict, {"data": ft.Rows(table).to_dict()}),
        "Rows.parts": (ft.Rows(table).parts, {"seed": 0}),
        "Boolean": (ft.Boolean, {"name": "a"}),
        "Categorical": (ft.Categorical, {"name": "a", "values": ["x", "y"]}),
        "Categorical.from_counts": (ft.Categorical.from_counts, {"name": "a", "counts": {"x": 1}}),
        "Numeric": (ft.Numeric, {"name": "a", "low": 0, "high": 1}),
        "Numeric.from_values": (ft.Numeric.from_values, {"name": "a", "values": [1, 2]}),
        "Numeric.from_quantiles": (ft.Numeric.from_quantiles, {"name": "a", "quantiles": [1, 2]}),
        "Numeric.from_pieces": (ft.Numeric.from_pieces, {"name": "a", "edges": [1, 2], "shares": [1]}),
        "Tree.load": (ft.Tree.load, {"path": folder / "result" / "tree.json"}),
        "Tree.from_dict": (ft.Tree.from_dict, {"data": tree.to_dict()}),
        "Tree.constant": (ft.Tree.constant, {"space": space, "label": 1}),
        "Tree.save": (tree.save, {"path": folder / "tree.json"}),
        "Tree.predict": (tree.predict, {"inputs": [[0, 1, 0]]}),
        "Tree.average_depth": (tree.average_depth, {"space": space}),
        "Certificate.from_dict": (ft.Certificate.from_dict, {"data": result.certificate.to_dict()}),
        "Certificate.from_json": (ft.Certificate.from_json, {"text": result.certificate.to_json()}),
        "Distillation.save": (result.save, {"folder": folder / "again"}),
        "Distillation.report": (result.report, {"path": folder / "report.html"}),
        "Analysis.plot": (analysis.plot, {"path": folder / "plot.png"}),
        "Progress": (ft.Progress, {}),
        "load_model": (targets.load_model, {"source": "math:sqrt"}),
        "from_model": (targets.from_model, {"model": first}),
        "Command": (targets.Command, {"command": "cat"}),
        "TruthTable": (targets.TruthTable, {"labels": [0, 1]}),
        "expression": (targets.expression, {"text": "a & b"}),
        "read_circuit": (targets.read_circuit, {"path": circuit}),
        "majority": (targets.majority, {"n": 3}),
        "parity": (targets.parity, {"n": 3}),
        "multiplexer": (targets.multiplexer, {"k": 2}),
        "tribes": (targets.tribes, {"width": 2, "count": 2}),
        "threshold": (targets.threshold, {"n": 3, "k": 2}),
        "nand_tree": (targets.nand_tree, {"depth": 2}),
        "recursive_majority": (targets.recursive_majority, {"depth": 2}),
        "balanced": (targets.balanced, {"space": space, "depth": 2}),
        "chain": (targets.chain, {"space": space, "leaves": 2}),
    }
    for learner in learners.LEARNERS.values():
        found[f"learners.{learner.name}"] = learner.learn, small
    for name, write in export.FORMATS.items():
        found[f"export.{name}"] = write, {"tree": tree}
    return found


def print_nothing(event: object) -> None:
    """An observer."""
