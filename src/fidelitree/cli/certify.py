"""``fidelitree certify``: audit a predictor that somebody else made."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fidelitree.cli.ending import AsJson, Code, StatusLine, check_place, note, say, say_json
from fidelitree.cli.shared_options import (
    AuditOptions,
    Budgets,
    Confidence,
    MoneyLimit,
    Threshold,
    goes_on,
    interruptible,
    keywords,
    write_and_tell,
)
from fidelitree.cli.space_options import SpaceOptions
from fidelitree.cli.target_options import TargetOptions, TargetText, both, opened

if TYPE_CHECKING:
    from fidelitree.certificates.certificate import Certificate

PredictorText = Annotated[
    str, typer.Argument(metavar="PREDICTOR", help="tree.json, a result folder, or anything that TARGET may be.")
]


@dataclass(frozen=True)
class ClaimOptions:
    """The error that the predictor is said to keep."""

    epsilon: Annotated[
        float | None, typer.Option(help="The error that is claimed; how far apart they are unless given.")
    ] = None
    within: Annotated[float, typer.Option(help="Without --epsilon: how close both ends must come.")] = 0.01


@dataclass(frozen=True)
class CertifyOptions(AuditOptions, MoneyLimit, Budgets, Confidence, ClaimOptions):
    """Everything that `ft.certify` can be told."""

    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the test inputs; the machine's own entropy unless given.")
    ] = None
    entropy: Annotated[
        str | None,
        typer.Option(metavar="HEX", help="With --seed: replay the audit whose certificate has this entropy."),
    ] = None
    tolerance: Annotated[
        float | None, typer.Option(metavar="T", help="Answers are numbers, and agree where no further apart than T.")
    ] = None
    threshold: Threshold = None
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the certificate as JSON.")] = None


def certify(
    predictor: PredictorText,
    target: TargetText,
    reading: TargetOptions,
    inputs: SpaceOptions,
    options: CertifyOptions,
    as_json: AsJson = False,
) -> int:
    """Certify how often a predictor agrees with a target, on fresh inputs.

    The predictor may be a tree of yours or any model. Options that say how to read it apply to TARGET only. Ends with 6
    if rows of the table that were kept aside refute what is certified over draws. Ctrl-C ends it with what is certified
    by then, and with 7 if that is not what was asked for.
    """
    from fidelitree.runs.agree.audit import certify as certify_predictor
    from fidelitree.trees.tree import Tree

    check_place("--out", options.out)
    with ExitStack() as stack:
        came = stack.enter_context(interruptible())
        judged = stack.enter_context(opened(predictor, TargetOptions(trust_pickle=reading.trust_pickle)))
        reading, timeout = reading.for_workers(target)
        found = stack.enter_context(opened(target, reading))
        space = inputs.open(both(found, judged))
        progress = stack.enter_context(
            StatusLine(f"certifying {predictor}", options.epsilon, (options.max_queries, options.max_seconds))
        )
        certificate = certify_predictor(
            judged.target,
            found.target,
            space,
            **keywords(options, "journal", "out"),
            observer=progress,
            **stack.enter_context(options.arguments(options.journal, timeout)),
        )
    tree = judged.target
    leaves = tree.size if isinstance(tree, Tree) else None
    write_and_tell(
        lambda: _written(certificate, options.out), lambda: _tell(certificate, leaves, as_json), options.out, as_json
    )
    low, high = certificate.interval
    if certificate.holds and (options.epsilon is not None or high - low <= 2 * options.within):
        return Code.REFUTED_BY_ROWS if certificate.refuted_by_rows else Code.CERTIFIED
    note(f"interrupted: {goes_on(options.journal)}" if came else certificate.standing.words)
    return Code.INTERRUPTED if came else Code.NOT_CERTIFIED


def _written(certificate: Certificate, path: Path | None) -> list[Path]:
    if path is None:
        return []
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(certificate.to_json() + "\n", encoding="utf-8")
    return [path]


def _tell(certificate: Certificate, leaves: int | None, as_json: bool) -> None:
    if as_json:
        standing = {"certified": certificate.holds, "standing": certificate.standing.state}
        say_json({**standing, "sentence": str(certificate), "certificate": certificate.to_dict()})
        return
    say(certificate, *certificate.sentences(leaves))
    if certificate.entropy is not None and not certificate.replayed:
        say(f"To replay this audit: --seed {certificate.seed} --entropy {certificate.entropy}")
    elif certificate.method != "exact" and not certificate.seed_chosen:
        say(f"To repeat this audit: --seed {certificate.seed}")
