"""Certificates: what is promised about a tree, to whom, and on which evidence."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from typing import TYPE_CHECKING, Any

from fidelitree.asking.journal.run import versions as versions_now
from fidelitree.certificates import confusionfile
from fidelitree.certificates.helped import Help
from fidelitree.certificates.real_rows import RealRows
from fidelitree.display.card import Status, card, standing
from fidelitree.display.frontier_chart import Mark
from fidelitree.display.wording import at_least, at_most, counted, goal_of, percent, span, whole
from fidelitree.errors import FormatError, check_stored, is_entropy, is_json, is_text, json_kinds, read_json
from fidelitree.spaces.product import ASSUMES_DISTRIBUTION
from fidelitree.theory.sequential import AUDIT, INTERVAL, LEDGERS, WHOLE, coverage_bound, least_error

if TYPE_CHECKING:
    from fidelitree.certificates.confusion import Confusion

check_certificate = partial(check_stored, "certificate")
ASSUMES_DETERMINISTIC = "the target is deterministic"
ASSUMES_UNFORESEEN = "the seed was given, and neither the target nor the predictor was made knowing these inputs"
FORMAT = "fidelitree.certificate"
VERSION = 2
"""Of version 1, ``errors`` are those of the tree that was tested, also where another one was returned."""
METHODS = ("exact", "fixed", "sequential")
PROTOCOLS = ("separate", "prequential")
OF_ANSWERS = "answers:"
"""How the digest of a predictor begins that is no tree: it is one of answers, not of nodes."""


def assumptions(
    deterministic: bool, inputs: tuple[str, ...] = (ASSUMES_DISTRIBUTION,), seed_chosen: bool = False
) -> tuple[str, ...]:
    """What a certificate takes for granted; of a noisy target, every test input must have been asked anew.

    Whoever chose the seed could know its inputs.
    """
    told = (ASSUMES_DETERMINISTIC, *inputs) if deterministic else inputs
    return (*told, ASSUMES_UNFORESEEN) if seed_chosen else told


@dataclass(frozen=True)
class Certificate:
    """With probability at least 1 - delta, the tree's error is at most ``error_bound``.

    The bound of a sequential certificate follows from its errors, samples and level; `sentences` adds what else is
    known.

    Attributes:
        epsilon: The error asked for; None where the best tree within a budget was.
        delta: The chance that the run states a false bound; 0 where it is exact.
        error_bound: The error that is certified.
        samples: How many test inputs were counted.
        errors: On how many of them this tree and the target differ; None where that was not counted.
        method: "exact": every input was counted; "fixed": so many tests were planned; "sequential": an any-time test.
        tree_digest: SHA-256 of the tree that the promise is about.
        space_digest: SHA-256 of where inputs come from.
        seed: Chose all draws.
        split_quality: Whether each split is also promised to be within 1/4 of the best, with probability 1 - delta.
        assumes: What is taken for granted.
        protocol: Test inputs taught nobody ("separate"), or only after they were counted ("prequential").
        attempts: How many tests were opened, by earlier runs of the same journal too.
        attempt: Which of them this is.
        ledger: Attempts of one ledger share a part of delta: run 19/20, standing 3/100, frontier 23/25.
        level: The attempt's own share of delta.
        differs: The tree that was tested disagrees with this one on exactly that share of inputs.
        seed_chosen: Whether somebody chose the seed.
        queries: Labels asked, by purpose.
        versions: What it was made with.
        tested_digest: SHA-256 of the tree that was tested, where it is another one.
        tested_errors: On how many test inputs that one and the target differ: its bound and ``differs`` give this one.
        entropy: Went into the test inputs of an audit beside the seed, so that nobody could foresee them.
        replayed: Whether that entropy was given, so that the test inputs were known.
        confusion: The target's answers against the tree's; its intervals are no part of delta.
        real_rows: The error on rows that were kept aside, where inputs come from a world fitted to others.
        helped: The surrogate that shortened the test, where one did.
        tolerance: Answers are numbers, and an error is to be further away than this.
        cost: What all answers cost, where the target has a price; without calls that failed.
        coverage: The share of inputs that the tree answers itself, at least; errors are those among them.
        drawn: How many inputs were drawn, where some were deferred.

    Examples:
        >>> from fidelitree.runs.distill import distill
        >>> from fidelitree.spaces.product import ProductSpace
        >>> found = distill(lambda bits: bits[:, 0], ProductSpace.bernoulli(3), epsilon=0).certificate
        >>> found.method, found.error_bound, found.holds
        ('exact', 0.0, True)
    """

    epsilon: float | None
    delta: float
    error_bound: float
    samples: int
    errors: int | None
    method: str
    tree_digest: str
    space_digest: str
    seed: int | None = None
    split_quality: bool = False
    assumes: tuple[str, ...] = (ASSUMES_DETERMINISTIC, ASSUMES_DISTRIBUTION)
    protocol: str = "separate"
    attempts: int = 1
    attempt: int = 1
    ledger: str = "run"
    level: float | None = None
    differs: float = 0.0
    seed_chosen: bool = True
    queries: Mapping[str, int] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=versions_now)
    tested_digest: str | None = None
    tested_errors: int | None = None
    entropy: str | None = None
    replayed: bool = False
    confusion: Confusion | None = None
    real_rows: RealRows | None = None
    helped: Help | None = None
    tolerance: float | None = None
    cost: float | None = field(default=None, compare=False)
    coverage: float | None = None
    drawn: int | None = None

    @property
    def lost(self) -> float:
        """What a frontier makes smaller: the error, or the share of inputs that a tree defers."""
        return self.error_bound if self.coverage is None else 1.0 - self.coverage

    @property
    def errors_of_test(self) -> int | None:
        """The errors from which the bound follows: those of the tree that was tested."""
        return self.errors if self.tested_errors is None else self.tested_errors

    @property
    def agreement(self) -> str:
        """The agreement that is certified, as every surface shows it; one that is exact has two digits at once."""
        return at_least(self.error_bound, self._goal)

    @property
    def error_at_most(self) -> str:
        """The error that is certified, as every surface shows it."""
        return at_most(self.error_bound, self._goal)

    @property
    def _goal(self) -> float | None:
        """What the digits of the agreement must tell it from."""
        return self.error_bound if self.method == "exact" else self.epsilon

    def mark(self, leaves: int, knee: bool) -> Mark:
        """The certificate as a point of a drawing, and as a line of a table."""
        defers = self.coverage is not None
        return Mark(leaves, *self.ends, knee, coverage=defers, tolerance=self.tolerance, goal=self._goal)

    @property
    def holds(self) -> bool:
        """Whether the error asked for was certified; where none was named, whether anything was."""
        return self.error_bound < 1 if self.epsilon is None else self.error_bound <= self.epsilon

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends of the error, true together with all that the run states; 0 where no lower end was kept."""
        if self.method == "exact":
            return self.error_bound, self.error_bound
        older = self.protocol == "separate" and self.ledger not in (AUDIT, INTERVAL)
        errors = self.errors_of_test
        if older or self.level is None or not errors or self.coverage is not None:
            return 0.0, self.error_bound
        least = least_error(errors, self.samples, self.ledger, self.level) - self.differs
        return min(max(0.0, least), self.error_bound), self.error_bound

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends of what is lost: of the error, or of the share that is deferred."""
        if self.coverage is None or self.drawn is None or self.level is None:
            return self.interval
        counted = coverage_bound(self.samples, self.drawn, self.ledger, self.level) if self.drawn else 0.0
        return (0.0 if self.coverage == counted else self.lost), self.lost

    @property
    def standing(self) -> Status:
        """In words: certified, goal met; certified at some agreement, goal missed; nothing certified."""
        return standing(self.epsilon, self.error_bound, self.method == "exact")

    def sentences(self, leaves: int | None) -> list[str]:
        """How far a constant would get, and which labels the tree never answers; nothing where no answers tell.

        ``leaves`` are those of the tree, None for another predictor.
        """
        lines = [] if self.real_rows is None else self.real_rows.sentences(self.interval, self.agreement)
        if self.coverage is not None:  # a constant would have to answer what is deferred
            return lines
        return lines + ([] if self.confusion is None else self.confusion.sentences(self.holds, leaves))

    @property
    def refuted_by_rows(self) -> bool:
        """Whether real rows show a larger error than is certified over draws: the draws are not like these rows."""
        return self.real_rows is not None and self.real_rows.refutes(self.error_bound)

    def doubts(self, leaves: int | None) -> list[str]:
        """What nobody should miss: what real rows say, and which labels the tree never answers."""
        lines = [] if self.real_rows is None else self.real_rows.sentences(self.interval, self.agreement)
        if self.confusion is None or self.coverage is not None:  # what a tree defers is not lost
            return lines
        return lines + self.confusion.never_answers(leaves)

    def __str__(self) -> str:
        """Two lines: the promise; its basis and what it assumes."""
        assumes = f" Assumes: {'; '.join(self.assumes)}." if self.assumes else ""
        return f"{self._promise()}\n{self._basis()}{assumes}{_REPLAY if self.replayed else ''}"

    def _promise(self) -> str:
        if self.coverage == 0:
            return f"Coverage is nil: this {self._subject} asks the target about every input.{self._missed}"
        if self.standing.state == "nothing":
            return f"Nothing is certified about this {self._subject}.{self._missed}"
        agrees = f"this {self._subject} {self._verb} the target on"
        if self.coverage is not None:
            return self._deferring(agrees)
        if self.method == "exact":
            return f"Exact: {agrees} {self.agreement} of all inputs.{self._missed}"
        low, high = self.interval
        share = f"at least {self.agreement}" if self.ledger != INTERVAL else span(1 - high, 1 - low)
        asked = f" (asked for: {goal_of(self.epsilon)})" if self.holds and self.epsilon is not None else ""
        return f"Certified: {agrees} {share} of inputs, with {at_least(self.delta)} confidence{asked}.{self._missed}"

    def _deferring(self, agrees: str) -> str:
        """How much it answers, and how well."""
        rest = "asks the target about the rest" if self.lost else "defers nothing"
        share = f"at least {self.agreement} of the inputs that it answers"
        answers = f"It answers at least {at_least(self.lost)} of all inputs, and {rest}."
        return f"Certified: {agrees} {share}, with {at_least(self.delta)} confidence. {answers}{self._missed}"

    @property
    def _verb(self) -> str:
        return "agrees with" if self.tolerance is None else f"is within {self.tolerance:.6g} of"

    @property
    def _missed(self) -> str:
        if self.holds or self.epsilon is None:
            return ""
        return f" NOT certified: the {goal_of(self.epsilon)} that was asked for."

    @property
    def _subject(self) -> str:
        return "predictor" if self.tree_digest.startswith(OF_ANSWERS) else "tree"

    def _basis(self) -> str:
        if self.method == "exact":
            return f"Every input was counted.{self._paid}"
        if not self.samples:
            return f"No input was tested.{self._paid}"
        tested = f"Tested on {counted(self.samples, 'fresh input')}: "
        if self.errors is not None:
            tested += f"this {self._subject} disagreed on {whole(self.errors)}."
        else:
            tested += f"{counted(self.tested_errors or 0, 'disagreement')} with a tree close to this one (see details)."
        others = (self.drawn or 0) - self.samples
        passed = f" {counted(others, 'more input was', 'more inputs were')} drawn that it defers." if others > 0 else ""
        return f"{tested}{passed}{self._paid}"

    def details(self) -> list[str]:
        """How the bound follows from the counts, in sentences for whoever wants to work it out again."""
        if self.method != "sequential" or self.level is None:
            return []
        errors = self.errors_of_test or 0
        test = f"an any-time test at level {self.level:.4g}, a part of delta = {self.delta:.4g}"
        lines = [f"The bound is that of {test}: attempt {self.attempt} of {self.attempts} in ledger {self.ledger!r}."]
        if self.tested_errors is not None:
            alone = self.error_bound - self.differs
            lines.append(
                f"Another tree was tested, which disagreed with the target on {errors:,} of {self.samples:,} inputs: "
                f"its error is at most {alone:.6g}. This tree differs from it on exactly {self.differs:.6g} of inputs, "
                f"so its own error is at most {self.error_bound:.6g}."
            )
        if self.helped is not None:
            lines.append(
                "A second model was used to shorten the test: it differs from this tree on "
                f"{percent(self.helped.differs)} of inputs."
            )
        return lines

    @property
    def _paid(self) -> str:
        return "" if self.cost is None else f" All answers cost {self.cost:,.6g}."

    def _repr_html_(self) -> str:
        facts = [("Method", self.method), ("Bound on the error", self.error_at_most)]
        facts += [] if self.coverage is None else [("Coverage, at least", at_least(self.lost))]
        if self.method != "exact":
            facts += [("Confidence", at_least(self.delta)), ("Test inputs", whole(self.samples))]
        return card(self.standing, str(self), facts)

    def to_dict(self) -> dict[str, Any]:
        """Plain data under a versioned schema."""
        table = None if self.confusion is None else confusionfile.to_dict(self.confusion)
        told = {**asdict(self), "confusion": table}
        if self.real_rows is not None:
            told["real_rows"] = {**self.real_rows.to_dict(), "refutes": self.refuted_by_rows}
        for name in ("tested_errors", "helped", "coverage", "drawn", "cost"):  # rare
            if told[name] is None:
                del told[name]
        return {"format": FORMAT, "version": VERSION, "holds": self.holds, **told}

    def to_json(self) -> str:
        """The certificate as JSON text."""
        return json.dumps(self.to_dict(), indent=1)

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """The inverse of `to_json`; FormatError says what is wrong with anything else."""
        try:
            data = read_json(text)
        except (TypeError, ValueError, RecursionError) as error:
            raise FormatError(f"not a stored certificate: it is not JSON: {error}") from None
        return cls.from_dict(data)

    @classmethod
    def from_dict(cls, data: Any) -> Certificate:
        """The inverse of `to_dict`."""
        named = isinstance(data, dict) and data.get("format") == FORMAT
        check_certificate(named, f'it must be an object with "format": "{FORMAT}"')
        version = data.get("version")
        check_certificate(version in (1, VERSION), f"its version must be 1 or {VERSION}; got {version!r}")
        names = {entry.name for entry in fields(cls)}
        data = {**_YOUNGER, **data}
        if version == 1 and data["tested_digest"] is not None:
            data = {**data, "tested_errors": data.get("errors"), "errors": None}
        odd = sorted(set(data) ^ (names | {"format", "version", "holds"}))
        check_certificate(not odd, f"missing or unknown entries: {', '.join(odd):.200}")
        _check_kinds(data)
        _check_ranges(data)
        table = None if data["confusion"] is None else confusionfile.from_dict(data["confusion"])
        real = None if data["real_rows"] is None else RealRows.from_dict(data["real_rows"])
        helped = None
        if data["helped"] is not None:
            helped = Help.from_dict(data["helped"], data["tested_errors"] or data["errors"] or 0, data["samples"])
        kept = {**{name: data[name] for name in names}, "assumes": tuple(data["assumes"])}
        certificate = cls(**{**kept, "confusion": table, "real_rows": real, "helped": helped})
        same = certificate.holds == data["holds"]
        check_certificate(same, "it says that it holds, and its numbers say otherwise")
        said = (data["real_rows"] or {}).get("refutes", certificate.refuted_by_rows)
        same = said is certificate.refuted_by_rows
        check_certificate(same, "real_rows says whether it refutes the bound, and its numbers say otherwise")
        return certificate


_REPLAY = " This is a replay of an audit: it proves nothing about a predictor that was changed since."
# Younger than the first certificates, which do without:
_YOUNGER: dict[str, Any] = {
    **dict.fromkeys(("tested_digest", "entropy", "confusion", "real_rows", "helped", "tolerance", "coverage")),
    **dict.fromkeys(("drawn", "cost", "tested_errors")),
    "replayed": False,
    "ledger": WHOLE,
}
_NUMBERS = ("delta", "error_bound", "differs", "epsilon", "level")
_KINDS = {**json_kinds(Certificate), "holds": (bool,)}
_ENTRIES: dict[str, type] = {"queries": int, "versions": str}
_LEAST_LEVEL = 1e-300  # no attempt spends less, and parts of it are numbers still
_MOST = 1 << 63  # more than anything counts, and than SciPy takes
_KIND_NAMES = {
    float: "a number",
    int: "a whole number",
    str: "text",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


def _check_kinds(data: Mapping[str, Any]) -> None:
    for name, kinds in _KINDS.items():
        right = is_json(data[name], kinds)
        check_certificate(right, f"{name} must be {_KIND_NAMES[kinds[0]]}; got {data[name]!r:.80}")
    sentences = all(map(is_text, data["assumes"]))
    check_certificate(sentences, f"assumes must hold sentences; got {data['assumes']!r:.80}")
    for name, known in (("method", METHODS), ("protocol", PROTOCOLS), ("ledger", (*LEDGERS, WHOLE))):
        check_certificate(data[name] in known, f"{name} must be one of {', '.join(known)}; got {data[name]!r:.80}")
    for name, kind in _ENTRIES.items():
        right = all(is_json(entry, (kind,)) for entry in data[name].values())
        check_certificate(right, f"every entry of {name} must be {_KIND_NAMES[kind]}; got {data[name]!r:.80}")


def _check_ranges(data: Mapping[str, Any]) -> None:
    """Numbers from which a bound can follow; the kinds are right."""
    exact, near = data["method"] == "exact", data["tolerance"]
    counted = data["errors"] is not None or data["tested_errors"] is not None
    check_certificate(exact or counted, "errors may be missing in an exact one only")
    another = data["tested_digest"] is not None or data["tested_errors"] is None
    check_certificate(another, "tested_errors belong to another tree, which tested_digest must name")
    for name in ("errors", "tested_errors"):
        inside = 0 <= (data[name] or 0) <= data["samples"]
        check_certificate(inside, f"{name} must be between 0 and the samples")
    for name, most in (*dict.fromkeys((*_NUMBERS, "coverage"), 1.0).items(), ("cost", sys.float_info.max)):
        inside = data[name] is None or 0 <= data[name] <= most
        check_certificate(inside, f"{name} must be between 0 and {most:g}; got {data[name]!r}")
    check_certificate(near is None or 0 < near < math.inf, f"tolerance must be above 0; got {near!r:.80}")
    check_certificate(
        exact or data["delta"] not in (0, 1), "delta must be above 0 and below 1 unless it is an exact one"
    )
    spent = exact or data["level"] is None or data["level"] >= _LEAST_LEVEL
    check_certificate(spent, f"level must be above 0 unless it is an exact one; got {data['level']!r}")
    check_certificate(1 <= data["attempt"] <= data["attempts"], "attempt must be between 1 and the attempts")
    _check_keys(data)
    counts = {name: data[name] for name in ("samples", "attempts")} | {"drawn": data["drawn"] or 0}
    for name, count in (counts | {f"queries[{purpose!r:.40}]": n for purpose, n in data["queries"].items()}).items():
        check_certificate(0 <= count < _MOST, f"{name} must be at least 0 and below 2^63; got {count!r:.80}")


def _check_keys(data: Mapping[str, Any]) -> None:
    """What the test inputs were drawn with, and how many."""
    both = (data["coverage"] is None) == (data["drawn"] is None) and data["samples"] <= (data["drawn"] or _MOST)
    check_certificate(both, "coverage needs drawn, at least as many as the samples")
    seed, entropy = data["seed"], data["entropy"]
    check_certificate((seed or 0) >= 0, f"seed must be at least 0; got {seed!r:.80}")
    known = entropy is None or is_entropy(entropy)
    check_certificate(known, f"entropy must be 32 hexadecimal digits; got {entropy!r:.80}")
    replayed = data["replayed"] and entropy is None
    check_certificate(not replayed, "a replay must have the entropy of its audit; got None")
