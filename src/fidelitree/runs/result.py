"""What a run returns: the tree, what is promised about it, what it cost, and how it came about."""

from __future__ import annotations

import datetime as dt
import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from fidelitree.asking.events import TreeJudged
from fidelitree.certificates import store
from fidelitree.certificates.confusion import Confusion, LeafError, share_of_level
from fidelitree.certificates.mean_error import MeanError, mean_error
from fidelitree.display.card import card, unfolded
from fidelitree.display.wording import at_least, join, tag
from fidelitree.display.wording import leaves as in_words
from fidelitree.errors import ParameterError, check_count, check_delta, check_path, write_text
from fidelitree.search.trace import SplitRecord
from fidelitree.trees.disagreements import ON_PAGES, Disagreements

if TYPE_CHECKING:
    from fidelitree.asking.counted import Queries
    from fidelitree.certificates.certificate import Certificate
    from fidelitree.report.contents import Contents
    from fidelitree.runs.frontier_result import Frontier
    from fidelitree.spaces.world import World
    from fidelitree.trees.answers import Answers, LeafLabels
    from fidelitree.trees.ensemble import Ensemble
    from fidelitree.trees.tree import Tree


_ALWAYS = ("epsilon", "delta", "seed")
_WRITABLE = (bool, int, float, str, type(None))


@dataclass(frozen=True, repr=False)
class Distillation:
    """The result of growing a tree for a target.

    Attributes:
        tree: The tree.
        certificate: What is promised about it, and on which evidence.
        queries: Labels asked and rows paid, by purpose.
        trace: A record for each split; of ``distill(strategy="auto")``, for each tree that was compared with answers.
        space: Where inputs come from.
        reason: Why the run ended.
        answers: The answers that the certificate could count, where some were drawn and kept.
        leaf_labels: How often the target gives each label in each leaf: exact, or estimated from the answers.
        call: The call that led here, as far as its arguments can be written down.
        run: The arguments of the door it came through.
        tested: The tree that was tested, where this one differs from it.
        surrogate: The model that shortened the tests, where one did: `Certificate.helped`.
        journal: Where the run kept its answers.
        curve: The `frontier`, or what makes it: few look at it, and it takes as long as much of a short run.

    Examples:
        >>> from fidelitree.runs.distill import distill
        >>> from fidelitree.spaces.product import ProductSpace
        >>> result = distill(lambda bits: bits[:, 0], ProductSpace.bernoulli(3), epsilon=0)
        >>> result.leaves, result.error_bound
        (2, 0.0)
    """

    tree: Tree
    certificate: Certificate
    queries: Queries
    trace: tuple[SplitRecord | TreeJudged, ...]
    space: World
    reason: str
    answers: Answers | None = field(default=None, compare=False, repr=False)
    leaf_labels: LeafLabels | None = field(default=None, compare=False, repr=False)
    call: str = ""
    run: Mapping[str, Any] = field(default_factory=dict)
    tested: Tree | None = field(default=None, repr=False)
    surrogate: Ensemble | None = field(default=None, compare=False, repr=False)
    journal: Path | None = field(default=None, compare=False, repr=False)
    curve: Frontier | Callable[[], Frontier] | None = field(default=None, compare=False, repr=False)

    @cached_property
    def frontier(self) -> Frontier | None:
        """The trees of all sizes that the same answers certify, where the run made some."""
        return self.curve() if callable(self.curve) else self.curve

    def curve_with(self, change: Callable[[Frontier], Frontier]) -> Callable[[], Frontier] | None:
        """What makes the frontier, changed."""

        def changed() -> Frontier:
            assert self.frontier is not None, "there is a curve"
            return change(self.frontier)

        return None if self.curve is None else changed

    def __getstate__(self) -> dict[str, Any]:
        """What can be written down: the frontier, not what makes it."""
        return {**vars(self), "curve": self.frontier}

    @property
    def hint(self) -> str:
        """Which other inputs to try, where independent columns of a table made the tree large or the run fail."""
        from fidelitree.runs.other_worlds import hint  # noqa: PLC0415 - worlds are fitted for who reads it alone

        return hint(self)

    @property
    def leaves(self) -> int:
        """The number of leaves of the tree."""
        return self.tree.size

    @property
    def depth(self) -> int:
        """The depth of the tree."""
        return self.tree.depth

    @property
    def error_bound(self) -> float:
        """The error that is certified."""
        return self.certificate.error_bound

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends of the error."""
        return self.certificate.interval

    @property
    def refuted_by_rows(self) -> bool:
        """Whether real rows that were kept aside show a larger error than is certified over draws."""
        return self.certificate.refuted_by_rows

    def knowing(self, labels: LeafLabels | None) -> Distillation:
        """The same with the target's labels in each leaf, which the certificate then tells of too."""
        size = None if labels is None or labels.samples is None else self.tree.size
        level = None if size is None else share_of_level(size, None)
        table = Confusion.of_leaves(labels, self.tree, level)
        return replace(self, leaf_labels=labels, certificate=replace(self.certificate, confusion=table))

    def mean_error(self, low: float, high: float, delta: float = 0.05) -> MeanError:
        """How far the tree is from a target of numbers on average, where all of them are from ``low`` to ``high``.

        It is a bound by the same test inputs as the certificate, with a confidence of its own.

        Args:
            low: No answer of the target is below it.
            high: No answer of the target is above it.
            delta: The chance that the bound is false.

        Returns:
            The mean that was counted, and its bound.

        Raises:
            ParameterError: The result is not of a run with a tolerance, or was read from a folder.
        """
        if self.certificate.tolerance is None or self.answers is None or not len(self.answers):
            raise ParameterError("mean_error needs the answers of a run with a tolerance; this result has none")
        tested = self.tree if self.tested is None else self.tested
        return mean_error((self.tree, tested), self.answers, self.certificate, (low, high), check_delta(delta))

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str = "",
        target_name: str = "",
        notes: str = "",
        date: dt.date | str | None = None,
    ) -> Path:
        """Write the result as one HTML page that needs nothing else.

        The page shows the certificate and what it does not say, the tree, where its error sits and examples of it. It
        tells what the inputs are, and how to check all this. The same arguments give the same bytes.

        Args:
            path: The file to write.
            title: The headline.
            target_name: What the model is called.
            notes: A paragraph of yours.
            date: The day; today unless given.

        Returns:
            The path of the page.
        """
        path = check_path("path", path)
        return write_text(path, self._page(title=title, target_name=target_name, notes=notes, date=date))

    def _page(self, **about: Any) -> str:
        from fidelitree.report.contents import About  # noqa: PLC0415 - only who wants a page waits for what draws it
        from fidelitree.report.page import render  # noqa: PLC0415 - the same

        return render(self.contents, About.told(**{"date": None, **about}))

    def predict(self, inputs: Any) -> NDArray[Any]:
        """The tree's answers: `Tree.predict`.

        Args:
            inputs: Rows as the target takes them: a table, a mapping of name to column, or an array.

        Returns:
            One answer for each row.
        """
        return self.tree.predict(inputs)

    def disagreements(self, most: int | None = None) -> Disagreements:
        """The fresh inputs of the test on which target and tree differ, in the order in which they were drawn.

        They print as a table; ``columns()`` and ``to_csv()`` give all features. The certificate can name other
        numbers: it counts the tree that was tested, of which this one may be a pruning, and only inputs drawn after
        its test began.

        Args:
            most: No more than so many; all of them unless given.

        Returns:
            A sequence of inputs with both answers.

        Raises:
            ParameterError: The answers were not kept one by one: the result was read from a folder, or every input
                was counted.
        """
        if self.answers is None:
            raise ParameterError(
                "disagreements need the answers of the test one by one, which this result did not keep: it was read "
                "from a folder, or every input was counted - run distill again"
            )
        most = most if most is None else check_count("most", most)
        found = Disagreements.of(self.tree, self.answers, self.space.product, self.certificate.tolerance, most)
        return found.because(self.certificate.errors, self.certificate.samples)

    @property
    def contents(self) -> Contents:
        """What a report of this result shows."""
        from fidelitree.report.contents import Contents, TracePoint  # noqa: PLC0415 - the same

        bounds = (None if isinstance(record, SplitRecord) else record.error_bound for record in self.trace)
        steps = (
            TracePoint(record.asked, record.size, record.error, bound)
            for record, bound in zip(self.trace, bounds, strict=True)
        )
        made = Contents(
            self.tree,
            self.space,
            self.certificate,
            self.queries,
            tuple(steps),
            all(isinstance(record, SplitRecord) for record in self.trace),
            self.leaf_labels,
            self.reason,
            self.call,
            disagreements=self.disagreements(ON_PAGES) if self.answers is not None else None,
            target_name=str(self.run.get("target", "")).removesuffix(".predict"),
            ways=tuple(store.ways_to_check(self.space, self.journal is not None, self.surrogate is not None)),
        )
        return made if self.frontier is None else self.frontier.around(made)

    @property
    def leaf_errors(self) -> list[LeafError]:
        """How many of its test inputs each leaf gets wrong, with an interval; the worst leaf first."""
        return self.contents.leaf_errors

    def _repr_html_(self) -> str:
        size = self.tree.size
        facts = [("Leaves", f"{size:,}"), ("Depth", f"{self.tree.depth}"), ("Labels asked", f"{self.queries.asked:,}")]
        tree = unfolded("The tree", str(self.tree).splitlines())
        more = tag("p", " ".join([*self.certificate.sentences(size), self.hint]).strip(), style="margin:.6em 0 0")
        return card(self.certificate.standing, str(self.certificate), facts, join(more, tree))

    def save(
        self, folder: str | os.PathLike[str], *, title: str = "", target_name: str = "", notes: str = ""
    ) -> list[Path]:
        """Write tree, certificate, space, trace, run and report into a folder, which ``ft.verify`` can check.

        The frontier, where there is one, goes with it, so that another size can be picked afterwards: `Frontier.load`.
        So do a copy of the journal, where the run kept one, and ``verify.py``, with which anybody can check the folder.
        What was stored there before is replaced once all of it is on disk, and not at all where that fails.
        The space is stored with all observed values, so that it can be checked without the table: give the folder to
        nobody who must not see them.

        Args:
            folder: Where the files go; it is made where it is missing.
            title: The headline of the report.
            target_name: What the report calls the model.
            notes: A paragraph of yours in the report.

        Returns:
            The files that were written, the report last.
        """
        page = self._page(title=title, target_name=target_name, notes=notes)
        run = {**self.run, "reason": self.reason, "asked": dict(self.queries.asked), "paid": dict(self.queries.paid)}
        curve = None if self.frontier is None else self.frontier.stored
        record = store.RunRecord(self.space, self.rows, run, self.tested, page, curve, self.surrogate, self.journal)
        return store.save(folder, self.tree, self.certificate, record)

    def card(self) -> str:
        """A section for a model card, in Markdown: what, over which inputs, the bound, its limits, how to check it."""
        told, inputs = self.certificate, self.space.in_words
        size, version = f"{in_words(self.tree.size)}, depth {self.tree.depth}", told.versions.get("fidelitree", "")
        parts = {
            "What": f"A tree of {size}, distilled by fidelitree {version}: `{self.tree.digest[:16]}`.",
            "Inputs": f"{inputs[0].upper()}{inputs[1:]}: `{told.space_digest[:16]}`.",
            "Bound": " ".join([str(told), *told.sentences(self.tree.size)]),
            "Limits": "The bound is about these inputs and this model, not about the world that it was trained on.",
            "Check": f"{int(self.queries.paid):,} answers stand behind it. In the stored folder: "
            + " ".join(f"{text} `{command}`." for text, command in self.contents.ways),
        }
        lines = [f"**{name}.** {text}\n" for name, text in parts.items()]
        return "\n".join(["## A decision tree that stands for this model\n", *lines])

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The trace as text and numbers."""
        return [_row(entry, self.tree) for entry in self.trace]

    def __repr__(self) -> str:
        sure = "exact" if self.certificate.method == "exact" else at_least(self.certificate.delta)
        told = self.certificate
        share = "" if told.coverage is None else f" where it answers, coverage >= {at_least(told.lost)}"
        size = in_words(self.tree.size)
        return f"<Distillation: {size}, error <= {told.error_at_most}{share} ({sure}), {self.queries.asked:,} labels>"

    def __str__(self) -> str:
        doubts = self.certificate.doubts(self.tree.size)
        hints = [self.hint] if self.hint else []
        return "\n".join([str(self.tree), "", str(self.certificate), *doubts, self.cost_line(), *hints])

    def cost_line(self) -> str:
        """The size of the tree, what was asked, and the seed, where anything was drawn."""
        seed = self.run.get("seed", self.certificate.seed)
        drawn = "" if seed is None or self.certificate.method == "exact" else f"; seed {seed}"
        return f"{in_words(self.tree.size)}, depth {self.tree.depth}; {self.queries}{drawn}"


def _row(entry: SplitRecord | TreeJudged, tree: Tree) -> dict[str, Any]:
    """A record of the trace as text and numbers."""
    if isinstance(entry, TreeJudged):
        return asdict(entry)
    values = tree.values[entry.feature] if tree.values else None
    shown = {"leaf": str(entry.leaf), "test": entry.test.text(tree.names[entry.feature], True, values)}
    numbers = ("score", "size", "cost", "error", "asked")
    return {**shown, **{name: getattr(entry, name) for name in numbers}}


_signature = cache(inspect.signature)  # reading it takes longer than the rest


def written(door: Callable[..., Any], arguments: Mapping[str, Any]) -> str:
    """The call of a public door: target and space by name, then what is not as it would be anyhow.

    Epsilon, delta and the seed are always there. What has no short form in Python, as an observer, is left out: it
    does not change the result.

    >>> def distill(target, space, epsilon=0.05, *, seed=0, strategy="auto", observer=None): ...
    >>> written(distill, {"epsilon": 0.1, "seed": 7, "strategy": "influence", "observer": print})
    "ft.distill(target, space, epsilon=0.1, seed=7, strategy='influence')"
    """
    parts = ["target", "space"]
    for name, parameter in _signature(door).parameters.items():
        value = arguments.get(name, parameter.default)
        if name in parts or not isinstance(value, _WRITABLE):
            continue
        if name in _ALWAYS or value != parameter.default:
            parts.append(f"{name}={value!r}")
    return f"ft.{door.__name__}({', '.join(parts)})"
