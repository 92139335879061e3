"""Labelled inputs, bought portion by portion as they are drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from fidelitree.runs.session import Session
from fidelitree.search.questions import Answered, Labels, Steps
from fidelitree.trees.tree import Tree


class Portions:
    """What a strategy has been told so far, in the order of the answers."""

    def __init__(self, session: Session) -> None:
        self._session = session
        product = session.source.product
        self.inner = np.empty((0, len(product)), product.dtype)
        self.codes: NDArray[np.intp] = np.empty(0, np.intp)

    def __len__(self) -> int:
        return len(self.codes)

    def add(self, seen: Answered) -> None:
        """Some more."""
        self.inner = np.concatenate([self.inner, seen.inner])
        self.codes = np.concatenate([self.codes, seen.codes])

    def buy(self, wanted: int, to_stand: Callable[[], Sequence[Tree]]) -> Steps[None]:
        """Labels up to a number; where they are many, standing attempts are opened on the way."""
        standing, counted = self._session.attempts.standing, self._session.counted
        while len(self) < wanted:
            if len(self):
                self._session.stand(to_stand)
            self.add((yield Labels(max(1, min(wanted - len(self), standing.next - counted.asked)))))

    def constant(self) -> Tree:
        """The most frequent label of those that taught, or that came as they were drawn, or of what there is."""
        usual, cut = self._session.attempts.standing.usual(), self._session.counted.cut
        if usual is not None and not len(self):
            return self._session.always(usual)
        return self._session.constant(self.codes if len(self) or cut is None else np.asarray(cut, np.intp))
