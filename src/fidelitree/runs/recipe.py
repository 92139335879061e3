"""A call written down, so that it can be made again."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

_ALWAYS = ("epsilon", "delta", "seed")
_WRITABLE = (bool, int, float, str, type(None))


def written(door: Callable[..., Any], arguments: Mapping[str, Any]) -> str:
    """The call of a public door: target and space by name, then what is not as it would be anyhow.

    Epsilon, delta and the seed are always there. What has no short form in Python, as an observer, is left out: it
    does not change the result.

    >>> def distill(target, space, epsilon=0.05, *, seed=0, strategy="auto", observer=None): ...
    >>> written(distill, {"epsilon": 0.1, "seed": 7, "strategy": "influence", "observer": print})
    "ft.distill(target, space, epsilon=0.1, seed=7, strategy='influence')"
    """
    parts = ["target", "space"]
    for name, parameter in inspect.signature(door).parameters.items():
        value = arguments.get(name, parameter.default)
        if name in parts or not isinstance(value, _WRITABLE):
            continue
        if name in _ALWAYS or value != parameter.default:
            parts.append(f"{name}={value!r}")
    return f"ft.{door.__name__}({', '.join(parts)})"
