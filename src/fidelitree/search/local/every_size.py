"""One tree of each size for labelled rows: a search near every size, and one more with inputs that a model labels.

A search near one size finds trees of its neighbours, so sizes are gone through upwards and downwards. From the labels
that there are, trees with many leaves learn noise as well. Where a strong model fitted to them errs less than the
trees, it labels as many free inputs as one likes, and the search goes on with those beside the labelled rows. Where
learners of several kinds differ on few free inputs, somebody can be asked about those few; then the labels of all of
them are as good as known, and help every size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fidelitree.search.local.boosted import Boosted
from fidelitree.search.local.iterated import Refiner
from fidelitree.search.local.moves import engine
from fidelitree.search.local.two_steps import two_steps

if TYPE_CHECKING:
    from fidelitree.asking.limits import Watch
    from fidelitree.search.local.coded import Bools, Coded
    from fidelitree.trees.nested import Nested

HELD = 5  # every so many-th row judges the strong model
_FEW, MANY = 10, 26  # leaves: smaller trees learn no noise from thousands of labels, larger ones much of it
_WIDE, _TELLING = 64, 2_000  # features, and rows that tell which of them are noise
_NOISE = 0.5  # of what the best shadow explains: less is noise
_CART, _PARTS = 400, 2  # leaves of trees of CART: one for all rows, one for each of so many parts of them


class EverySize:
    """The best trees found so far, one of each size; ask for them whenever the search was ended."""

    def __init__(self, rows: Coded, sizes: Sequence[int], seed: int, watch: Watch) -> None:
        self._rows, self._sizes, self._seed, self._watch = rows, sizes, seed, watch
        self._refiner = Refiner(rows, None, seed, watch)
        self._with_free: Refiner | None = None
        self._large: list[int] = []
        self._known, self._taught = [rows], rows
        self._said = np.zeros(0, np.intp)  # by most learners, of free inputs
        self.strong: tuple[Boosted, float] | None = None
        """A model for most of the rows, once there is one, and its share of errors on the others."""

    def trees(self, sizes: Sequence[int] | None = None) -> list[Nested]:
        """A tree for each size, or for others than were searched, which has at most so many leaves."""
        return [self._of(size).with_leaves(size).tree for size in sizes or self._sizes]

    @property
    def classes(self) -> int:
        """Label codes of the rows."""
        return self._rows.classes

    @property
    def most(self) -> int:
        """Leaves of the largest tree: with more, no row that is known would be answered better."""
        return self._of(self._sizes[-1]).with_leaves(self._sizes[-1]).leaves

    def _of(self, size: int) -> Refiner:
        free = self._with_free
        return free if free is not None and self._large[0] <= size <= self._large[-1] else self._refiner

    def rivals(self) -> list[Nested]:
        """What else a tree of each size could be, largest first: by the search without free inputs, and by CART.

        The fewest errors on rows that teach are not always the fewest on others; tests can tell.
        """
        grown = [engine(rows, None, self._watch) for rows in self._known]
        return [
            tree
            for size in reversed(self._sizes)
            for tree in (self._refiner.with_leaves(size).tree, *(one.cart(size).nested() for one in grown))
        ]

    def improve(self, steps: int, again: bool = True) -> None:
        """So many proposals near each size, going up; and as many coming down, if ``again``.

        A short search looks at no noise where features are many, and rows too: few do not tell which ones matter.
        """
        sizes = [size for size in self._sizes if size > 1]
        if not again and len(self._rows.sizes) >= _WIDE and len(self._rows.codes) >= _TELLING:
            self._refiner.leave_out_noise(_NOISE)
        if again:
            for tree in two_steps(self._rows, self._watch):
                self._refiner.know(tree)
        for size in (*sizes, *(reversed(sizes) if again else ())):
            self._refiner.improve_at(size, steps)

    def doubted(self, free: Coded, told: Bools) -> Bools:
        """On which free inputs a strong model, trees of CART and the largest tree that was found do not agree.

        Those whose codes are ``told`` are none of them, and teach all but the last.
        """
        if told.any():
            self._taught, self.strong = _together(self._rows, _some(free, told)), None
        guess, place = self._model()[0].predict(free), np.arange(len(self._taught.codes)) % _PARTS
        parts = [self._taught, *(_some(self._taught, place == part) for part in range(_PARTS))]
        carts = [engine(rows, None, self._watch).cart(_CART).nested() for rows in parts]
        said = np.stack([guess, *(free.predict(tree) for tree in (*carts, self.trees()[-1]))])
        self._said = np.argmax([(said == code).sum(axis=0) for code in range(self.classes)], axis=0)
        return np.asarray((said != guess).any(axis=0) & ~told)

    def go_on_with(self, free: Coded, steps: int, told: Bools | None = None) -> None:
        """The same, with free inputs beside the rows, where a strong model can label them.

        It can for large trees, if it errs less than they do: with fewer leaves they have learnt less noise, and it must
        be better. It can for all, where it is ``told`` which codes of the free inputs are known, because those are the
        ones that were doubted.
        """
        model, error = self._model()
        share = {size: self._refiner.with_leaves(size).errors / self._rows.total for size in self._sizes}
        noisy = [size for size in self._sizes if size > _FEW and error <= min(1, size / MANY) * share[size]]
        large = noisy if told is None else list(self._sizes)
        if not large:
            return
        guess = model.predict(free) if told is None else np.where(told, free.codes, self._said[: len(told)])
        both = _together(self._rows, replace(free, codes=guess))
        refiner = Refiner(both, None, self._seed, self._watch)
        for size in large:
            refiner.know(self._refiner.with_leaves(size).tree)
        self._with_free, self._large = refiner, large
        if told is not None:
            self._known.append(both)
        for size in (*large, *reversed(large)):
            if size > 1:
                refiner.improve_at(size, steps)

    def _model(self) -> tuple[Boosted, float]:
        self.strong = self.strong or self._strong_model()
        return self.strong

    def _strong_model(self) -> tuple[Boosted, float]:
        """A model for most rows, and its share of errors on the others, which came as they were drawn."""
        place = np.arange(len(self._taught.codes))
        held = (place % HELD == HELD - 1) & (place < len(self._rows.codes))
        model, others = Boosted(_some(self._taught, ~held), self._seed, self._watch), _some(self._taught, held)
        return model, float((model.predict(others) != others.codes).mean())


def _some(rows: Coded, which: Bools) -> Coded:
    return replace(rows, bins=rows.bins[:, which], codes=rows.codes[which], weights=rows.weights[which])


def _together(rows: Coded, more: Coded) -> Coded:
    bins = np.concatenate([rows.bins, more.bins], axis=1)
    codes = np.concatenate([rows.codes, more.codes])
    return replace(rows, bins=bins, codes=codes, weights=np.concatenate([rows.weights, more.weights]))
