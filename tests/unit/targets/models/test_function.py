"""Functions as targets, and how they are found by address."""

from __future__ import annotations

import pickle
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.targets import Estimator, Function, load_model
from fidelitree.targets.labels import answered
from fidelitree.targets.models.function import import_object

if TYPE_CHECKING:
    from pathlib import Path

MODULE = """
import numpy as np
from sklearn.tree import DecisionTreeClassifier

def rule(batch):
    return np.where(np.asarray(batch)[:, 0] > 0, "yes", "no")

class Rules:
    @staticmethod
    def second(batch):
        return np.asarray(batch)[:, 1]

model = DecisionTreeClassifier().fit([[0, 0], [1, 0]], [5, 7])
number = 3
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "house_rules").mkdir()
    (tmp_path / "house_rules" / "__init__.py").write_text("")
    (tmp_path / "house_rules" / "credit.py").write_text(MODULE)
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("house_rules")]:
        del sys.modules[name]


BITS = np.array([[0, 1], [1, 0]], np.uint8)


def test_a_function_by_its_address(package: Path) -> None:
    model = load_model("house_rules.credit:rule")
    assert repr(model) == "<Function house_rules.credit:rule>"
    assert model(BITS).tolist() == ["no", "yes"]
    assert pickle.loads(pickle.dumps(model))(BITS).tolist() == ["no", "yes"]
    assert load_model("house_rules.credit:Rules.second")(BITS).tolist() == [1, 0]


def test_a_model_by_its_address(package: Path) -> None:
    model = load_model("house_rules.credit:model")
    assert isinstance(model, Estimator)
    assert model(BITS).tolist() == [5, 7]


@pytest.mark.parametrize(
    ("address", "error", "message"),
    [
        ("house_rules.credit:nothing", ft.ParameterError, "module 'house_rules.credit' has no 'nothing'"),
        ("house_rules.credit:Rules.third", ft.ParameterError, "module 'house_rules.credit' has no 'Rules.third'"),
        ("house_rules.credit:number", ft.ParameterError, "model must be a fitted model with a method predict; got 3"),
        (
            "house_rules.debit:rule",
            ft.ParameterError,
            "there is no module 'house_rules.debit' to import; put its folder on the path, for example with PYTHON",
        ),
        ("no_such_package.credit:rule", ft.ParameterError, "there is no module 'no_such_package' to import"),
        (
            "house_rules.needy:rule",
            ft.TargetError,
            "'house_rules.needy' failed: it needs 'not_there', which is missing",
        ),
        ("house_rules.broken:rule", ft.TargetError, "importing 'house_rules.broken' raised ZeroDivisionError: "),
        ("house_rules.script:rule", ft.TargetError, r"^importing 'house_rules.script' raised SystemExit: 0$"),
    ],
)
def test_what_cannot_be_imported(package: Path, address: str, error: Any, message: str) -> None:
    (package / "house_rules" / "needy.py").write_text("import not_there")
    (package / "house_rules" / "broken.py").write_text("1 / 0")
    (package / "house_rules" / "script.py").write_text("import sys\nsys.exit(0)")
    with pytest.raises(error, match=message):
        load_model(address)


def test_an_address_has_two_parts() -> None:
    with pytest.raises(ft.ParameterError, match=r"an address must look like package.module:function; got 'math.sin'"):
        import_object("math.sin")


def test_a_callable_object_has_a_name() -> None:
    class Oracle:
        def __call__(self, batch: Any) -> Any:
            return batch[:, 0]

    assert [repr(Function(f)) for f in (np.sign, Oracle())] == ["<Function sign>", "<Function Oracle>"]
    with pytest.raises(ft.ParameterError, match="function must be callable: a batch of inputs in, labels out; got 3"):
        Function(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [Function, lambda function: Estimator(SimpleNamespace(predict=function))])
def test_answers_of_two_kinds_are_refused(kind: Any) -> None:
    answers = {1: [["yes"]], 2: ["yes", float("nan")], 3: [["yes"], [float("nan")], ["no"]]}
    target = kind(lambda batch: answers[len(batch)])
    assert target(np.zeros((1, 2))).tolist() == ["yes"]
    for rows in (2, 3):
        with pytest.raises(ft.TargetError, match="one kind a run; the target answered float and str"):
            answered(target(np.zeros((rows, 2))), rows)
