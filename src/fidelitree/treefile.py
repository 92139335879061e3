"""Trees as JSON: a versioned schema, and a reader that trusts nothing.

A file from a stranger is data. It is checked before it becomes a tree: the format, the sizes, that every node
but the root is the child of exactly one earlier node, and that no path asks about the same bit twice.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import FormatError

FORMAT = "fidelitree.tree"
VERSION = 1
MAX_BYTES = 200_000_000
_TYPES = {"bool": bool, "int": int, "str": str}

Arrays = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]
Decoded = tuple[tuple[str, ...], tuple[str, ...], NDArray[Any], Arrays]


def encode(names: tuple[str, ...], kinds: tuple[str, ...], labels: NDArray[Any], arrays: Arrays) -> dict[str, Any]:
    """The plain data that `decode` reads."""
    values = labels.tolist()
    nodes = [
        {"label": code} if feature < 0 else {"test": {"feature": feature, "is": 1}, "no": no, "yes": yes}
        for feature, no, yes, code in zip(*(array.tolist() for array in arrays), strict=True)
    ]
    return {
        "format": FORMAT,
        "version": VERSION,
        "features": [{"name": name, "kind": kind} for name, kind in zip(names, kinds, strict=True)],
        "labels": {"type": type(values[0]).__name__, "values": values},
        "nodes": nodes,
    }


def read(path: str | Path) -> Any:
    """The JSON in a file, refused when it is too large to be a tree or no JSON at all."""
    path = Path(path)
    if path.stat().st_size > MAX_BYTES:
        raise FormatError(f"{path.name} is larger than the {MAX_BYTES // 1_000_000} MB a stored tree may have")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path.name} is not JSON: {error}") from None


def decode(data: Any) -> Decoded:
    """Check plain data and turn it into what a tree is made of."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        _refuse(f'it must be an object with "format": "{FORMAT}"')
    if data.get("version") != VERSION:
        _refuse(f"its version must be {VERSION}, which this fidelitree reads; got {data.get('version')!r}")
    names, kinds = _features(data.get("features"))
    labels = _labels(data.get("labels"))
    return names, kinds, labels, _nodes(data.get("nodes"), len(names), len(labels))


def _features(entries: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if not isinstance(entries, list) or not entries:
        _refuse("features must be a list of at least one feature")
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            _refuse(f"each feature must be an object with a name; got {entry!r:.80}")
        if entry.get("kind") != "boolean":
            _refuse(f"the kind of feature {entry['name']!r} must be boolean; got {entry.get('kind')!r:.80}")
    names = tuple(entry["name"] for entry in entries)
    if len(set(names)) < len(names):
        _refuse("features must have different names")
    return names, tuple(entry["kind"] for entry in entries)


def _labels(entry: Any) -> NDArray[Any]:
    kind = _TYPES.get(str(entry.get("type"))) if isinstance(entry, dict) else None
    values = entry.get("values") if isinstance(entry, dict) else None
    if kind is None or not isinstance(values, list) or not values:
        _refuse('labels must be an object with "type" bool, int or str and a list of "values"')
    if any(type(value) is not kind for value in values) or values != sorted(set(values)):
        _refuse(f"labels must be different values of type {kind.__name__} in increasing order; got {values!r:.80}")
    try:
        return np.array(values, dtype=np.int64 if kind is int else None)
    except OverflowError:
        _refuse("labels must fit into 64 bits")


def _nodes(entries: Any, features: int, classes: int) -> Arrays:
    if not isinstance(entries, list) or len(entries) % 2 == 0:
        _refuse("nodes must be a list of odd length: a tree has one leaf more than tests")
    rows = [_node(entry, position, features, classes) for position, entry in enumerate(entries)]
    _check_shape(rows)
    feature, no, yes, code = (np.array(column, np.int32) for column in zip(*rows, strict=True))
    return feature, no, yes, code


def _node(entry: Any, position: int, features: int, classes: int) -> tuple[int, int, int, int]:
    if isinstance(entry, dict) and set(entry) == {"label"} and _index(entry["label"], classes):
        return -1, -1, -1, entry["label"]
    if isinstance(entry, dict) and set(entry) == {"test", "no", "yes"} and isinstance(entry["test"], dict):
        test, no, yes = entry["test"], entry["no"], entry["yes"]
        if test.get("is") == 1 and _index(test.get("feature"), features) and type(no) is type(yes) is int:
            return test["feature"], no, yes, -1
    rule = f"must be a label below {classes} or a test of a feature below {features}"
    _refuse(f"node {position} {rule}; got {entry!r:.80}")


def _index(value: Any, size: int) -> bool:
    return type(value) is int and 0 <= value < size


def _check_shape(rows: list[tuple[int, int, int, int]]) -> None:
    """Walk in preorder: positions must count up, and a path may not test a feature again."""
    expected = 0
    waiting: list[tuple[int, frozenset[int]]] = [(0, frozenset())]
    while waiting:
        position, path = waiting.pop()
        if position != expected:
            _refuse(f"nodes must stand in preorder; node {expected} is missing or has two parents")
        expected += 1
        feature, no, yes, _ = rows[position]
        if feature in path:
            _refuse(f"node {position} tests feature {feature} again on the same path")
        if feature >= 0:
            if not (position < no < len(rows) and position < yes < len(rows)):
                _refuse(f"node {position} has a child outside the tree")
            below = path | {feature}
            waiting += [(yes, below), (no, below)]
    if expected != len(rows):
        _refuse(f"nodes must all be reached from the root; {len(rows) - expected} are not")


def _refuse(rule: str) -> NoReturn:
    raise FormatError(f"not a stored tree: {rule}")
