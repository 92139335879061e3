"""Trees as JSON: a versioned schema, and a reader that trusts nothing.

A file from a stranger is data. It is checked before it becomes a tree: the format, the sizes, that every node
but the root is the child of exactly one earlier node, and that no path asks what it has answered already.
"""

from __future__ import annotations

import json
import math
from collections.abc import Container
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import FormatError, ParameterError, is_text, read_json, read_text
from fidelitree.spaces.features import AtMost, IsIn, IsOne, Test, json_value
from fidelitree.trees.answers import DEFER
from fidelitree.trees.gaps import gaps_of, sides, splits

if TYPE_CHECKING:
    from fidelitree.trees.tree import Tree

FORMAT = "fidelitree.tree"
VERSION = 1
HEAD = {"format": FORMAT, "version": VERSION}
KINDS = ("boolean", "categorical", "numeric")
MAX_BYTES = 200_000_000
_TYPES = {"bool": bool, "int": int, "str": str, "float": float}

Node = tuple[Test, int, int] | int
Names = tuple[str, ...]
Values = tuple[tuple[Any, ...] | None, ...]
Decoded = tuple[Names, Names, Values, NDArray[Any], list[Node]]


def encode(tree: Tree) -> dict[str, Any]:
    """The plain data that `decode` reads."""
    return {**HEAD, "features": _entries(tree.names, tree.kinds, tree.values), **_rest(tree)}


def _rest(tree: Tree) -> dict[str, Any]:
    """What comes after the features."""
    classes = [None if label is DEFER else label for label in tree.labels.tolist()]
    nodes = [
        {"test": _question(inside[0]), "no": inside[1], "yes": inside[2]}
        if isinstance(inside, tuple)
        else {"label": inside}
        for inside in tree.nodes
    ]
    return {"labels": {"type": type(classes[0]).__name__, "values": classes}, "nodes": nodes}


def _entries(names: Names, kinds: Names, values: Values) -> list[dict[str, Any]]:
    features: list[dict[str, Any]] = [{"name": name, "kind": kind} for name, kind in zip(names, kinds, strict=True)]
    for entry, known in zip(features, values, strict=False):
        if known is not None:
            entry["values"] = [json_value(value) for value in known]
    return features


def canonical(tree: Tree) -> str:
    """The text that a digest is of: what `encode` gives, keys in order. Features come first in it.

    A run makes many trees over the same bits, so these are written once.
    """
    bits = not tree.values
    features = _bits_text(tree.names, tree.kinds) if bits else _canonical(encode(tree)["features"])
    return f'{{"features":{features},{_canonical({**HEAD, **_rest(tree)})[1:]}'


@lru_cache(maxsize=4)
def _bits_text(names: Names, kinds: Names) -> str:
    return _canonical(_entries(names, kinds, ()))


def _canonical(data: Any) -> str:
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def _question(test: Test) -> dict[str, Any]:
    if isinstance(test, AtMost):
        side = {} if test.missing is None else {"missing": test.missing}
        return {"feature": test.feature, "at most": float(test.cut).hex(), **side}
    if isinstance(test, IsIn):
        return {"feature": test.feature, "in": sorted(test.codes)}
    return {"feature": test.feature, "is": 1}


def check_storable(tree: Tree) -> None:
    """Refuse categories that a file cannot give back."""
    for name, known in zip(tree.names, tree.values, strict=False):
        for value in known or ():
            if not (value is None or isinstance(value, (str, int, float))):
                raise ParameterError(
                    f"values of feature {name!r} must be str, int, float, bool or None to be stored; got {value!r}"
                )


def read(path: str | Path) -> Any:
    """The JSON in a file, refused when it is too large to be a tree or no JSON at all."""
    text = read_text(path, MAX_BYTES, "a stored tree")
    try:
        return read_json(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{Path(path).name} is not JSON: {error}") from None


def decode(data: Any) -> Decoded:
    """Check plain data and turn it into what a tree is made of."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        _refuse(f'it must be an object with "format": "{FORMAT}"')
    if data.get("version") != VERSION:
        _refuse(f"its version must be {VERSION}, which this fidelitree reads; got {data.get('version')!r}")
    names, kinds, values = _features(data.get("features"))
    labels = _labels(data.get("labels"))
    _check_text(*names, *(value for known in values for value in known or ()))
    return names, kinds, values, labels, _nodes(data.get("nodes"), _Grammar(kinds, values, len(labels)))


def _check_text(*found: Any) -> None:
    for text in found:
        if isinstance(text, str) and not is_text(text):
            rule = "must be text that UTF-8 can hold, without NUL at its end"
            _refuse(f"its names, values and labels {rule}; got {text!r:.80}")


def _features(entries: Any) -> tuple[Names, Names, Values]:
    if not isinstance(entries, list) or not entries:
        _refuse("features must be a list of at least one feature")
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            _refuse(f"each feature must be an object with a name; got {entry!r:.80}")
        if entry.get("kind") not in KINDS:
            rule = f"must be one of {', '.join(KINDS)}; got {entry.get('kind')!r:.80}"
            _refuse(f"the kind of feature {entry['name']!r} {rule}")
    names = tuple(entry["name"] for entry in entries)
    if len(set(names)) < len(names):
        _refuse("features must have different names")
    kinds = tuple(entry["kind"] for entry in entries)
    if all(kind == "boolean" for kind in kinds):
        return names, kinds, ()
    return names, kinds, tuple(_categories(entry) if entry["kind"] == "categorical" else None for entry in entries)


def _categories(entry: dict[str, Any]) -> tuple[Any, ...]:
    listed = entry.get("values")
    if not isinstance(listed, list) or not listed:
        _refuse(f"feature {entry['name']!r} must list its values")
    values = tuple(_category(value, entry["name"]) for value in listed)
    if len(set(values)) < len(values):
        _refuse(f"values of feature {entry['name']!r} must be different")
    return values


def _category(value: Any, name: str) -> Any:
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, dict) and set(value) == {"float"}:
        number = _number(value["float"])
        if number is not None:
            return number
    _refuse(f"values of feature {name!r} must be str, int, bool, null or exact floats; got {value!r:.80}")


def _number(text: Any) -> float | None:
    """A finite float in hexadecimal."""
    try:
        number = float.fromhex(text)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _labels(entry: Any) -> NDArray[Any]:
    kind = _TYPES.get(str(entry.get("type"))) if isinstance(entry, dict) else None
    values = entry.get("values") if isinstance(entry, dict) else None
    if kind is None or not isinstance(values, list) or not values:
        _refuse('labels must be an object with "type" bool, int, float or str and a list of "values"')
    if values[-1] is None and values.count(None) == 1 < len(values):  # it asks the target
        return np.array([*_labels({**entry, "values": values[:-1]}).tolist(), DEFER], object)
    if any(type(value) is not kind for value in values) or values != sorted(set(values)):
        _refuse(f"labels must be different values of type {kind.__name__} in increasing order; got {values!r:.80}")
    if kind is float and not all(map(math.isfinite, values)):
        _refuse(f"labels must be finite numbers; got {values!r:.80}")
    _check_text(*values)  # before NumPy drops a NUL
    try:
        return np.array(values, dtype=np.int64 if kind is int else None)
    except OverflowError:
        _refuse("labels must fit into 64 bits")


@dataclass(frozen=True)
class _Grammar:
    """What nodes may say."""

    kinds: Names
    values: Values
    classes: int

    def test(self, entry: Any) -> Test | None:
        """The question of a node; None where it is none that its feature can answer."""
        if not isinstance(entry, dict) or not _index(entry.get("feature"), len(self.kinds)):
            return None
        feature, kind = entry["feature"], self.kinds[entry["feature"]]
        if len(entry) != 2 + ("missing" in entry and kind == "numeric"):
            return None
        if kind == "boolean":
            return IsOne(feature) if type(entry.get("is")) is int and entry["is"] == 1 else None
        if kind == "numeric":
            return _threshold(feature, entry)
        codes = entry.get("in")
        known = len(self.values[feature] or ())
        if not isinstance(codes, list) or not codes or not all(_index(code, known) for code in codes):
            return None
        return IsIn(feature, frozenset(codes)) if sorted(set(codes)) == codes else None


def _threshold(feature: int, entry: dict[str, Any]) -> AtMost | None:
    """The test of a number; an infinite cut asks whether it is there, and has missing ones on the no side."""
    cut, missing = entry.get("at most"), entry.get("missing")
    if "missing" in entry and type(missing) is not bool:
        return None
    number = math.inf if cut == "inf" and missing is False else _number(cut)
    return None if number is None else AtMost(feature, number, missing)


class _Path:
    """What is left of each feature on the way from the root to one node.

    A step changes it and remembers how to take that back, so that memory grows with the nodes, not with their depths.
    """

    def __init__(self, values: Values, gaps: Container[int]) -> None:
        self._values, self._gaps = values, gaps
        self._left: dict[int, Any] = {}
        self._steps: list[tuple[int, Any, set[int]]] = []

    @property
    def depth(self) -> int:
        """How many steps lead here."""
        return len(self._steps)

    def splits(self, test: Test) -> bool:
        """Whether both answers are possible here."""
        left = self._of(test)
        if isinstance(test, AtMost):
            return splits(test, left)
        if isinstance(test, IsIn):
            return 0 < len(left & test.codes) < len(left)
        return left is None

    def step(self, test: Test, yes: bool) -> None:
        """Go to one side of a test that splits."""
        left, gone = self._of(test), set[int]()
        now: Any = True  # one value of a bit, and nothing to be asked
        if isinstance(test, AtMost):
            now = sides(test, left)[yes]
        elif isinstance(test, IsIn):
            now = left & test.codes
            if not yes:  # in place: a set for every step would be as large as the square of the file
                gone, now = now, left
                left -= gone
        self._steps.append((test.feature, left, gone))
        self._left[test.feature] = now

    def back_to(self, depth: int) -> None:
        """Take steps back until so many are left."""
        while len(self._steps) > depth:
            feature, left, gone = self._steps.pop()
            self._left[feature] = left
            if gone:
                left |= gone

    def _of(self, test: Test) -> Any:
        left = self._left.get(test.feature)
        if left is None and isinstance(test, AtMost):
            return -math.inf, math.inf, test.feature in self._gaps
        if left is None and isinstance(test, IsIn):
            left = self._left[test.feature] = set(range(len(self._values[test.feature] or ())))
        return left


def _nodes(entries: Any, grammar: _Grammar) -> list[Node]:
    if not isinstance(entries, list) or len(entries) % 2 == 0:
        _refuse("nodes must be a list of odd length: a tree has one leaf more than tests")
    nodes = [_node(entry, position, grammar) for position, entry in enumerate(entries)]
    _check_shape(nodes, grammar.values)
    return nodes


def _node(entry: Any, position: int, grammar: _Grammar) -> Node:
    if isinstance(entry, dict) and set(entry) == {"label"} and _index(entry["label"], grammar.classes):
        return int(entry["label"])
    if isinstance(entry, dict) and set(entry) == {"test", "no", "yes"}:
        test, no, yes = grammar.test(entry["test"]), entry["no"], entry["yes"]
        if test is not None and type(no) is type(yes) is int:
            return test, no, yes
    rule = f"must be a label below {grammar.classes} or a test of a feature below {len(grammar.kinds)}"
    _refuse(f"node {position} {rule}; got {entry!r:.80}")


def _index(value: Any, size: int) -> bool:
    return type(value) is int and 0 <= value < size


def _check_shape(nodes: list[Node], values: Values) -> None:
    """Walk in preorder: positions must count up, and a path may not ask what it has answered already."""
    expected, path = 0, _Path(values, gaps_of(node[0] for node in nodes if isinstance(node, tuple)))
    waiting: list[tuple[int, int, Test | None, bool]] = [(0, 0, None, False)]
    while waiting:
        position, depth, asked, answer = waiting.pop()
        if position != expected:
            _refuse(f"nodes must stand in preorder; node {expected} is missing or has two parents")
        expected += 1
        path.back_to(depth)
        if asked is not None:
            path.step(asked, answer)
        inside = nodes[position]
        if not isinstance(inside, tuple):
            continue
        test, no, yes = inside
        if not path.splits(test):
            _refuse(f"node {position} tests feature {test.feature} again on the same path")
        if max(no, yes) >= len(nodes):
            _refuse(f"node {position} has a child outside the tree")
        waiting += [(yes, path.depth, test, True), (no, path.depth, test, False)]
    if expected != len(nodes):
        _refuse(f"nodes must all be reached from the root; {len(nodes) - expected} are not")


def _refuse(rule: str) -> NoReturn:
    raise FormatError(f"not a stored tree: {rule}")
