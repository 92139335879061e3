"""Ways to a certificate with something before it: a run whose inputs were noted, another model, an interrupt.

The first three are about seeds. A target that was repaired on the inputs of one run, or that answers those from a
cache, is another function there and nowhere else; a second run with fresh entropy must tell of it as it is on new
inputs. Idle bits, which decide nothing, make inputs so many that what was noted weighs nothing.
"""

from __future__ import annotations

import hashlib
import signal
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import fidelitree as ft
from benchmarks.campaign.targets import Case, N, cube, places
from fidelitree.asking.events import UnderTest
from fidelitree.certificates import attempts
from fidelitree.runs import economics
from fidelitree.runs.agree import diff as compared
from fidelitree.spaces import draw
from fidelitree.trees import answers

LABELS, FEW = 600, 250
IDLE = 12  # bits that decide nothing
MOMENTS = {"queries": 24, "rounds": 8}  # calls and events among which an interrupt comes
LIVES = 3  # of a run with its journal; the last one is left in peace
LUCKY = 0.6  # of epsilon: an error that looks good enough to stop at
Bits = NDArray[np.uint8]
Found = tuple[Any, NDArray[Any], Case]


def fresh(seed: int, number: int) -> int:
    """Stands in for the seed that a machine takes when none is given, so that the campaign can be run again."""
    return int(hashlib.sha256(f"run {number} of {seed}".encode()).hexdigest()[:13], 16)


@dataclass(frozen=True)
class SharedCase(Case):
    """A case with idle bits: what is predicted is the chance, over those, of answering 1."""

    def error(self, predicted: NDArray[Any]) -> float:
        return float((self.weights() * np.abs(predicted - self.labels)).sum())


def _shared(case: Case) -> SharedCase:
    return SharedCase(case.family, case.labels, case.space, case.rival)


def _with_idle(case: Case) -> ft.ProductSpace:
    return ft.ProductSpace.bernoulli(N + IDLE, [*case.space.biases.tolist(), *[0.5] * IDLE])


def _chance_of_1(tree: ft.Tree) -> NDArray[np.float64]:
    """For every input of the cube, how likely a tree answers 1 when idle bits are drawn: exactly."""
    found, (feature, no, yes, code) = np.zeros(1 << N), tree.as_lists
    waiting = [(0, np.ones(1 << N))]
    while waiting:
        node, share = waiting.pop()
        if feature[node] < 0:
            found += share * float(tree.labels[code[node]])
            continue
        ones = cube()[:, feature[node]] if feature[node] < N else 0.5
        waiting += [(no[node], share * (1 - ones)), (yes[node], share * ones)]
    return found


@dataclass
class Noted:
    """A target that notes its inputs; ``known`` is what it answers to those that it met in an earlier life."""

    answers: Callable[[Bits], NDArray[Any]]
    known: Callable[[Bits], NDArray[Any]] | None = None
    met: frozenset[bytes] = frozenset()
    seen: set[bytes] = field(default_factory=set)

    def __call__(self, bits: Any) -> NDArray[Any]:
        rows = [row.tobytes() for row in np.ascontiguousarray(bits)]
        self.seen.update(rows)
        found = np.asarray(self.answers(bits))
        if self.known is None:
            return found
        return np.where([row in self.met for row in rows], self.known(bits), found)


def _labels(case: Case) -> Callable[[Bits], NDArray[Any]]:
    return lambda bits: case.labels[places(bits[:, :N])]


def _rival(case: Case) -> Callable[[Bits], NDArray[Any]]:
    return lambda bits: case.rival[places(bits[:, :N])]


def _distilled(
    target: Any, space: ft.ProductSpace, promise: tuple[float, float], seed: int, number: int
) -> ft.Distillation:
    """A run without a seed, as users start them."""
    with patch.object(draw, "fresh_seed", lambda: fresh(seed, number)):
        return ft.distill(target, space, *promise, max_queries=LABELS)


def patched(case: Case, epsilon: float, delta: float, seed: int) -> Found:
    """A target that was repaired, where a first run met it, to answer as the tree of that run."""
    space, first = _with_idle(case), Noted(_labels(case))
    tree = _distilled(first, space, (epsilon, delta), seed, 0).tree
    second = Noted(_labels(case), lambda bits: np.asarray(tree.predict(bits)), frozenset(first.seen))
    found = _distilled(second, space, (epsilon, delta), seed, 1)
    return found.certificate, _chance_of_1(found.tree), _shared(case)


def cached(case: Case, epsilon: float, delta: float, seed: int) -> Found:
    """A service whose model was replaced after a first run, and whose cache still answers the old one's."""
    space, first = _with_idle(case), Noted(_rival(case))
    _distilled(first, space, (epsilon, delta), seed, 0)
    second = Noted(_labels(case), _rival(case), frozenset(first.seen))
    found = _distilled(second, space, (epsilon, delta), seed, 1)
    return found.certificate, _chance_of_1(found.tree), _shared(case)


def patched_difference(case: Case, epsilon: float, delta: float, seed: int) -> tuple[tuple[float, float], Case]:
    """How much a new model differs that was repaired where a first comparison caught it; of the changes on all inputs.

    What is returned is the interval, and a case whose labels are the changes.
    """
    space, first = _with_idle(case), Noted(_labels(case))

    def difference(new: Noted, number: int) -> Any:
        with (
            patch.multiple(economics, HOPELESS_FROM=2 * FEW * economics.LEARNING, STEPS=1),
            patch.object(compared._Comparison, "_hopeless", lambda run: True),
            patch.object(draw, "fresh_seed", lambda: fresh(seed, number)),
        ):
            return ft.diff(_rival(case), new, space, delta, epsilon=0.01, max_queries=4 * FEW, max_leaves=4)

    difference(first, 0)
    found = difference(Noted(_labels(case), _rival(case), frozenset(first.seen)), 1)
    changed = (case.rival != case.labels).astype(np.intp)
    return found.changed, Case(case.family, changed, case.space, case.rival)


def replayed(case: Case, epsilon: float, delta: float, seed: int) -> Found:
    """One seed for two models, the second of which was made without knowing its inputs."""
    ft.distill(lambda bits: case.rival[places(bits)], case.space, epsilon, delta, seed=seed, max_queries=LABELS)
    found = ft.distill(case, case.space, epsilon, delta, seed=seed, max_queries=LABELS)
    return found.certificate, np.asarray(found.tree.predict(cube())), case


def replayed_audit(case: Case, epsilon: float, delta: float, seed: int) -> Found:
    """A tree of the old model is audited on the new one with the seed of the run that grew it."""
    old = ft.distill(lambda bits: case.rival[places(bits)], case.space, epsilon, delta, seed=seed, max_queries=LABELS)
    found = ft.certify(old.tree, case, case.space, epsilon, delta, seed=seed, max_queries=20 * LABELS)
    return found, np.asarray(old.tree.predict(cube())), case


class Interrupts:
    """One Ctrl-C for each life of a run, at a moment that its seed chooses, or when its tree looks best."""

    PLACES = ("observer", "target", "adding", "keeping", "luckiest", *["working out"] * 4)

    def __init__(self, seed: int, life: int, epsilon: float, prefer: str) -> None:
        random = np.random.default_rng([seed, life, 6])
        self._place = self.PLACES[int(random.integers(len(self.PLACES)))] if life < LIVES - 1 else ""
        self._left, self._epsilon = int(random.integers(1, MOMENTS[prefer])), epsilon
        self._least = int(random.integers(8, 60))

    def at(self, place: str) -> None:
        """Perhaps interrupt here."""
        if place == self._place:
            self._left -= 1
            if not self._left:
                signal.raise_signal(signal.SIGINT)

    def observer(self, event: Any) -> None:
        self.at("observer")
        if self._place != "luckiest" or not isinstance(event, UnderTest):
            return
        if event.samples >= self._least and event.errors <= LUCKY * self._epsilon * event.samples:
            self._place = ""
            signal.raise_signal(signal.SIGINT)

    def around(self, target: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def interrupted(batch: Any) -> Any:
            self.at("target")
            return target(batch)

        return interrupted

    def planted(self) -> ExitStack:
        """Moments inside of a count: once it is known that a tree was wrong, while it is added, before it is kept."""
        stack, apart = ExitStack(), answers.apart

        def interrupted(*given: Any) -> Any:
            wrong = apart(*given)
            if wrong.any():
                self.at("working out")
            return wrong

        stack.enter_context(patch.object(attempts, "apart", interrupted))
        for owner, name, place in ((attempts.Attempt, "add", "adding"), (answers.Kept, "keep", "keeping")):
            stack.enter_context(patch.object(owner, name, self._before(getattr(owner, name), place)))
        return stack

    def _before(self, done: Callable[..., Any], place: str) -> Callable[..., Any]:
        def interrupted(*given: Any, **more: Any) -> Any:
            self.at(place)
            return done(*given, **more)

        return interrupted


def interrupted(case: Case, epsilon: float, delta: float, seed: int) -> list[Found]:
    """A run that is interrupted, goes on with its journal, is interrupted again, and ends: all that it said."""
    # A shell that starts a program in the background makes it deaf to Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    found: list[Found] = []
    prefer: Any = "rounds" if seed % 4 else "queries"  # large batches mostly: of those a part would count for much
    with tempfile.TemporaryDirectory() as folder:
        for life in range(LIVES):
            moment = Interrupts(seed, life, epsilon, prefer)
            told = {"seed": seed, "prefer": prefer, "max_queries": LABELS, "journal": Path(folder) / "run.db"}
            target = moment.around(case)
            try:
                with moment.planted():
                    made = ft.distill(target, case.space, epsilon, delta, observer=moment.observer, **told)
            except KeyboardInterrupt:  # before there was anything to say
                continue
            found.append((made.certificate, np.asarray(made.tree.predict(cube())), case))
    return found
