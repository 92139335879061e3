"""`fidelitree analyze`: influences in print, as JSON and as a picture."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import fidelitree as ft
from commandline import people, refused, run
from fidelitree.cli.analyze import given_of

SPACE = """
[features.owner]
kind = "boolean"
[features.age]
kind = "numeric"
low = 20
high = 60
[features.job]
kind = "categorical"
values = ["clerk", "nurse", "7"]
"""


def test_influences_have_bars(folder: Path) -> None:
    Path("and.pla").write_text(".i 3\n.o 1\n.ilb a b c\n11- 1\n.e\n", encoding="utf-8")
    assert run("analyze", "and.pla").out.startswith(
        "influence of each feature (exact); total 0.5000\n"
        f"a  0.2500  {'█' * 30}\nb  0.2500  {'█' * 30}\nc  0.0000\n"
        "labels: 0: 0.7500, 1: 0.2500\n"
    )


def test_given_names_a_region(folder: Path) -> None:
    Path("and.pla").write_text(".i 3\n.o 1\n.ilb a b c\n11- 1\n.e\n", encoding="utf-8")
    assert run("analyze", "and.pla", "--given", "a=1").out.splitlines()[1].startswith("b  0.5000")


def test_given_speaks_of_every_kind(folder: Path) -> None:
    Path("space.toml").write_text(SPACE, encoding="utf-8")
    chosen = ["--given", "age=45:", "--given", "owner=0", "--given", "job=nurse,7"]
    data = run("analyze", "aims:loan", "--space", "space.toml", "--max-queries", 2000, "--json", *chosen).json
    by_hand = ft.analyze(
        lambda t: (t["age"] > 40) & (t["job"] == "nurse"),
        ft.ProductSpace.from_file("space.toml"),
        {"age": (45, None), "owner": 0, "job": ["nurse", "7"]},
        max_queries=2000,
    )
    assert [entry["influence"] for entry in data["influences"]] == by_hand.influences.tolist()
    assert [[entry["low"], entry["high"]] for entry in data["influences"]] == by_hand.intervals.tolist()
    assert data["labels"][1] == {"label": "yes", "probability": by_hand.label_probabilities[1]}
    assert data["exact"] is False


@pytest.mark.parametrize(
    ("text", "region"),
    [
        ("job=a=b", {"job": ["a=b"]}),
        ("job=a=b,c", {"job": ["a=b", "c"]}),
        ("x=y=1", {"x=y": 1}),
        ("x=1", {"x": 1}),
    ],
)
def test_names_and_values_may_hold_the_sign_between_them(text: str, region: dict[str, object]) -> None:
    space = ft.ProductSpace(
        [ft.Boolean("x"), ft.Boolean("x=y"), ft.Categorical("job", {"a=b": 0.5, "c": 0.3, "d": 0.2})]
    )
    assert given_of([text], space) == region


def test_a_region_without_inputs_names_the_option(folder: Path) -> None:
    message = refused("analyze", "aims:alarm", "--bernoulli", 0, "--features", 4, "--given", "x1=1")
    assert message.startswith("--given must name a region of positive probability; ")
    message = refused("analyze", "aims:alarm", "--bernoulli", 0.5, "--features", 20, "--method", "exact")
    assert message.startswith("--method must not be 'exact' where not every input may be asked: ")
    assert message.endswith("or use --method auto")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("age", "--given must be FEATURE=WHAT with a feature of the space (owner, age, job); got 'age'"),
        ("wage=3", "--given must be FEATURE=WHAT with a feature of the space (owner, age, job); got 'wage=3'"),
        ("owner=yes", "--given owner must be 0 or 1; got 'yes'"),
        ("age=1:0", "--given age must have its low end first; got (1.0, 0.0)"),
        ("age=old", "--given age must be a number or an interval LOW:HIGH; got 'old'"),
        ("job=judge", "--given job must hold values of the feature ('clerk', 'nurse', '7'); got 'judge'"),
    ],
)
def test_a_region_that_is_none_is_refused(folder: Path, given: str, message: str) -> None:
    Path("space.toml").write_text(SPACE, encoding="utf-8")
    assert refused("analyze", "aims:loan", "--space", "space.toml", "--given", given) == message


def test_a_plot_is_written(folder: Path) -> None:
    done = run("analyze", "aims:alarm", "--bernoulli", 0.5, "--features", 4, "--plot", "bars.svg")
    assert done.out.endswith("wrote bars.svg\n")
    assert "<svg" in Path("bars.svg").read_text(encoding="utf-8")
    assert run("analyze", "aims:alarm", "--bernoulli", 0.5, "--features", 4, "--plot", "new/bars.PNG", "--json").json
    assert Path("new/bars.PNG").is_file()


def test_a_plot_without_matplotlib_names_the_extra(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    message = refused("analyze", "aims:alarm", "--bernoulli", 0.5, "--features", 4, "--plot", "bars.svg")
    assert message.endswith("pip install 'fidelitree[plot]'")


def test_rows_are_analysed(folder: Path) -> None:
    table = people(folder)
    done = run("analyze", "aims:loan", "--data", table, "--drop", "label", "--rows", "--max-queries", 2000)
    assert done.code == 0
    assert done.out.startswith("influence of each feature (estimated, seed ")


def test_numbers_have_sobol_indices(folder: Path) -> None:
    inputs = (
        "aims:price",
        "--data",
        people(folder),
        "--marginals",
        "--drop",
        "label",
        "--numbers",
        "--max-queries",
        3000,
    )
    done = run("analyze", *inputs)
    assert done.code == 0
    assert done.out.startswith("Sobol indices of each feature, first and total (seed ")
    data = run("analyze", *inputs, "--json").json
    assert [one["feature"] for one in data["indices"]] == ["age", "job", "owner"]
    assert data["indices"][2]["total"] == 0
    assert "--plot must be left out with --numbers" in refused("analyze", *inputs, "--plot", "bars.svg")
