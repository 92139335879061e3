"""Griffe extensions for mkdocs.yml: examples in docstrings become blocks of code, and learners are shown as called.

Markdown takes a line that begins with >>> for a quotation in a quotation in a quotation. An example lasts until the
next blank line, as doctest has it.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", flags=re.MULTILINE)


class Doctests(griffe.Extension):
    """Puts fences around examples."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", obj.docstring.value)


class Learners(griffe.Extension):
    """Learners are written as functions of a lesson; their decorator makes them functions of a target."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        decorators = [str(decorator.value) for decorator in func.decorators]
        if any(re.search(r"\blearner\b", text) for text in decorators):
            epsilon = "0.0" if "epsilon=0.0" in decorators[0] else "0.05"
            first = [("target", "Target", None), ("space", "ProductSpace | Rows", None)]
            first += [("epsilon", "float", epsilon), ("delta", "float", "0.05"), ("seed", "int", "0")]
            kind = griffe.ParameterKind.positional_or_keyword
            begin = [griffe.Parameter(name, annotation=hint, kind=kind, default=told) for name, hint, told in first]
            rest = griffe.Parameter("limits", annotation="Any", kind=griffe.ParameterKind.var_keyword)
            func.parameters = griffe.Parameters(*begin, *list(func.parameters)[1:], rest)
