"""``certify``: audit a tree, or any predictor, that somebody else made."""

from __future__ import annotations

import math
import os
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.access import Access, Call, access, as_used
from fidelitree.asking.events import Observer, TreeJudged, UnderTest, nobody
from fidelitree.asking.limits import Budget, BudgetSpent, Running, Workers
from fidelitree.certificates.certificate import Certificate, assumptions
from fidelitree.certificates.confusion import CONFIDENCE, Confusion
from fidelitree.certificates.deferral import DrawnBet, certified_coverage
from fidelitree.errors import (
    ParameterError,
    check_delta,
    check_entropy,
    check_epsilon,
    check_observer,
    check_one_kind,
    check_share,
    check_switch,
    check_tolerance,
    show,
)
from fidelitree.exact.engine import ENUMERATE_UNASKED, MOST_LISTED, free_of_charge, known_error, tree_labels
from fidelitree.runs import economics
from fidelitree.runs.agree.audited import TestInputs, labels_of, prediction_of, source_of
from fidelitree.runs.agree.claim import FEW, PATIENCE, Approval, AuditGoal, Claim, HowFar
from fidelitree.runs.agree.device_tests import DeviceTests
from fidelitree.runs.goal import exact_certificate
from fidelitree.runs.kept_rows import KeptRows, doubted, told
from fidelitree.spaces.draw import Stream, block_rows, fresh_entropy, fresh_seed, seed_of
from fidelitree.spaces.rows import ASSUMES_UNSEEN
from fidelitree.theory.sequential import Bet
from fidelitree.trees.answers import Crosstab, answered, apart
from fidelitree.trees.tree import Tree

if TYPE_CHECKING:
    from fidelitree.asking.counted import Counted
    from fidelitree.spaces.world import World
    from fidelitree.targets.labels import Target

ASSUMES_UNCHANGED = "the predictor was not changed since the journal was begun"


def certify(
    predictor: Any,
    target: Any,
    space: Any,
    epsilon: float | None = None,
    delta: float = 0.05,
    *,
    groups: Any = None,
    within: float = 0.01,
    tolerance: float | None = None,
    threshold: float | None = None,
    seed: int | None = None,
    entropy: str | None = None,
    deterministic: bool = True,
    max_queries: int | None = None,
    max_seconds: float | None = None,
    max_cost: float | None = None,
    batch_size: int | None = None,
    executor: Workers | None = None,
    timeout: float | None = None,
    retries: int = 0,
    journal: str | os.PathLike[str] | None = None,
    observer: Observer = nobody,
) -> Certificate:
    """How far a predictor is from the target, or whether they agree on at least 1 - epsilon of inputs.

    Without an epsilon the audit ends when neither end of the disagreement is further than ``within`` from the middle.
    With one it is a claim, and ends once that is certified or shown to be false; undecided, after 64
    ln(1/delta)/epsilon labels. Trees, circuits and small spaces are counted exactly. A digest of the predictor goes
    into the draws. That of a tree tells it from all others; an audit of anything else adds fresh entropy, so that
    nobody can foresee its test inputs. Of `Rows` all are tests, each once: nobody may be fitted to them.

    Args:
        predictor: What is audited: a tree, a callable from a batch to labels, or anything with ``predict``.
        target: What is explained: a callable from a batch of inputs to labels, or a fitted model.
        space: Where inputs come from: any space, or a table, to one half of which a `ChowLiu` is fitted.
        epsilon: The error that is claimed; None asks for both ends of the error.
        delta: The chance that the run states a false bound.
        groups: The column of a table that says which rows belong together, or an entry for each row.
        within: Without an epsilon: how far the ends may be from the middle between them.
        tolerance: For targets that answer numbers: an error is to be further away than this.
        threshold: Turns scores into labels: 1 above this value, otherwise 0; of a classifier, by its second class.
        seed: Chooses all draws: the same seed gives the same result. None takes a fresh one, which is recorded.
        entropy: That of an earlier certificate, to replay its audit; fresh where it is left out.
        deterministic: False where the target may answer an input differently each time: no answer is remembered.
        max_queries: Ends the run after so many labels, with what is certified by then.
        max_seconds: Ends the run after so many seconds, with what is certified by then.
        max_cost: Ends the run before the target's prices add up to more.
        batch_size: The most inputs that one call of the target receives.
        executor: Runs calls elsewhere: a `concurrent.futures.Executor`, a function that makes one, or "joblib".
        timeout: The longest silence of the executor's workers, in seconds.
        retries: How often a call that failed is made again.
        journal: The file that keeps every answer: the same call goes on from there, and `verify` checks by it.
        observer: Receives an event for each step of the run; `Progress` is one.

    Returns:
        The certificate. ``interval`` has both ends of the error, ``holds`` says whether the claim is certified.

    Raises:
        ParameterError: An argument breaks its rule.
        TargetError: The target failed, or answered something that is no label.
        JournalError: The journal cannot be opened or written.

    Examples:
        >>> from fidelitree import ProductSpace, targets
        >>> str(certify(Tree.constant(bits := ProductSpace.bernoulli(3), 1), targets.majority(3), bits, 0.05))[:61]
        'Exact: this tree agrees with the target on 50% of all inputs.'
    """
    rule, near = _rule(epsilon, check_delta(delta), within), check_tolerance(tolerance, threshold)
    check_observer(observer)
    target, space = as_used(target, space, threshold, groups=groups)
    known_seed, fresh = _keys(predictor, seed, entropy)
    budget = Budget(max_queries, None, max_seconds, max_cost).priced(target, batch_size)
    running = Running(batch_size, executor, timeout, retries, journal)
    predict, digest = prediction_of(predictor, space, rule, near is not None)
    asked = {**rule.told, "deterministic": check_switch("deterministic", deterministic), "predictor": digest}
    asked |= budget.limits() | ({} if near is None else {"tolerance": near})
    call = Call("certify", known_seed, seed is not None, asked, fresh, entropy is not None)
    with access(target, space, running, call) as opened:
        # Memory would save nothing where all inputs are asked once, and mislead about a noisy target elsewhere.
        audit = _Audit(opened.counted(None, budget, observer), predict, digest, rule, predictor, near)
        kept, error = KeptRows.ask(audit.counted, space), audit.looked_up(space)
        if error is None and audit.can_enumerate(space, deterministic):
            error, bet = audit.count_all(), DrawnBet(rule.level)
        elif error is None:
            bet = audit.test(audit.source(space, opened), observer)
        found = audit.tested(bet, space, opened) if error is None else audit.exact(error)
        found = told(found, kept, lambda inner: labels_of(predict, inner))
        opened.end(audit.counted, "certified" if found.holds else "not certified")
    doubted(found)
    return found


def approved(
    tree: Tree, target: Target, space: World, rule: Approval, tolerance: float | None, deterministic: bool
) -> tuple[Certificate, bool | None]:
    """How far a tree that was approved is from the target on fresh inputs, and whether that is still approved.

    The draws are nobody's choice, so that no model can be made to pass on them.
    """
    predict, digest = prediction_of(tree, space, rule, tolerance is not None)
    asked = rule.told | {"deterministic": deterministic} | ({} if tolerance is None else {"tolerance": tolerance})
    budget, call = Budget(int(rule.patience)), Call("certify", fresh_seed(), False, asked)
    with access(target, space, Running(), call) as opened:
        audit = _Audit(opened.counted(None, budget), predict, digest, rule, tree, tolerance)
        error, bet = audit.looked_up(space), DrawnBet(rule.level)
        if error is None and audit.can_enumerate(space, deterministic):
            error = audit.count_all()
        elif error is None:
            bet = audit.test(audit.source(space, opened), nobody)
        if error is not None:
            return audit.exact(error), error <= rule.high
        return audit.tested(bet, space, opened), rule.verdict(bet.errors, bet.samples)


def _keys(predictor: Any, seed: int | None, recorded: str | None) -> tuple[int, str | None]:
    """Seed, and what nobody could foresee when the predictor was made; a tree needs none, whose digest says all."""
    known_seed = seed_of(seed)
    if recorded is None:
        return known_seed, None if isinstance(predictor, Tree) else fresh_entropy()
    if isinstance(predictor, Tree):
        raise ParameterError(
            f"entropy must be None where a tree is audited: its digest takes its place; got {show(recorded)}"
        )
    if seed is None:
        raise ParameterError("seed must be that of the certificate whose entropy is given; got None")
    return known_seed, check_entropy(recorded)


def _rule(epsilon: float | None, delta: float, within: float) -> Claim | HowFar:
    """What the audit is to find out."""
    if epsilon is not None:
        return Claim(check_epsilon(epsilon), delta)
    return HowFar(check_share("within", within), delta)


@dataclass(frozen=True)
class _Audit:
    """One predictor against one target."""

    counted: Counted
    predict: Target
    digest: str
    rule: AuditGoal
    predictor: Any
    tolerance: float | None = None
    both: Crosstab = field(default_factory=Crosstab)

    @property
    def epsilon(self) -> float | None:
        """The error that is claimed."""
        return self.rule.epsilon if isinstance(self.rule, Claim) else None

    def source(self, space: World, opened: Access) -> TestInputs:
        """Inputs as they come, chosen by the seed, the predictor's digest and what nobody could foresee."""
        key = [self.digest] if opened.entropy is None else [self.digest, opened.entropy]
        stream, usual = Stream.named(opened.seed, "certify").child(*key), self.tolerance is not None or self.defers
        if usual or not isinstance(self.predictor, Tree):
            return source_of(space, stream)
        return replace(source_of(space, stream), device=DeviceTests.of(self.counted, self.predictor, space, stream))

    @property
    def defers(self) -> bool:
        """Whether the predictor is a tree that does not answer everything."""
        return isinstance(self.predictor, Tree) and self.predictor.defers

    def tested(self, bet: DrawnBet, space: World, opened: Access) -> Certificate:
        """The certificate of what a bet has shown, which may be nothing."""
        errors, samples = bet.counts
        unseen = () if space.table is None else (ASSUMES_UNSEEN,)
        # Its digest tells a tree from all others, and who resumes knows the next inputs of any other predictor.
        unchanged = (ASSUMES_UNCHANGED,) if opened.resumed and opened.entropy is not None else ()
        foreseen = opened.seed_chosen and opened.entropy is None
        masses, tree = space.masses, self.predictor
        share = certified_coverage(tree, bet, self.rule.ledger, masses) if self.defers else None
        return Certificate(
            self.epsilon,
            self.rule.delta,
            bet.error_bound,
            samples,
            errors,
            "sequential",
            self.digest,
            space.digest,
            seed=opened.seed,
            seed_chosen=opened.seed_chosen,
            assumes=assumptions(False, space.assumes + unseen + unchanged, foreseen),
            ledger=self.rule.ledger,
            level=bet.level,
            queries=dict(self.counted.queries.asked),
            entropy=opened.entropy,
            replayed=opened.replayed,
            confusion=self.confusion(1 - CONFIDENCE, bet.samples) if self.tolerance is None else None,
            tolerance=self.tolerance,
            cost=self.counted.cost,
            coverage=share,
            drawn=bet.drawn if self.defers else None,
        )

    def confusion(self, level: float | None, inputs: float = math.inf) -> Confusion | None:
        """The table of both answers to the first so many inputs, or of two that are known."""
        table, missing, judged = self.both.table(inputs), None, self.predictor
        if isinstance(judged, Tree):
            if level is None and not table:
                known = tree_labels(judged, self.counted.target, self.counted.space)
                return Confusion.of_leaves(known, judged, level)
            given = judged.labels[judged.code[judged.feature < 0]].tolist()
            missing = sorted({*self.counted.book.seen} - {*given})
        return Confusion.of(table, level, missing)

    def looked_up(self, space: World) -> float | None:
        """The exact error of a tree or a circuit, which costs nothing; what a table's rows leave out nobody knows."""
        known = space.independent is not None and self.tolerance is None and not self.defers
        return known_error(self.predictor, self.counted.target, self.counted.space) if known else None

    def can_enumerate(self, space: World, deterministic: bool) -> bool:
        """Whether asking about every input is free, or costs no more than drawing."""
        if space.independent is None or self.tolerance is not None or self.defers:
            if self.epsilon == 0:
                where = f"inputs are {space.in_words}" if self.tolerance is None else "a tolerance is given"
                where = "the tree defers" if self.defers else where
                raise ParameterError(f"epsilon must be above 0 where {where}; got 0")
            return False
        points, limit = self.counted.space.points, self.counted.budget.max_queries
        few = points is not None and points <= min(MOST_LISTED, points if limit is None else limit)
        if deterministic and points is not None and few:
            if free_of_charge(self.counted) or (limit is None and self.epsilon == 0 and points <= ENUMERATE_UNASKED):
                return True
            if points <= self._worth(limit):
                return True
        if self.epsilon == 0:
            extent = self.counted.space.extent
            raise ParameterError(f"epsilon must be above 0 where {extent} are too many to ask all; got 0")
        return False

    def _worth(self, limit: int | None) -> int:
        """Inputs that are no more than a test would take."""
        if self.epsilon is None:
            return FEW
        return Bet(self.rule.level).needed_for(self.epsilon) if self.epsilon else limit or 0

    def count_all(self) -> float | None:
        """The error over every input, each weighed by its probability; None where a budget ends it.

        Then some inputs are known, which tell nothing about the others.
        """
        space, whole = self.counted.space, self.counted.space.whole
        wrong, points, rows = 0.0, space.points, block_rows(len(space))
        assert points is not None, "only finite spaces are counted"
        for start in range(0, points, rows):
            batch = whole.inputs(start, min(start + rows, points))
            chances = space.chances(batch)
            try:
                labels = self.counted.labels(self.counted.ask(batch, "certify"))
            except BudgetSpent:
                return None
            wrong += float(chances[self._mistakes(batch, labels, chances)].sum())
        return wrong

    def exact(self, error: float) -> Certificate:
        """The certificate of an error that is known."""
        known = exact_certificate(self.counted, self.digest, error, self.epsilon)
        return replace(known, ledger=self.rule.ledger, confusion=self.confusion(None))

    def test(self, source: TestInputs, observer: Observer) -> DrawnBet:
        """Inputs as they come, but for those that a tree defers, until the rule has seen enough, or patience ends."""
        bet, taken, block, size = DrawnBet(self.rule.level), 0, 0, block_rows(len(self.counted.space))
        while looks := self._allowed(wanted := self.rule.looks(bet), bet, taken, source):
            observer(UnderTest(self.counted.asked, 0, bet.errors, bet.samples, bet.level, wanted[0]))
            parts, first = [], block
            for rows in looks:
                if source.device is None:
                    part = source.take(block, taken, rows)
                    parts.append(part[answered(self.predictor, part)] if self.defers else part)
                taken, block = taken + rows, block - -rows // size
            try:
                if source.device is not None:
                    self._see_there(bet, looks[0], source.device.count(first, looks[0]), observer)
                    continue
                whole = np.concatenate(parts) if len(parts) > 1 else parts[0]
                labels = self.counted.labels(self.counted.ask(whole, "certify")) if len(whole) else np.zeros(0)
                self._see(bet, list(zip(looks, parts, strict=True)), labels, observer)
            except (BudgetSpent, KeyboardInterrupt):
                return bet
        return bet

    def _see_there(self, bet: DrawnBet, rows: int, found: Counter[tuple[Any, Any]], observer: Observer) -> None:
        """Answers that were counted on the target's device."""
        self.both.add(rows, found)
        bet.draw(rows)
        bet.count(sum(count for (label, own), count in found.items() if label != own), rows)
        observer(TreeJudged(self.counted.asked, 0, bet.errors / bet.samples, bet.error_bound))

    def _see(
        self, bet: DrawnBet, looks: list[tuple[int, NDArray[Any]]], labels: NDArray[Any], observer: Observer
    ) -> None:
        """Count answers look by look, until one of them ends the audit."""
        for number, (rows, part) in enumerate(looks):
            if number and not self.rule.needed(bet):
                return
            if len(part):
                wrong, labels = self._mistakes(part, labels[: len(part)]), labels[len(part) :]
                bet.draw(rows)
                bet.count(int(wrong.sum()), len(part))
                observer(TreeJudged(self.counted.asked, 0, bet.errors / bet.samples, bet.error_bound))
            else:
                bet.draw(rows)

    def _allowed(self, looks: list[int], bet: DrawnBet, taken: int, source: TestInputs) -> list[int]:
        """Inputs until the next looks, as far as they may be asked about together; one look where a clock runs.

        Where a tree defers most inputs, many are looked at for each that is asked about. On a device looks at the
        counts take time, so they get rarer.
        """
        limit, affordable, there = self.counted.budget.max_queries, self.counted.left, source.device is not None
        patience = self.rule.patience if limit is None else limit
        left = min(patience - bet.samples, (PATIENCE if self.defers else 1) * patience - taken, source.most - taken)
        left = left if affordable is None else min(left, affordable)  # some rows were asked again
        found: list[int] = []
        size = block_rows(len(self.counted.space))  # what fits into memory well
        size *= max(1, int(economics.PART_IN_HASTE * bet.samples / size)) if there else 1
        together = self.counted.budget.max_seconds is None and not self.defers and not there
        for wanted in looks if together else looks[:1]:
            if found and sum(found) + wanted > size:
                break
            found.append(int(min(wanted, left - sum(found), size)))
            if found[-1] < wanted:
                break
        return [rows for rows in found if rows > 0]

    def _mistakes(
        self, batch: NDArray[Any], labels: NDArray[Any], weights: NDArray[np.float64] | None = None
    ) -> NDArray[np.bool_]:
        """Where the predictor answers otherwise than the target did."""
        predicted = labels_of(self.predict, batch)
        check_one_kind("predictor", predicted, labels)
        if self.tolerance is None:
            self.both.count(labels, predicted, weights)
        return apart(predicted, labels, self.tolerance)
