"""Whether a promise is still kept: production rows with the target's answers come in, and an alarm may go off.

Every promise is a rate of errors that was certified: over all rows, over rows with one label of the target, over rows
that reach one leaf. Each has a bet against "the rate is at most what was promised", a mixture of rates above it. While
a promise is kept, its bet cannot win on average, whatever came before: so it ever exceeds 1/level with probability at
most its level (Ville), and all levels add up to delta. A bet depends on two counts alone, so a monitor that was stopped
goes on where it was.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.certificates.confusion import FEW
from fidelitree.certificates.store import load
from fidelitree.display.wording import at_most, counted, percent, plain_page, shown, table, tag
from fidelitree.errors import (
    FormatError,
    ParameterError,
    check_delta,
    check_one_kind,
    check_path,
    read_text,
    write_text,
    writing,
)
from fidelitree.spaces.rows import ASSUMES_INDEPENDENT
from fidelitree.theory.sequential import error_bound
from fidelitree.trees.answers import answered, apart

if TYPE_CHECKING:
    from fidelitree.certificates.certificate import Certificate
    from fidelitree.runs.result import Distillation
    from fidelitree.trees.tree import Tree

FORMAT, VERSION = "fidelitree.monitor", 1
"""Of the stored form."""
WHOLE = 0.8
"""Of delta watches all rows together; classes share a tenth of it, leaves another."""
_TIMES, _WEIGHTS = (1.25, 1.5, 2.0, 3.0, 6.0), (0.1, 0.2, 0.4, 0.2, 0.1)  # rates that are bet on, over the promised one


def log_wealth(errors: NDArray[Any], rows: NDArray[Any], promised: float) -> NDArray[np.float64]:
    """Logarithm of what the bet against "the rate is at most ``promised``" has won after so many errors and rows.

    >>> round(float(log_wealth(np.array(20), np.array(200), 0.05)), 2)
    3.48
    """
    if promised <= 0:
        return np.where(np.asarray(errors) > 0, math.inf, 0.0)
    rates = [
        (min(times * promised, (1 + promised) / 2), weight) for times, weight in zip(_TIMES, _WEIGHTS, strict=True)
    ]
    found = [
        math.log(weight)
        + np.asarray(errors) * math.log(rate / promised)
        + (np.asarray(rows) - errors) * math.log((1 - rate) / (1 - promised))
        for rate, weight in rates
    ]
    return np.asarray(np.logaddexp.reduce(found))


@dataclass
class Watched:
    """One promise: ``name`` says about which rows, ``promised`` is the rate of errors, ``level`` its share of delta."""

    name: str
    promised: float
    level: float
    errors: int = 0
    rows: int = 0
    alarmed_at: int | None = None
    """The row of its own at which the alarm went off."""
    course: list[tuple[int, int]] = field(default_factory=list)
    """Rows and errors, whenever the rows have doubled."""

    def see(self, wrong: NDArray[np.bool_]) -> None:
        """Some more rows, in the order in which they came."""
        if not len(wrong):
            return
        at = np.flatnonzero(wrong)  # every rate that is bet on is above the promised one: only an error wins anything
        errors, rows = self.errors + np.arange(1, len(at) + 1), self.rows + at + 1
        won = np.flatnonzero(log_wealth(errors, rows, self.promised) >= -math.log(self.level))
        if self.alarmed_at is None and len(won):
            self.alarmed_at = int(rows[won[0]])
        self.errors, self.rows = self.errors + len(at), self.rows + len(wrong)
        if not self.course or self.rows >= 2 * self.course[-1][0]:
            self.course.append((self.rows, self.errors))

    def __str__(self) -> str:
        seen = f"{self.errors:,} errors in {counted(self.rows, 'row')}, at most {at_most(self.promised)} was promised"
        return f"{self.name}: {seen}{'' if self.alarmed_at is None else f'; ALARM at row {self.alarmed_at:,}'}"


class Monitor:
    """Watches whether a tree still agrees with its target as often as was certified.

    While every promise is kept, an alarm ever goes off with probability at most ``delta``, however long it watches, if
    the rows are independent of each other: of several rows of one person, give one.

    Args:
        result: A `Distillation`, or the folder of one.
        delta: The chance of an alarm although all is well.

    Raises:
        ParameterError: An argument breaks its rule, or nothing was certified.

    Examples:
        >>> from fidelitree.runs.distill import distill
        >>> from fidelitree.spaces.product import ProductSpace
        >>> space = ProductSpace.bernoulli(6)
        >>> monitor = Monitor(distill(lambda batch: batch[:, 0] & batch[:, 1], space))
        >>> rows = space.draw(500)
        >>> monitor.see(rows, rows[:, 0] & rows[:, 1])
        >>> monitor.alarm is None
        True
        >>> monitor.see(rows, rows[:, 0])
        >>> monitor.alarm.partition(":")[0]
        'all rows'
    """

    def __init__(self, result: Distillation | str | os.PathLike[str], delta: float = 0.05) -> None:
        self.delta = check_delta(delta)
        if isinstance(result, (str, os.PathLike)):
            kept = load(result)
            self.tree, certificate = kept.tree, kept.certificate
            leaves = list[tuple[int, float]]()
        else:
            self.tree, certificate = result.tree, result.certificate
            leaves = _leaves(result)
        if certificate.error_bound >= 1:
            raise ParameterError("result must promise something; nothing was certified about its tree")
        self._tolerance = certificate.tolerance
        self.consumed: dict[str, int] = {}
        """Rows that were read from each file."""
        self._total = Watched("all rows", _promised(certificate), WHOLE * self.delta)
        classes = dict(_classes(certificate))
        each = (1 - WHOLE) / 2 * self.delta
        self._classes = {
            label: Watched(f"rows that the target answers {shown(label)}", rate, each / len(classes))
            for label, rate in classes.items()
        }
        self._leaves = {
            leaf: Watched(f"rows that reach leaf {leaf}", rate, each / len(leaves)) for leaf, rate in leaves
        }

    @property
    def watched(self) -> list[Watched]:
        """Every promise: that about all rows first, then classes, then leaves."""
        return [self._total, *self._classes.values(), *self._leaves.values()]

    @property
    def alarm(self) -> str | None:
        """What is not kept, in words; None while all is well. An alarm stays."""
        return next((str(one) for one in self.watched if one.alarmed_at is not None), None)

    def see(self, rows: Any, labels: Any) -> None:
        """Production rows in any form that ``tree.predict`` takes, with the target's answers to them.

        Rows that the tree defers are none of its promises; numbers are right within the tolerance.
        """
        answers = np.asarray(labels)
        predicted = self.tree.predict(rows)
        if answers.shape != predicted.shape:
            raise ParameterError(f"labels must be one for each of {len(predicted)} rows; got shape {answers.shape}")
        odd = answers.tolist() if answers.dtype.kind in "Of" else []
        lacking = [place for place, one in enumerate(odd) if one is None or one != one]  # noqa: PLR0124
        if lacking:
            raise ParameterError(
                f"labels must hold the target's answer to every row; row {lacking[0]} has {answers[lacking[0]]} - "
                f"leave such rows out"
            )
        own = answered(self.tree, self.tree.encode(rows))
        answers = answers[own]
        check_one_kind("tree", predicted[own], answers)
        wrong = apart(predicted[own], answers, self._tolerance)
        self._total.see(wrong)
        for label, one in self._classes.items():
            one.see(wrong[answers == label])
        if self._leaves:
            reached = self.tree.reached(rows)[own]
            for leaf, one in self._leaves.items():
                one.see(wrong[reached == leaf])

    def __str__(self) -> str:
        return "\n".join([*map(str, self.watched), f"Assumes: {ASSUMES_INDEPENDENT}."])

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the state, all of it or nothing."""
        path = check_path("path", path)
        promises = [vars(one) for one in self.watched]
        data = {"format": FORMAT, "version": VERSION, "tree": self.tree.digest, "delta": self.delta}
        with writing(path, "give a file in a folder that exists"):
            beside = path.with_name(f".{path.name}.new")
            with beside.open("w", encoding="utf-8") as file:
                json.dump({**data, "consumed": self.consumed, "promises": promises}, file)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        return path

    def restore(self, path: str | os.PathLike[str]) -> None:
        """Go on from a state that `save` wrote for the same tree and delta."""
        try:
            data = json.loads(read_text(check_path("path", path), 10_000_000, "a stored monitor"))
            told = data["format"], data["version"], data["tree"], data["delta"]
            promises = [_kept(one) for one in data["promises"]]
            consumed = {name: _count(rows) for name, rows in data["consumed"].items()}
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise FormatError(f"not a stored monitor: {error!s:.80}") from None
        names = [one["name"] for one in promises], [one.name for one in self.watched]
        if told != (FORMAT, VERSION, self.tree.digest, self.delta) or names[0] != names[1]:
            raise FormatError("not the state of a monitor of this tree with this delta")
        for one, kept in zip(self.watched, promises, strict=True):
            vars(one).update(kept)
        self.consumed = consumed

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write a page of the course so far."""
        names = ["what", "rows", "errors", "rate", "promised", "alarm"]
        rows = [
            (
                one.name,
                one.rows,
                one.errors,
                percent(one.errors / max(1, one.rows)),
                at_most(one.promised),
                one.alarmed_at,
            )
            for one in self.watched
        ]
        course = [(rows, errors, percent(errors / rows)) for rows, errors in self._total.course]
        page = plain_page(
            "Is the promise still kept?",
            tag("p", self.alarm or "No alarm."),
            tag("p", f"Assumes: {ASSUMES_INDEPENDENT}."),
            table(names, rows),
            tag("h2", "The course of all rows"),
            table(["rows", "errors", "rate"], course),
        )
        return write_text(path, page)


def _kept(told: dict[str, Any]) -> dict[str, Any]:
    """What was counted for a promise, as a file has it."""
    rows, alarm = _count(told["rows"]), told["alarmed_at"]
    course = [(_count(at, rows), _count(errors, at)) for at, errors in told["course"]]
    counts = {"rows": rows, "errors": _count(told["errors"], rows), "course": course}
    return {"name": told["name"], **counts, "alarmed_at": None if alarm is None else _count(alarm, rows)}


def _count(value: Any, most: int = 1 << 53) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"counts must be whole numbers from 0 to {most}; got {value!r:.40}")
    return value


def _promised(certificate: Certificate) -> float:
    """The error that was asked for where it is certified, else the one that is."""
    if certificate.holds and certificate.epsilon is not None:
        return certificate.epsilon
    return certificate.error_bound


def _classes(certificate: Certificate) -> Iterator[tuple[Any, float]]:
    """Each label of the target with the largest rate of errors that its tests leave open."""
    found = certificate.confusion
    if found is None or found.level is None or found.cells_in_all != len(found.cells):
        return
    right = {cell.target: int(cell.count) for cell in found.cells if not cell.wrong}
    for label, of in {cell.target: int(cell.of) for cell in found.cells}.items():
        if label in right and of >= FEW:
            yield label, error_bound(of - right[label], of, found.level / 2)


def _leaves(result: Distillation) -> list[tuple[int, float]]:
    """Each leaf that enough test inputs reached with the largest rate of errors that they leave open."""
    if result.leaf_labels is None:
        return []
    found = [one for one in result.leaf_errors if one.share is not None and len(one.nodes) == 1]
    return [(one.nodes[0], one.share[1]) for one in found if one.share and (one.exact or one.reached >= FEW)]


def rows_of(tree: Tree, records: list[dict[str, Any]]) -> dict[str, NDArray[Any]]:
    """Records with one value a feature as columns that a tree takes."""
    missing = [name for name in tree.names if any(name not in one for one in records)]
    if missing:
        raise ParameterError(f"every row must have the tree's features; {missing[0]!r:.60} is missing")
    return {name: np.array([one[name] for one in records]) for name in tree.names}
