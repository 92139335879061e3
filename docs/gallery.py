"""Makes docs/gallery.md, its thumbnails and the reports of docs/demo: python docs/gallery.py (extra "bench").

Eight real models, a frontier of each: seed 0 and the same budget for all. Data that does not
come with scikit-learn lies in the folder that FIDELITREE_DATA names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import subjects
from benchmarks.frontier.cases import Case

import fidelitree as ft

HERE = Path(__file__).resolve().parent
LABELS, MOST_LEAVES, MOST_LINES = 8_000, 32, 14  # few leaves make light pages
OPENING = """\
# Gallery

Eight models, each distilled by one call with 8,000 labels:
`ft.frontier(model, inputs, max_queries=8000, max_leaves=32)`. The seed is 0.
Each picture is the certified curve, agreement against leaves. All points of a curve
hold together, with 95 % confidence.

Three of them are here as whole reports, as `front.report("report.html")` writes them: {demos}. They work without a
network: move along the curve, or try an input.
"""


@dataclass(frozen=True)
class Shown:
    """A model with its inputs, and the words for them."""

    name: str
    title: str
    about: str
    make: Callable[[], tuple[Any, Any, dict[str, Any]]]
    demo: bool = False


def bundled(loader: str, estimator: Callable[[], Any], **more: Any) -> Callable[[], tuple[Any, Any, dict[str, Any]]]:
    """A model fitted to one half of a table of scikit-learn's; the other half says where inputs come from."""

    def make() -> tuple[Any, Any, dict[str, Any]]:
        from sklearn import datasets
        from sklearn.model_selection import train_test_split

        table, answers = getattr(datasets, f"load_{loader}")(as_frame=True, return_X_y=True)
        names = getattr(getattr(datasets, f"load_{loader}")(), "target_names", None)
        if names is not None and not more:
            answers = answers.map(dict(enumerate(map(str, names))))
        train, new, labels, _ = train_test_split(table, answers, test_size=0.5, random_state=0)
        return estimator().fit(train, labels), new, more

    return make


def of_case(model: str) -> Callable[[], tuple[Any, Any, dict[str, Any]]]:
    """A model of the benchmarks over the marginals of its table."""

    def make() -> tuple[Any, Any, dict[str, Any]]:
        case = Case(model, "marginals")
        return case.target, case.space(), {}

    return make


def forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(150, random_state=0)


def boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=50, random_state=0)


def regression() -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(100, random_state=0)


def bank() -> tuple[Any, Any, dict[str, Any]]:
    subject = subjects.bank()
    assert subject.rows is not None
    return subject.model, subject.table(subject.rows), {}


MODELS = (
    Shown("cancer", "A forest that tells tumours apart", "150 trees, 30 measurements of cells; inputs from rows that "
          "the forest has not seen.", bundled("breast_cancer", forest), demo=True),
    Shown("wine", "Boosted trees that know three growers", "150 boosted trees, 13 measurements of a wine.",
          bundled("wine", boosting), demo=True),
    Shown("bank", "Who will open a deposit?", "Histogram boosting in a pipeline: seven numbers and nine categories of "
          "11,154 customers.", bank, demo=True),
    Shown("diabetes", "A forest that answers with numbers", "100 regression trees; answers within 50 of the model's "
          "count as agreement.", bundled("diabetes", regression, tolerance=50.0)),
    Shown("compas", "A forest over criminal records", "Ten trees over 12 bits of the COMPAS table, each bit by itself.",
          of_case("COMPAS")),
    Shown("pulsars", "A forest that finds pulsars", "Ten trees over eight numbers of HTRU2, each by itself.",
          of_case("HTRU2")),
    Shown("mushrooms", "XGBoost on mushrooms", "Three boosted trees over 127 bits.", of_case("agaricus")),
    Shown("skin", "XGBoost on six skin diseases", "Thirty boosted trees, 33 findings graded 0 to 3 and an age: a model "
          "that no small tree follows closely.", of_case("dermatology")),
)  # fmt: skip


def shown(one: Shown) -> str:
    """Run it, write its thumbnail and perhaps its report, and tell of it."""
    target, inputs, more = one.make()
    front = ft.frontier(target, inputs, seed=0, max_queries=LABELS, max_leaves=MOST_LEAVES, **more)
    front.plot().savefig(HERE / "figures" / f"gallery-{one.name}.png", dpi=70, transparent=True)
    parts = [f"## {one.title}", one.about, f"![{front.verdict()}](figures/gallery-{one.name}.png)", front.verdict()]
    lines = str(front.knee.tree).splitlines()
    if len(lines) <= MOST_LINES:
        parts.append("\n".join(["```text", *lines, "```"]))
    if one.demo:
        (HERE / "demo").mkdir(exist_ok=True)
        front.report(HERE / "demo" / f"{one.name}.html", title=one.title, date="2026-11-17")
        parts.append(f"[The whole report](demo/{one.name}.html)")
    return "\n\n".join(parts)


def main() -> None:
    demos = ", ".join(f"[{one.name}](demo/{one.name}.html)" for one in MODELS if one.demo)
    parts = [OPENING.format(demos=demos).rstrip()]
    for one in MODELS:
        parts.append(shown(one))
        print(one.name, flush=True)
    ending = "Made by `python docs/gallery.py`; run it again after a change of the search."
    (HERE / "gallery.md").write_text("\n\n".join([*parts, ending]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
