"""Names for the variables of a program, made from the names of features."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

_LONGEST = 40


def identifiers(names: Sequence[str], taken: Collection[str]) -> list[str]:
    """A different identifier for each name, in ASCII, none of them ``taken``.

    >>> identifiers(["age", "marital status", "class", "3rd", "marital-status", "年齢"], {"class"})
    ['age', 'marital_status', 'class_2', 'x_3rd', 'marital_status_2', 'x5']
    """
    used, found = set(taken), []
    for place, name in enumerate(names):
        stem = re.sub(r"_{2,}", "_", re.sub(r"[^A-Za-z0-9_]", "_", name))[:_LONGEST].strip("_")
        if not stem:
            stem = f"x{place}"
        elif not stem[0].isalpha():
            stem = f"x_{stem}"
        mine, turn = stem, 2
        while mine in used:
            mine, turn = f"{stem}_{turn}", turn + 1
        used.add(mine)
        found.append(mine)
    return found


def is_identifier(name: object) -> bool:
    """Whether a name can be a function's as it is."""
    return isinstance(name, str) and re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) is not None
