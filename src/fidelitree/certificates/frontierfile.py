"""A frontier as plain data: each point with its tree, its certificate and the answers behind it, all in one file.

One file, because the points hold together: none can be left out, or be another run's, without the rest.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.certificates.certificate import Certificate
from fidelitree.errors import FormatError, check_stored
from fidelitree.trees.answers import LeafLabels, answers_of
from fidelitree.trees.tree import Tree

_check = partial(check_stored, "frontier")
FORMAT = "fidelitree.frontier"
VERSION = 1
_ENTRIES = {"format", "version", "delta", "max_leaves", "points"}
_YOUNGER = {"tested_errors"}  # than the first frontiers, which counted the tested tree's errors alone
_OF_POINT = {"leaves", "depth", "error_bound", "interval", "certificate", "tree", "tested", "answers"}
_ROUNDING = 1e-9


@dataclass(frozen=True)
class StoredPoint:
    """A tree, what is promised about it, the tree that was tested in its place, and the target's labels by leaf."""

    tree: Tree
    certificate: Certificate
    tested: Tree | None = None
    labels: LeafLabels | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data; what a reader would look up first comes first."""
        return {
            "leaves": self.tree.size,
            "depth": self.tree.depth,
            "error_bound": self.certificate.error_bound,
            "interval": list(self.certificate.interval),
            "certificate": self.certificate.to_dict(),
            "tree": self.tree.to_dict(),
            "tested": None if self.tested is None else self.tested.to_dict(),
            "answers": None if self.labels is None else _labels_to_dict(self.labels),
        }

    @classmethod
    def from_dict(cls, data: Any) -> StoredPoint:
        """The inverse; FormatError where an entry is missing, or does not follow from tree and certificate."""
        try:
            tree, certificate = Tree.from_dict(data["tree"]), Certificate.from_dict(data["certificate"])
            tested = None if data["tested"] is None else Tree.from_dict(data["tested"])
            labels = None if data["answers"] is None else _labels_from_dict(data["answers"], tree)
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            if isinstance(error, FormatError):
                raise
            said = f"a point must hold tree, certificate, tested and answers: {error!s:.80}"
            raise FormatError(f"not a stored frontier: {said}") from None
        told = [tree.size, tree.depth, certificate.error_bound, *certificate.interval]
        numbers = [data.get(name) for name in ("leaves", "depth", "error_bound")] + [*data.get("interval", ())]
        entries = set(certificate.to_dict()) - _YOUNGER
        _check(
            set(data["certificate"]) - _YOUNGER == entries,
            "the certificate of a point must have all its entries",
        )
        follows = set(data) == _OF_POINT and len(numbers) == len(told) and all(map(_same, numbers, told))
        _check(follows, "leaves, depth, error_bound and interval of a point must be those of its tree and certificate")
        return cls(tree, certificate, tested, labels)


@dataclass(frozen=True)
class StoredFrontier:
    """All points, the smallest tree first; delta is for all of them together."""

    delta: float
    max_leaves: int
    points: tuple[StoredPoint, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data under a versioned schema."""
        points = [point.to_dict() for point in self.points]
        told = {"delta": self.delta, "max_leaves": self.max_leaves}
        return {"format": FORMAT, "version": VERSION, **told, "points": points}

    def to_json(self) -> str:
        """The frontier as JSON text."""
        return json.dumps(self.to_dict()) + "\n"

    @classmethod
    def from_dict(cls, data: Any) -> StoredFrontier:
        """The inverse; FormatError says what is wrong with anything else."""
        named = isinstance(data, dict) and data.get("format") == FORMAT
        _check(named, f'it must be an object with "format": "{FORMAT}"')
        version, points = data.get("version"), data.get("points")
        _check(version == VERSION, f"its version must be {VERSION}; got {version!r:.80}")
        whole = set(data) == _ENTRIES and isinstance(points, list) and points
        _check(whole, f"it must hold {', '.join(sorted(_ENTRIES))}, and at least one point")
        delta, most = data["delta"], data["max_leaves"]
        _check(isinstance(delta, float) and 0 < delta < 1, f"delta must be above 0 and below 1; got {delta!r:.80}")
        _check(type(most) is int and most >= 1, f"max_leaves must be a whole number, at least 1; got {most!r:.80}")
        found = cls(delta, most, tuple(map(StoredPoint.from_dict, data["points"])))
        versions = {point["certificate"]["version"] for point in data["points"]}
        _check(len(versions) == 1, f"its certificates must be of one version; got {sorted(versions)}")
        sizes = [point.tree.size for point in found.points]
        bounds = [point.certificate.lost for point in found.points]
        ways = {"leaves": all(one < two for one, two in pairwise(sizes))}
        ways["error bounds"] = all(one >= two for one, two in pairwise(bounds))  # tests may not tell two trees apart
        for kind, right in ways.items():
            _check(right, f"{kind} must go one way from point to point: no tree may be worse than a smaller one")
        return found


def _same(told: Any, follows: float) -> bool:
    number = isinstance(told, int | float) and not isinstance(told, bool)
    return number and math.isclose(told, follows, rel_tol=_ROUNDING, abs_tol=_ROUNDING)


def _labels_to_dict(labels: LeafLabels) -> dict[str, Any]:
    return {"classes": list(labels.classes), "samples": labels.samples, "counts": labels.counts.tolist()}


def _labels_from_dict(data: Mapping[str, Any], tree: Tree) -> LeafLabels:
    """Counts of answers, or probabilities where ``samples`` is null, leaf by leaf."""
    classes, samples = data["classes"], data["samples"]
    counts: NDArray[Any] = np.array(data["counts"], np.float64 if samples is None else np.int64)
    shaped = counts.shape == (tree.size, len(classes)) and (counts >= 0).all()
    _check(shaped, "answers must hold a count for every leaf and every label")
    known = classes[:-1] if tree.labels.dtype.kind == "f" else classes  # beside numbers stands what is too far away
    ordered = sorted(known) == known and {*answers_of(tree.labels.tolist())} <= {*known}
    _check(ordered, "the labels of the answers must be in order, the tree's among them")
    if samples is None:
        return LeafLabels(tuple(classes), counts)
    complete = type(samples) is int and samples >= 1 and counts.sum() == samples
    _check(complete, f"the counts of the answers must add up to samples; got {samples!r:.80}")
    return LeafLabels(tuple(classes), counts / samples, samples)
