"""Trees in other people's formats: functions from a tree to text, rules, estimators and models.

``FORMATS`` lists them by the name that the command line knows them by.
"""

from collections.abc import Callable
from typing import Any

from fidelitree.export.c import to_c
from fidelitree.export.drawings import to_dot, to_svg
from fidelitree.export.encoder import Encoder
from fidelitree.export.netlists import to_blif, to_pla
from fidelitree.export.onnx import to_onnx
from fidelitree.export.plain import to_json, to_rules, to_text
from fidelitree.export.python import to_python
from fidelitree.export.sklearn import to_sklearn
from fidelitree.export.sql import to_sql
from fidelitree.trees.rules import Condition, Rule, Rules

FORMATS: dict[str, Callable[..., Any]] = {
    "text": to_text,
    "rules": to_rules,
    "json": to_json,
    "dot": to_dot,
    "svg": to_svg,
    "python": to_python,
    "c": to_c,
    "sql": to_sql,
    "sklearn": to_sklearn,
    "onnx": to_onnx,
    "pla": to_pla,
    "blif": to_blif,
}
"""Name of a format -> the function that writes it. All return text, but rules, sklearn and onnx return objects."""

__all__ = [
    "FORMATS",
    "Condition",
    "Encoder",
    "Rule",
    "Rules",
    "to_blif",
    "to_c",
    "to_dot",
    "to_json",
    "to_onnx",
    "to_pla",
    "to_python",
    "to_rules",
    "to_sklearn",
    "to_sql",
    "to_svg",
    "to_text",
]
