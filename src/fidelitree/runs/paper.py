"""The two algorithms of "Decision Tree Learning on Product Spaces" (ICML 2026), under the paper's names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from fidelitree import theory
from fidelitree.asking.access import Call, access, asked_target
from fidelitree.asking.events import Finished, Observer, nobody
from fidelitree.asking.limits import Budget, BudgetSpent, Running, Workers
from fidelitree.asking.on_device import OnDevice
from fidelitree.asking.repeats import Repeats
from fidelitree.certificates.certificate import Certificate, assumptions
from fidelitree.errors import ParameterError, check_choice, check_delta, check_epsilon, check_observer
from fidelitree.exact.engine import ENUMERATE_UNASKED, exact_subfunction, free_of_charge, labels_inside, why_not_all
from fidelitree.runs.goal import greedy_result
from fidelitree.runs.result import Distillation, written
from fidelitree.search.device_pairs import DevicePairs, DeviceSet
from fidelitree.search.exact_growth import grow_exactly
from fidelitree.search.grow import Evidence, Probe, grow
from fidelitree.search.sampled_probes import FreshPairs, ReusedPairs, SampleSet, Shelf, label_planes
from fidelitree.search.trace import Trace
from fidelitree.spaces.draw import Stream, seed_of
from fidelitree.spaces.product import ProductSpace, check_space, product_of
from fidelitree.theory.bounds import early_looks, level_of_set
from fidelitree.theory.sequential import upper_bound
from fidelitree.trees.answers import LeafLabels
from fidelitree.trees.growing import GrowingLeaf, GrowingTree

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted
    from fidelitree.targets.labels import Target
    from fidelitree.trees.tree import Tree


def build_top_down(
    target: Target,
    space: ProductSpace,
    epsilon: float,
    *,
    threshold: float | None = None,
    max_queries: int | None = None,
    max_leaves: int | None = None,
    max_seconds: float | None = None,
    batch_size: int | None = None,
    executor: Workers | None = None,
    timeout: float | None = None,
    retries: int = 0,
    journal: str | os.PathLike[str] | None = None,
    observer: Observer = nobody,
) -> Distillation:
    """Algorithm 1: grow from exact probabilities and influences until the error is at most ``epsilon``.

    A target that is not a table, a tree or a circuit is asked about every input. The certificate is exact.

    Args:
        target: What is explained: a callable from a batch of inputs to labels.
        space: Where inputs come from: a product space that can be listed.
        epsilon: The error at which growing stops.
        threshold: Turns scores into labels: 1 above this value, otherwise 0; of a classifier, by its second class.
        max_queries: The most inputs that may be asked about; 2^20 where it is left out.
        max_leaves: The most leaves that a tree may have.
        max_seconds: Ends the run after so many seconds, with what is certified by then.
        batch_size: The most inputs that one call of the target receives.
        executor: Runs calls elsewhere: a `concurrent.futures.Executor`, a function that makes one, or "joblib".
        timeout: The longest silence of the executor's workers, in seconds.
        retries: How often a call that failed is made again.
        journal: The file that keeps every answer: the same call goes on from there, and `verify` checks by it.
        observer: Receives an event for each step of the run; `Progress` is one.

    Returns:
        The tree with an exact certificate, and one record for each split.

    Raises:
        ParameterError: An argument breaks its rule.
        TargetError: The target failed, or answered something that is no label.

    Examples:
        >>> from fidelitree.targets import multiplexer
        >>> build_top_down(multiplexer(2), ProductSpace.bernoulli(6), epsilon=0).tree.size
        8
    """
    error = check_epsilon(epsilon)
    check_observer(observer)
    limits = Budget(max_queries=max_queries, max_leaves=max_leaves, max_seconds=max_seconds)
    running = Running(batch_size, executor, timeout, retries, journal)
    call = Call("build_top_down", 0, True, {"epsilon": error, **limits.limits()})
    with access(asked_target(target, threshold), space, running, call) as opened:
        counted = _checked(opened.counted(None, Budget()), "build_top_down", product_of(space).points)
        if counted.repeats is not None and max_queries is not None:
            counted.repeats.most = min(counted.repeats.most, max(0, max_queries - (product_of(space).points or 0)))
        most = ENUMERATE_UNASKED if max_queries is None else max_queries
        root = exact_subfunction(counted, space.whole, most)
        if root is None:
            raise ParameterError(why_not_all(space, max_queries))
        grown = grow_exactly(counted, root, error, limits, observer)
    known = greedy_result(counted, grown, error).knowing(labels_inside(grown.tree, root, space))
    told = {"epsilon": epsilon, **limits.limits(), **running.told()}
    return replace(known, call=written(build_top_down, told))


def practical_top_down(
    target: Target,
    space: ProductSpace,
    epsilon: float,
    delta: float,
    *,
    seed: int | None = None,
    schedule: theory.Schedule = "corrected",
    threshold: float | None = None,
    max_queries: int | None = None,
    max_leaves: int | None = None,
    max_seconds: float | None = None,
    batch_size: int | None = None,
    executor: Workers | None = None,
    timeout: float | None = None,
    retries: int = 0,
    journal: str | os.PathLike[str] | None = None,
    observer: Observer = nobody,
) -> Distillation:
    """Algorithm 2: grow from drawn inputs, with the paper's sample sizes and no memory of answers.

    Three streams feed it: pairs that choose splits, inputs that label leaves, inputs that measure the error.

    Args:
        target: What is explained: a callable from a batch of inputs to labels.
        space: Where inputs come from: a product space of bits.
        epsilon: The error at which growing stops.
        delta: The chance that the run states a false bound.
        seed: Chooses all draws: the same seed gives the same result. None takes a fresh one, which is recorded.
        schedule: "printed" follows the pseudocode; "corrected" keeps every split within a factor 1/4 of the best.
        threshold: Turns scores into labels: 1 above this value, otherwise 0; of a classifier, by its second class.
        max_queries: Ends the run after so many labels, with what is certified by then.
        max_leaves: The most leaves that a tree may have.
        max_seconds: Ends the run after so many seconds, with what is certified by then.
        batch_size: The most inputs that one call of the target receives.
        executor: Runs calls elsewhere: a `concurrent.futures.Executor`, a function that makes one, or "joblib".
        timeout: The longest silence of the executor's workers, in seconds.
        retries: How often a call that failed is made again.
        journal: The file that keeps every answer: the same call goes on from there, and `verify` checks by it.
        observer: Receives an event for each step of the run; `Progress` is one.

    Returns:
        The tree with its certificate, and one record for each split.

    Raises:
        ParameterError: An argument breaks its rule.
        TargetError: The target failed, or answered something that is no label.

    Examples:
        >>> found = practical_top_down(lambda bits: bits[:, 0], ProductSpace.bernoulli(3), epsilon=0.2, delta=0.1)
        >>> found.tree.size, found.certificate.holds
        (2, True)
    """
    promised = {"epsilon": epsilon, "delta": delta, "schedule": schedule}
    epsilon, delta = _check_promise(epsilon, delta, schedule)
    check_observer(observer)
    limits = Budget(max_queries=max_queries, max_leaves=max_leaves, max_seconds=max_seconds)
    running = Running(batch_size, executor, timeout, retries, journal)
    check_space(space)
    if not space.all_bits:
        raise ParameterError(
            f"practical_top_down needs a space of bits, as the paper has it; got {space!r} - distill takes any features"
        )
    sizes = SetSizes(len(space), epsilon, delta, schedule)
    told = {"epsilon": epsilon, "delta": delta, "schedule": schedule, **limits.limits()}
    call = Call("practical_top_down", seed_of(seed), seed is not None, told)
    with access(asked_target(target, threshold), space, running, call) as opened:
        counted = _checked(opened.counted(None, limits), "practical_top_down", None)
        result = _grow_sampled(counted, sizes, opened.seed, observer)
        opened.end(counted, result.reason)
    certificate = replace(
        result.certificate,
        seed_chosen=opened.seed_chosen,
        assumes=assumptions(True, seed_chosen=opened.seed_chosen),
    )
    result = replace(result, certificate=certificate)
    told = {**promised, "seed": opened.seed, **limits.limits(), **running.told()}
    return replace(result, call=written(practical_top_down, told))


def _checked(counted: Counted, door: str, points: int | None) -> Counted:
    """The target, some inputs of which are asked again: both algorithms are about functions."""
    counted.repeats = None if free_of_charge(counted) else Repeats(points=points)
    way_out = f"or use ft.distill with deterministic=False: {door} takes functions only"
    counted.equality = replace(counted.equality, way_out=way_out)
    return counted


def _grow_sampled(counted: Counted, sizes: SetSizes, seed: int, observer: Observer) -> Distillation:
    bare, trace, where = GrowingTree(counted.space), Trace(counted, observer), OnDevice.of(counted) or Shelf()
    judge = SampledJudge(counted, sizes, seed, trace, where)
    try:
        reason = grow(bare, probe_of(counted, sizes, seed, where), judge, counted.budget, trace.split)
    except (BudgetSpent, KeyboardInterrupt) as stop:
        if isinstance(stop, KeyboardInterrupt) and not counted.book.seen:
            raise
        reason = str(stop) or "interrupted"
    tree = judge.tree(bare)
    certificate, splits = judge.certificate(tree, seed), tuple(trace.records)
    observer(Finished(counted.asked, tree.size, certificate.error_bound, reason))
    result = Distillation(tree, certificate, counted.queries, splits, counted.space, reason)
    return result.knowing(judge.leaf_labels(bare))


def probe_of(counted: Counted, sizes: SetSizes, seed: int, where: Shelf | OnDevice) -> Probe:
    """The pairs that choose splits, as the schedule has them."""
    stream = Stream.named(seed, "grow")
    if sizes.schedule == "printed":
        return ReusedPairs(counted, stream, sizes.pairs, Shelf() if isinstance(where, OnDevice) else where)
    if isinstance(where, OnDevice):
        return DevicePairs(where, stream, sizes.pairs)
    return FreshPairs(counted, stream, sizes.pairs)


@dataclass(frozen=True)
class SetSizes:
    """How many inputs each set of Algorithm 2 holds for a tree of j leaves (THEORY: reading the pseudocode)."""

    n: int
    epsilon: float
    delta: float
    schedule: theory.Schedule

    def pairs(self, j: int) -> int:
        return self._held(lambda k: theory.score_pairs(k, self.delta, self.epsilon, self.n, self.schedule), j)

    def labels(self, j: int) -> int:
        return self._held(lambda k: theory.label_samples(k, self.epsilon, self.delta), j)

    def tests(self, j: int) -> int:
        return self._held(lambda k: theory.test_samples(k, self.epsilon, self.delta), j)

    def errors_allowed(self, j: int) -> float:
        """The stop test compares with M_EE(j) under both schedules."""
        return 3 * self.epsilon / 4 * theory.test_samples(j, self.epsilon, self.delta)

    def _held(self, size: Callable[[int], int], j: int) -> int:
        # The pseudocode raises j before it draws M(j + 1) - M(j).
        return size(j) if self.schedule == "corrected" else size(1) + size(j + 1) - size(2)


@dataclass(frozen=True)
class _Verdict:
    """The label code of every leaf of a tree, how many test inputs these labels get wrong, and what each leaf saw.

    One object, replaced in one step: an interrupt never finds the labels of one tree beside the errors of another.
    """

    codes: Mapping[int, int]
    errors: int
    samples: int
    tests: Mapping[int, Sequence[int]]

    def bound(self, delta: float) -> float:
        """Clopper-Pearson at the level of this tree."""
        level = level_of_set(len(self.codes), self.samples, delta)
        return upper_bound(self.errors, self.samples, level) if self.samples else 1.0


class SampledJudge:
    """Labels leaves from one set of inputs and measures the error on another; neither steers a split."""

    def __init__(self, counted: Counted, sizes: SetSizes, seed: int, trace: Trace, where: Shelf | OnDevice) -> None:
        self._counted, self._sizes, self._trace = counted, sizes, trace
        self._labels, self._tests = (self._set(seed, purpose, where) for purpose in ("label", "certify"))
        self._verdict: _Verdict | None = None

    def _set(self, seed: int, purpose: str, where: Shelf | OnDevice) -> SampleSet | DeviceSet:
        stream = Stream.named(seed, purpose)
        if isinstance(where, OnDevice):
            return DeviceSet(where, stream, purpose)
        return SampleSet(stream, label_planes(self._counted, purpose), where)

    def hear(self, bare: GrowingTree, made: Sequence[GrowingLeaf]) -> None:
        if made[0].parent is not None:
            self.part(made)
        sets = (self._labels, self._sizes.labels(bare.size)), (self._tests, self._sizes.tests(bare.size))
        for most in self._rounds(bare.size):
            for inputs, total in sets:
                inputs.top_up(min(total, most), bare)
            self._verdict = self._judge(bare)

    def part(self, made: Sequence[GrowingLeaf]) -> None:
        """The inputs that reached a leaf go to the two that were made of it."""
        for inputs in (self._labels, self._tests):
            inputs.follow(*made)

    def held(self, number: int) -> tuple[int, int]:
        """How many inputs label a leaf, and how many test it."""
        return sum(self._counts(self._labels, number)), sum(self._counts(self._tests, number))

    def _rounds(self, j: int) -> Iterator[int]:
        """How far both sets may grow before the next verdict on a tree of j leaves.

        The first tree is judged on its way, or a budget that ends there would leave nothing certified.
        """
        labels, tests = self._sizes.labels(j), self._sizes.tests(j)
        if j == 1:
            yield from early_looks(min(labels, tests))
        yield max(labels, tests)

    def enough(self, bare: GrowingTree, evidence: Mapping[int, Evidence]) -> bool:
        verdict = self._verdict
        assert verdict is not None, "the judge hears of every tree first"
        cost = sum(float(what.scores.sum()) for what in evidence.values())
        bound = verdict.bound(self._sizes.delta)
        self._trace.judged(bare.size, cost, verdict.errors / verdict.samples, bound)
        return verdict.errors <= self._sizes.errors_allowed(bare.size)

    def _judge(self, bare: GrowingTree) -> _Verdict:
        book = self._counted.book
        codes = {number: book.majority(self._counts(self._labels, number)) for number in bare.leaves}
        tests = {number: self._counts(self._tests, number) for number in bare.leaves}
        samples = sum(sum(counts) for counts in tests.values())
        errors = samples - sum(tests[number][code] for number, code in codes.items())
        return _Verdict(codes, errors, samples, tests)

    def _counts(self, inputs: SampleSet | DeviceSet, number: int) -> list[int]:
        counts: list[int] = inputs.counts.get(number, np.zeros(0, np.int64)).tolist()
        return counts + [0] * (len(self._counted.book.seen) - len(counts))

    def tree(self, bare: GrowingTree) -> Tree:
        """The tree that was judged last; a split made since then is cut off."""
        if not self._counted.book.seen:
            raise ParameterError(
                f"max_queries must allow the first {next(self._rounds(1))} labels, max_seconds the time for them; "
                f"the budget ended before the target had answered anything"
            )
        if self._verdict is None:  # the run ended before the first tree, one leaf, was judged
            self._verdict = self._judge(bare)
        book = self._counted.book
        ranks = book.ranks()
        return bare.complete({number: ranks[code] for number, code in self._verdict.codes.items()}, book.sorted())

    def leaf_labels(self, bare: GrowingTree) -> LeafLabels | None:
        """The labels of the test inputs that reached each leaf; None where there were none."""
        verdict = self._verdict
        if verdict is None or not verdict.samples:
            return None
        counts = np.array([verdict.tests[number] for number in bare.cut(verdict.codes)], np.float64)
        book = self._counted.book
        by_rank = counts[:, np.argsort(book.ranks()[: counts.shape[1]])] / verdict.samples
        return LeafLabels(tuple(sorted(book.seen[: counts.shape[1]])), by_rank, verdict.samples)

    def certificate(self, tree: Tree, seed: int) -> Certificate:
        """What the test inputs say about the tree."""
        sizes, verdict = self._sizes, self._verdict
        assert verdict is not None, "a tree is judged before it is certified"
        bound = verdict.bound(sizes.delta)
        self._trace.close(tree.size, verdict.errors / max(1, verdict.samples), bound)
        return Certificate(
            sizes.epsilon,
            sizes.delta,
            bound,
            verdict.samples,
            verdict.errors,
            "fixed",
            tree.digest,
            self._counted.space.digest,
            seed=seed,
            queries=dict(self._counted.queries.asked),
            split_quality=sizes.schedule == "corrected",
        )


def _check_promise(epsilon: float, delta: float, schedule: str) -> tuple[float, float]:
    epsilon, delta = check_epsilon(epsilon), check_delta(delta)
    if epsilon == 0:
        raise ParameterError("epsilon must be above 0 where inputs are drawn; got 0 - build_top_down can be exact")
    check_choice("schedule", schedule, theory.SCHEDULES)
    return epsilon, delta
