"""The data that the page's script needs: the tree as it is, and how to ask for a value of each feature."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.certificates.confusion import FEW
from fidelitree.spaces.features import AtMost, Boolean, Categorical, Feature, IsIn, Numeric

if TYPE_CHECKING:
    from fidelitree.report.contents import Contents, Shares

_LEVELS = (np.arange(21) + 0.5) / 21
_DIGITS = 6


def controls(contents: Contents) -> list[dict[str, Any]]:
    """How to ask for a value of each feature, whatever the tree."""
    return [_control(entry) for entry in contents.space]


def scene(contents: Contents, shares: Shares, influences: NDArray[np.float64]) -> dict[str, Any]:
    """Nodes by columns, in their order; cuts exact, because the page must answer as the tree does."""
    tree, labels = contents.tree, contents.leaf_labels
    feature, no, yes, code = tree.as_lists
    thresholds = {node: test for node, test in tree.tests.items() if isinstance(test, AtMost)}
    return {
        "influences": _column(influences),
        "labels": [str(label) for label in tree.labels.tolist()],
        "nodes": {"feature": feature, "no": no, "yes": yes, "code": code},
        "cuts": {node: _cut(test) for node, test in thresholds.items()},
        "missing": {node: test.missing for node, test in thresholds.items() if test.missing is not None},
        "sets": {node: sorted(test.codes) for node, test in tree.tests.items() if isinstance(test, IsIn)},
        "masses": _column(shares.masses),
        "wrong": _column(shares.wrong),
        "estimated": shares.estimated,
        "classes": [] if labels is None else [str(name) for name in labels.classes],
        "counts": [] if labels is None else [[_brief(x) for x in row] for row in labels.shares.tolist()],
        "samples": None if labels is None else labels.samples,
        "here": _here(contents),
    }


def _here(contents: Contents) -> dict[int, str]:
    """How often each leaf is wrong, in words."""
    few = f"not known: fewer than {FEW} test inputs came here"
    return {node: few if entry.share is None else str(entry) for entry in contents.leaf_errors for node in entry.nodes}


def _control(feature: Feature) -> dict[str, Any]:
    """How to ask for a value, where to begin, and what to choose among at random."""
    described: dict[str, Any] = {"name": feature.name, "kind": feature.kind}
    if isinstance(feature, Boolean):
        described |= {"start": int(feature.p >= 0.5), "p": _brief(feature.p)}
    elif isinstance(feature, Categorical):
        chances = feature.probabilities.tolist()
        described |= {"values": [_shown(value) for value in feature.values], "p": [_brief(p) for p in chances]}
        described["start"] = int(np.argmax(chances))
    elif isinstance(feature, Numeric):
        likely = _quantiles(feature)
        described |= {"likely": likely, "start": likely[len(likely) // 2], "integer": feature.integer}
        described |= {"missing": _brief(feature.missing)} if feature.missing else {}
    return described


def _cut(test: AtMost) -> float | None:
    """JSON has no infinity: None asks whether a number is there."""
    return None if test.cut == math.inf else test.cut


def _quantiles(feature: Numeric) -> list[float]:
    """Values from the bottom to the top of the marginal."""
    if feature.points is None:
        edges, shares = feature.marginal.edges, feature.marginal.shares  # type: ignore[union-attr]
        found = np.interp(_LEVELS, np.concatenate([[0.0], np.cumsum(shares)]), edges)
        return [float(f"{value:.4g}") for value in found.tolist()]
    values, shares = feature.listed((-math.inf, math.inf))
    places = np.searchsorted(np.cumsum(shares), _LEVELS)
    return [float(value) for value in values[np.minimum(places, len(values) - 1)]]


def _shown(value: Any) -> str:
    return "(missing)" if value is None else str(value)


def _column(values: NDArray[np.float64] | None) -> list[float] | None:
    return None if values is None else [_brief(value) for value in values.tolist()]


def _brief(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
