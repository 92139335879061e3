"""A frontier: trees of many sizes, each with its certificate, all of them true together with confidence 1 - delta."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, overload

from fidelitree.display.wording import leaves as in_words
from fidelitree.errors import ParameterError, check_count, check_number
from fidelitree.runs.result import Distillation

if TYPE_CHECKING:
    from fidelitree.asking.counted import Queries
    from fidelitree.spaces.world import World

PRICE = 0.005
"""What a leaf must bring, as a share of inputs on which the tree then agrees, to be worth reading."""


@dataclass(frozen=True, eq=False)
class Frontier(Sequence[Distillation]):
    """Results from one leaf up, each larger tree with a smaller bound.

    Any of them may be chosen afterwards, by whatever one likes: with probability 1 - ``delta`` all bounds are true.
    """

    points: tuple[Distillation, ...]
    delta: float
    queries: Queries
    reason: str
    """Why the run ended."""
    max_leaves: int
    """The largest size that was looked for."""

    @overload
    def __getitem__(self, index: int) -> Distillation: ...
    @overload
    def __getitem__(self, index: slice) -> list[Distillation]: ...
    def __getitem__(self, index: int | slice) -> Distillation | list[Distillation]:
        if isinstance(index, slice):
            return [self._with_me(point) for point in self.points[index]]
        return self._with_me(self.points[index])

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[Distillation]:
        return (self._with_me(point) for point in self.points)

    def at(
        self, *, leaves: int | None = None, epsilon: float | None = None, price: float | None = None
    ) -> Distillation:
        """One point of the curve: by its size, by its error, or by what a leaf is worth.

        ``leaves`` gives the largest tree with at most so many, ``epsilon`` the smallest one whose error is certified to
        be at most that, ``price`` the last one whose leaves each bring so much agreement.
        """
        given = {"leaves": leaves, "epsilon": epsilon, "price": price}
        if sum(value is not None for value in given.values()) != 1:
            raise ParameterError(f"at takes one of leaves, epsilon and price; got {given}")
        if leaves is not None:
            check_count("leaves", leaves)
            return self._with_me([point for point in self.points if point.leaves <= leaves][-1])
        if epsilon is not None:
            return self._reaching(check_number("epsilon", epsilon))
        cost = check_number("price", price)
        return self._with_me(min(self.points, key=lambda point: point.error_bound + cost * point.leaves))

    def _reaching(self, epsilon: float) -> Distillation:
        found = next((point for point in self.points if point.error_bound <= epsilon), None)
        if found is None:
            best = self.points[-1]
            raise ParameterError(
                f"epsilon must be reached by a tree of the frontier: the best, with {in_words(best.leaves)}, is "
                f"certified to {best.error_bound:.4g}; got {epsilon:g} - allow more labels, or larger trees"
            )
        certificate = replace(found.certificate, epsilon=epsilon)
        return self._with_me(replace(found, certificate=certificate))

    @property
    def knee(self) -> Distillation:
        """The last tree whose leaves each bring half a per cent of agreement: ``at(price=0.005)``."""
        return self.at(price=PRICE)

    @property
    def has_knee(self) -> bool:
        """Whether the curve bends: leaves are worth their price up to some size, and no longer after it."""
        return 1 < self.knee.leaves < self.max_leaves

    def told(self, space: World, run: Mapping[str, Any], call: str) -> Frontier:
        """The same, where every point knows how the run was asked for."""
        points = tuple(replace(point, space=space, run=run, call=call) for point in self.points)
        return replace(self, points=points)

    @classmethod
    def of(cls, points: Sequence[Distillation], delta: float, max_leaves: int) -> Frontier:
        """Of these points of one run, those whose bound is below that of every smaller one."""
        found: list[Distillation] = []
        for point in sorted(points, key=lambda point: (point.leaves, point.error_bound)):
            if not found or point.error_bound < found[-1].error_bound:
                found.append(point)
        return cls(tuple(found), delta, found[0].queries, found[0].reason, max_leaves)

    def _with_me(self, point: Distillation) -> Distillation:
        return replace(point, frontier=self)

    def rows(self) -> list[dict[str, Any]]:
        """A line for each point: leaves, depth, the bound, both ends of the error, tests and errors counted."""
        return [
            {
                "leaves": point.leaves,
                "depth": point.depth,
                "error_bound": point.error_bound,
                "lower": point.interval[0],
                "upper": point.interval[1],
                "samples": point.certificate.samples,
                "errors": point.certificate.errors,
            }
            for point in self.points
        ]

    def to_frame(self) -> Any:
        """The same as a pandas DataFrame."""
        return import_module("pandas").DataFrame(self.rows())

    def __str__(self) -> str:
        knee = self.knee if self.has_knee else None
        lines = ["leaves  agrees on at least"]
        for point in self.points:
            mark = "  <- knee" if knee is not None and point.leaves == knee.leaves else ""
            lines.append(f"{point.leaves:6,}  {1 - point.error_bound:18.1%}{mark}")
        lines += [] if knee is not None else ["no knee: " + self._why_none()]
        return "\n".join(lines)

    def _why_none(self) -> str:
        if self.knee.leaves == 1:
            return "no larger tree is worth half a per cent of agreement a leaf"
        return f"every leaf is worth half a per cent of agreement, up to {self.max_leaves:,}"

    def __repr__(self) -> str:
        first, last = self.points[0], self.points[-1]
        span = f"{first.leaves} to {last.leaves} leaves, error <= {first.error_bound:.3g} to {last.error_bound:.3g}"
        return f"<Frontier: {len(self)} trees, {span} ({1 - self.delta:.4g} for all), {self.queries.asked:,} labels>"
