"""``fidelitree analyze``: how much each feature matters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fidelitree.cli.ending import AsJson, Code, check_place, tell
from fidelitree.cli.shared_options import Threshold, interruptible, keywords, write_and_tell
from fidelitree.cli.space_options import SpaceOptions
from fidelitree.cli.target_options import TargetOptions, TargetText, opened
from fidelitree.errors import ParameterError

if TYPE_CHECKING:
    from fidelitree.runs.analysis.analyze import Analysis
    from fidelitree.spaces.features import Feature
    from fidelitree.spaces.world import World

_BAR = 30  # characters of the longest bar


@dataclass(frozen=True)
class AnalyzeOptions:
    """What `ft.analyze` can be told."""

    given: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FEATURE=WHAT",
            help="Only inputs where a feature is so: owner=1, age=18:30, job=nurse,pilot. Repeatable.",
        ),
    ] = None
    numbers: Annotated[
        bool, typer.Option("--numbers", help="The target answers numbers: Sobol indices, not influences.")
    ] = False
    threshold: Threshold = None
    method: Annotated[Literal["auto", "exact", "sampled"], typer.Option(help="auto: exact where that is cheap.")] = (
        "auto"
    )
    max_queries: Annotated[int | None, typer.Option(help="Labels that may be asked.")] = None
    delta: Annotated[float, typer.Option(help="Probability that an interval may be wrong.")] = 0.05
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the drawn inputs; a fresh one unless given.")] = None
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the influences (.png .svg .pdf); needs matplotlib.")
    ] = None


def analyze(
    target: TargetText, reading: TargetOptions, inputs: SpaceOptions, options: AnalyzeOptions, as_json: AsJson = False
) -> int:
    """Measure how often re-drawing each feature changes the label, with intervals.

    Ctrl-C ends it with 7 and without a result.
    """
    from fidelitree.runs.analysis.analyze import analyze as analyze_target
    from fidelitree.runs.analysis.sobol import SobolIndices

    if options.plot is not None:
        _check_plot(options.plot)
    if options.plot is not None and options.numbers:
        raise ParameterError("--plot must be left out with --numbers: it draws influences")
    with interruptible(), opened(target, reading) as found:
        space = inputs.open(found)
        ask: Any = analyze_target
        analysis = ask(found.target, space, given_of(options.given or (), space), **keywords(options, "given", "plot"))
    if isinstance(analysis, SobolIndices):
        tell(as_json, analysis.to_dict(), str(analysis), str(analysis.queries))
        return Code.CERTIFIED
    write_and_tell(
        lambda: _drawn(analysis, options.plot),
        lambda: tell(as_json, _plain(analysis), *_bars(analysis)),
        options.plot,
        as_json,
    )
    return Code.CERTIFIED


def _drawn(analysis: Analysis, path: Path | None) -> list[Path]:
    if path is None:
        return []
    path.parent.mkdir(parents=True, exist_ok=True)
    analysis.plot(path)
    return [path]


def given_of(texts: list[str] | tuple[()], space: World) -> dict[str, Any]:
    """The region that FEATURE=WHAT texts name."""
    features = {feature.name: feature for feature in space.features}
    region = {}
    for text in texts:
        cuts = [place for place, sign in enumerate(text) if sign == "=" and text[:place] in features]
        if not cuts:
            known = ", ".join(list(features)[:8]) + (", ..." if len(features) > 8 else "")
            raise ParameterError(f"--given must be FEATURE=WHAT with a feature of the space ({known}); got {text!r}")
        name, what = text[: cuts[-1]], text[cuts[-1] + 1 :]  # names and values may hold "=" too
        region[name] = _wanted(features[name], what)
    return region


def _wanted(feature: Feature, what: str) -> Any:
    """A value, an interval or some categories, as the kind of feature has it."""
    if feature.kind == "categorical":
        by_text = {str(value): value for value in feature.values or ()}
        return [by_text.get(part, part) for part in what.split(",")]
    try:
        if feature.kind == "boolean":
            return int(what)
        low, colon, high = what.partition(":")
        return (float(low) if low else None, float(high) if high else None) if colon else float(what)
    except ValueError:
        rule = "0 or 1" if feature.kind == "boolean" else "a number or an interval LOW:HIGH"
        raise ParameterError(f"--given {feature.name} must be {rule}; got {what!r}") from None


def _check_plot(path: Path) -> None:
    from fidelitree.display.canvas import check_suffix

    check_place("--plot", path)
    check_suffix("--plot", path)


def _bars(analysis: Analysis) -> list[str]:
    """The analysis with a bar for each feature, as long as its influence against the largest."""
    head, *lines = str(analysis).splitlines()
    longest, largest = max(map(len, lines)), max(analysis.influences.max(), 1e-300)
    ordered = sorted(analysis.influences, reverse=True)
    drawn = [
        f"{line:<{longest}}  {'█' * round(_BAR * influence / largest)}".rstrip()
        for line, influence in zip(lines, ordered, strict=True)
    ]
    shares = ", ".join(
        f"{label}: {share:.4f}" for label, share in zip(analysis.labels, analysis.label_probabilities, strict=True)
    )
    return [head, *drawn, f"labels: {shares}", str(analysis.queries)]


def _plain(analysis: Analysis) -> dict[str, Any]:
    influences = [
        {"feature": name, "influence": float(influence), "low": float(low), "high": float(high)}
        for name, influence, (low, high) in zip(analysis.names, analysis.influences, analysis.intervals, strict=True)
    ]
    shares = zip(analysis.labels, analysis.label_probabilities.tolist(), strict=True)
    return {
        "exact": analysis.exact,
        "delta": analysis.delta,
        "seed": analysis.seed,
        "reason": analysis.reason,
        "total_influence": analysis.total_influence,
        "influences": influences,
        "labels": [{"label": label, "probability": share} for label, share in shares],
        "queries": analysis.queries.to_dict(),
    }
