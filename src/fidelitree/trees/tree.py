"""Decision trees: passive, frozen, printable.

The nodes stand in preorder, the no side before the yes side, so equal trees have equal arrays and equal digests.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.display.tree_figure import plot_tree
from fidelitree.display.wording import leaves
from fidelitree.errors import ParameterError, check_array, check_text, show, write_text
from fidelitree.spaces.features import IsOne, Test
from fidelitree.spaces.inputs import as_inner, float_block, told_of_new
from fidelitree.spaces.product import ProductSpace, check_space
from fidelitree.trees import kernels, treefile
from fidelitree.trees.answers import DEFER, filled, named
from fidelitree.trees.bits import BLOCK_ROWS, everyone, pack_columns, unpack
from fidelitree.trees.gaps import gaps_of, settled
from fidelitree.trees.portrait import drawn, in_notebook, lines_of, one_row, only, sketched
from fidelitree.trees.predict import Steps, as_arrays, leaf_values, preorder, route
from fidelitree.trees.rules import Rule, Rules, node_shares, rules_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fidelitree.spaces.region import Region
    from fidelitree.spaces.world import World
    from fidelitree.trees.answers import Answers

Labels = NDArray[Any]
Node = tuple[Test | int, int, int] | int
"""A test with its children (a number stands for the test ``x = 1`` of a bit), or the code of a leaf's label."""
_ROWS_PER_LEAF = 1 / 200


@dataclass(frozen=True, eq=False)
class Tree:
    """A decision tree over named features; no array of it can be written to.

    Attributes:
        names: The features.
        kinds: The kind of each: boolean, numeric or categorical.
        labels: Every class once, in increasing order, `DEFER` last.
        feature: The feature that each node tests, -1 at a leaf.
        no: The child where the test fails, larger than its parent; -1 at a leaf.
        yes: The child where it is met.
        code: The position of a leaf's label in ``labels``, -1 at an inner node.
        values: The categories of each feature, None where it has none; empty where all are bits.
        tests: The question of every node that asks something else than whether a bit is 1.

    Examples:
        >>> print(Tree.build(ProductSpace.bernoulli(2), [(0, 1, 2), 0, 1], ["no", "yes"]))
        x0 = 0: no
        x0 = 1: yes
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    labels: Labels
    feature: NDArray[np.int32]
    no: NDArray[np.int32]
    yes: NDArray[np.int32]
    code: NDArray[np.int32]
    values: tuple[tuple[Any, ...] | None, ...] = ()
    tests: Mapping[int, Test] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for array in self._arrays:
            array.flags.writeable = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # a pickle does not keep arrays from being written to

    @classmethod
    def build(cls, space: ProductSpace, nodes: Sequence[Node], labels: Labels | Sequence[Any]) -> Tree:
        """A tree from nodes in any order, root first: ``(test, no, yes)``, or the code of a leaf's label.

        A number instead of a test is the feature of a bit that is tested for 1.
        """
        check_space(space)
        for label in labels:
            if isinstance(label, str):
                check_text("label of a tree", label)
        nodes = settled(space, nodes)
        order = preorder(nodes)
        place = {node: position for position, node in enumerate(order)}
        rows: list[tuple[Test, int, int] | int] = []
        for entry in (nodes[node] for node in order):
            if not isinstance(entry, tuple):
                rows.append(entry)
                continue
            test = IsOne(entry[0]) if isinstance(entry[0], int) else entry[0]
            if test.kind != (own := space.features[test.feature]).kind:
                raise ParameterError(f"feature {own.name!r} is {own.kind}; the test {test!r} does not fit it")
            rows.append((test, place[entry[1]], place[entry[2]]))
        arrays, tests = as_arrays(rows)
        values = () if space.all_bits else tuple(f.values for f in space)
        classes = check_array("labels", labels, what="a list of labels").copy()
        return cls(space.names, space.kinds, classes, *arrays, values, tests)

    @classmethod
    def constant(cls, space: ProductSpace, label: Any) -> Tree:
        """One leaf."""
        return cls.build(space, [0], [label])

    @property
    def size(self) -> int:
        """Number of leaves."""
        return (len(self.feature) + 1) // 2

    @cached_property
    def depth(self) -> int:
        """Tests on the longest path."""
        return int(self._depths().max())

    def average_depth(self, space: ProductSpace) -> float:
        """Expected number of tests for a drawn input."""
        self.check_space(space)
        return float(sum(region.mass for node, region in self.regions(space) if self.feature[node] >= 0))

    def test(self, node: int) -> Test:
        """The question that an inner node asks."""
        inside = self.nodes[node]
        assert isinstance(inside, tuple), "a leaf asks nothing"
        return inside[0]

    def label(self, node: int) -> Any:
        """The label of a leaf, as Python writes it."""
        return self.labels.item(self.code[node])

    @property
    def defers(self) -> bool:
        """Whether some leaf may answer "ask the target"."""
        return self.labels.dtype == object and self.labels.item(-1) is DEFER

    def naming(self, label: Any) -> Tree:
        """The same tree with a new label where it defers."""
        return named(self, label) if self.defers else self

    def check_answers(self, what: str) -> None:
        """Refuse a tree that defers, where nothing can stand for that."""
        if self.defers:
            raise ParameterError(
                f"tree must answer every input to become {what}; it defers in some leaves - tree.naming(label) gives "
                f"them a label of their own"
            )

    def regions(self, space: ProductSpace) -> Iterator[tuple[int, Region]]:
        """Every node with the region that reaches it, in preorder."""
        waiting = [(0, space.whole)]
        while waiting:
            node, region = waiting.pop()
            yield node, region
            if self.feature[node] >= 0:
                no, yes = region.split(self.test(node))
                waiting += [(int(self.yes[node]), yes), (int(self.no[node]), no)]

    def predict(self, inputs: Any, fallback: Callable[[Any], Any] | None = None) -> Labels:
        """The label of every row, in the type of the target's labels.

        Inputs are a table, a mapping of name to column, or a 2-D array. A category that was not there when the tree
        was made is on the no side of every ``in``. A missing number is refused where the tree has no side for it.
        Where the tree defers the label is `DEFER`, or what ``fallback``, the target say, answers to those rows.
        """
        if fallback is not None and self.defers:
            return filled(self.predict(inputs), inputs, fallback)
        if kernels.compiled and (numbers := float_block(inputs, self.names, self.kinds)) is not None:
            codes = self._compiled_steps.values(self._codes, numbers, checked=len(self.gaps) < len(self.names))
            if codes is not None:
                return self.labels.take(codes, mode="clip")
        return self.predict_inner(self.encode(inputs))

    __call__ = predict

    def predict_inner(self, rows: NDArray[Any]) -> Labels:
        """The same for inner values, as a space draws and encodes them."""
        if self.values:
            return self.labels.take(self._held(self._codes, self.nodes, rows), mode="clip")
        out = np.empty(len(rows), self.labels.dtype)
        step = BLOCK_ROWS * min(16, 1 + self.size // 64)
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            # Word operations cost the whole tree once per block, steps cost its depth once per row.
            many = self.size < _ROWS_PER_LEAF * self.depth * len(part)
            codes: NDArray[np.integer[Any]] = self._codes_by_words(part) if many else self._codes_by_steps(part)
            self.labels.take(codes, out=out[start : start + len(part)], mode="clip")
        return out

    def reached(self, inputs: Any) -> NDArray[np.intp]:
        """The leaf that every row reaches, as the number of its node."""
        return self.reached_inner(self.encode(inputs))

    def encode(self, inputs: Any) -> NDArray[Any]:
        """Inner values of inputs in any form."""
        inner = as_inner(inputs, self.names, self.kinds, self.values or (None,) * len(self.names), self.gaps)
        return told_of_new(inner, self.names, self.kinds, self._used)

    @cached_property
    def gaps(self) -> frozenset[int]:
        """The features whose numbers may be missing: those that have a side for it, and those that are not asked."""
        refused = set(self._used) - gaps_of(self.tests.values())
        return frozenset(i for i, kind in enumerate(self.kinds) if kind == "numeric" and i not in refused)

    def reached_inner(self, rows: NDArray[Any]) -> NDArray[np.intp]:
        """The same for inner values."""
        numbered = [inside if isinstance(inside, tuple) else v for v, inside in enumerate(self.nodes)]
        return self._held(np.arange(len(numbered)), numbered, rows).astype(np.intp)

    def _held(
        self, held: NDArray[np.int64], nodes: Sequence[tuple[Test, int, int] | int], rows: NDArray[Any]
    ) -> NDArray[np.int64]:
        """What the leaf holds that each row reaches; in ``nodes`` too a leaf is what it holds."""
        if kernels.compiled and rows.dtype == np.float64 and rows.size:
            found = self._compiled_steps.values(held, rows)
            assert found is not None, "nothing was checked"
            return found
        return leaf_values(0, nodes.__getitem__, lambda test, here: test.answers(rows[here, test.feature]), len(rows))

    @cached_property
    def _compiled_steps(self) -> Steps:
        return Steps.of(self.nodes, self.depth)

    @cached_property
    def _codes(self) -> NDArray[np.int64]:
        return self.code.astype(np.int64)

    def _codes_by_words(self, rows: NDArray[np.uint8]) -> NDArray[np.integer[Any]]:
        count = len(rows)
        columns = pack_columns(rows, self._used)
        ones = np.zeros(-(-count // 64), np.uint64)
        codes: NDArray[np.integer[Any]] = np.zeros(count, np.intp if len(self.labels) > 2 else np.uint8)
        for code, mask in route(0, self.nodes.__getitem__, columns, everyone(count)):
            if code == 1:
                ones |= mask
            elif code > 1:
                codes[unpack(mask, count).view(np.bool_)] = code
        codes += unpack(ones, count)
        return codes

    def _codes_by_steps(self, rows: NDArray[np.uint8]) -> NDArray[Any]:
        feature, child = self._steps
        if kernels.compiled:
            codes = np.empty(len(rows), np.int64)
            kernels.native.walk_bits(feature, child, self.code, rows, codes)
            return codes
        node: NDArray[np.integer[Any]] = np.zeros(len(rows), np.intp)
        each = np.arange(len(rows))
        for _ in range(self.depth):
            node = child.take(2 * node + rows[each, feature.take(node)])
        return self.code.take(node)

    @cached_property
    def nodes(self) -> list[tuple[Test, int, int] | int]:
        """Every node: a test with its no and its yes side, or the code of a leaf."""
        parts = enumerate(zip(*self.as_lists, strict=True))
        return [code if i < 0 else (self.tests.get(node) or IsOne(i), no, yes) for node, (i, no, yes, code) in parts]

    @cached_property
    def _steps(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """For every node the feature to look at, and where to go from there: a leaf leads to itself."""
        itself = np.arange(len(self.feature), dtype=np.int32)
        leaf = self.feature < 0
        sides = [np.where(leaf, itself, side) for side in (self.no, self.yes)]
        return np.maximum(self.feature, 0), np.stack(sides, axis=1).ravel()

    @cached_property
    def _used(self) -> list[int]:
        return sorted(set(self.as_lists[0]) - {-1})

    @cached_property
    def as_lists(self) -> tuple[list[int], list[int], list[int], list[int]]:
        """The arrays as lists: a loop over nodes reads them four times faster."""
        return self.feature.tolist(), self.no.tolist(), self.yes.tolist(), self.code.tolist()

    def _depths(self) -> NDArray[np.int64]:
        feature, no, yes, _ = self.as_lists
        depths = [0] * len(feature)
        for node, asked in enumerate(feature):
            if asked >= 0:
                depths[no[node]] = depths[yes[node]] = depths[node] + 1
        return np.array(depths, np.int64)

    def check_space(self, space: ProductSpace) -> None:
        """Refuse a space whose features are not the tree's."""
        check_space(space)
        values = tuple(f.values for f in space)
        different = space.names != self.names or tuple(f.kind for f in space) != self.kinds
        if different or (self.values and values != self.values):
            raise ParameterError(
                f"space must have the tree's {len(self.names)} features ({', '.join(self.names[:8])}"
                f"{', ...' if len(self.names) > 8 else ''}); got {space!r}"
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree) or self.size != other.size:
            return False
        if self.values or other.values:  # cuts, sets and categories count too
            return self.digest == other.digest
        named = (self.names, self.kinds, self.labels.dtype.kind) == (other.names, other.kinds, other.labels.dtype.kind)
        return named and all(np.array_equal(one, two) for one, two in zip(self._arrays, other._arrays, strict=True))

    @property
    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return self.labels, self.feature, self.no, self.yes, self.code

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<Tree: {leaves(self.size)}, depth {self.depth}, {len(self.names)} features>"

    def __str__(self) -> str:
        return "\n".join(lines_of(self))

    def condition(self, node: int, yes: bool = True) -> str:
        """The condition that inputs on one side of an inner node meet, as text."""
        test = self.test(node)
        return test.text(self.names[test.feature], yes, self.values[test.feature] if self.values else None)

    def _repr_html_(self) -> str:
        return in_notebook(self)

    def to_svg(self, share: Sequence[float] | None = None, wrong: Sequence[float] | None = None) -> str:
        """The tree drawn from left to right; each node has a ``share`` of inputs, and of the error (``wrong``)."""
        return drawn(self, share, wrong)

    def plot(self, path: str | os.PathLike[str] | None = None, *, space: World | None = None) -> Figure:
        """The same as a figure of matplotlib (the extra ``plot``), written to ``path`` if there is one.

        With a ``space``, as that of a result, lines are as thick as the share of inputs that they carry.
        """
        return plot_tree(sketched(self, None if space is None else node_shares(self, space)), path)

    def rules(self, space: World | None = None, answers: Answers | None = None) -> Rules:
        """A rule for each leaf, of which exactly one holds for every input; they print as sentences.

        A result's ``space`` adds how often each holds, its ``answers`` how often the target agreed.
        """
        return rules_of(self, space, answers)

    def explain(self, row: Any) -> Rule:
        """The rule that one input follows: a mapping of name to value, a list of values, or a table of one row.

        >>> tree = Tree.build(ProductSpace.bernoulli(2), [(0, 1, 2), 0, 1], ["no", "yes"])
        >>> print(tree.explain({"x0": 1, "x1": 0}))
        If x0 = 1 then yes.
        """
        leaf = only(self.reached(one_row(row)))
        return next(rule for rule in self.rules() if rule.leaf == leaf)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON."""
        return hashlib.sha256(treefile.canonical(self).encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Plain data under a versioned schema."""
        return treefile.encode(self)

    @classmethod
    def from_dict(cls, data: Any) -> Tree:
        """The inverse of `to_dict`; FormatError says what is wrong with anything else."""
        names, kinds, values, labels, nodes = treefile.decode(data)
        arrays, tests = as_arrays(nodes)
        return cls(names, kinds, labels, *arrays, values, tests)

    def to_json(self) -> str:
        """The text of the file that `save` writes."""
        treefile.check_storable(self)
        return json.dumps(self.to_dict(), indent=1) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the tree as JSON; categories must be str, int, float, bool or None to be read again."""
        write_text(path, self.to_json())

    @classmethod
    def load(cls, path: str | Path) -> Tree:
        """Read a tree that `save` wrote; the file is data, nothing in it is executed."""
        return cls.from_dict(treefile.read(path))


def check_tree(tree: object) -> None:
    """Refuse what is no tree."""
    if not isinstance(tree, Tree):
        raise ParameterError(f"tree must be a fidelitree Tree; got {show(tree)}")
