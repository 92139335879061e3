"""The table of both answers as plain data: counts, and beside them the intervals that follow from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from fidelitree.certificates.confusion import (
    CONFIDENCE,
    MOST,
    Confusion,
    Count,
    Label,
    LabelPair,
    TargetAnswers,
    share_of_level,
)
from fidelitree.errors import FormatError, check_stored, is_text

_check = partial(check_stored, "certificate: confusion")
_ROUNDING = 1e-6
_BELOW = 1 << 63


def to_dict(found: Confusion) -> dict[str, Any]:
    """Plain data; every share comes with both ends of its interval, which are equal where it is known."""
    best, inputs, labels = found.target.best, found.target.inputs, found.target.labels
    return {
        "confidence": CONFIDENCE if found.level is not None else 1.0,
        "level": found.level,
        "tests": found.tests,
        "wrong": found.wrong,
        "constant": {**vars(best), "of": inputs, "labels": labels, "error": list(found.constant_error)},
        "never": [{**vars(entry), "share": list(found.of_target(entry))} for entry in found.never],
        "never_in_all": found.never_in_all,
        "cells": [{**vars(cell), "share": list(found.share(cell))} for cell in found.cells],
        "cells_in_all": found.cells_in_all,
    }


def from_dict(data: Any) -> Confusion:
    """The inverse; FormatError where a count, a sum or an interval is not what it must be."""
    try:
        found = _read(data)
        _check_sums(found)
        follows = _alike(data, to_dict(found))
        _check(follows, "its entries must be those of a table, and its intervals must follow from the counts")
    except (AttributeError, KeyError, OverflowError, TypeError) as error:
        told = f"it must be an object with counts of labels: {error!s:.80}; got {data!r:.80}"
        raise FormatError(f"not a stored certificate: confusion: {told}") from None
    return found


def _read(data: Any) -> Confusion:
    level, exact, constant = data["level"], data["level"] is None, data["constant"]
    inside = exact or (_number(level) and 0 < level < 1)
    _check(inside, f"level must be null, or above 0 and below 1; got {level!r:.80}")
    return Confusion(
        _count(data["tests"], "tests", exact),
        _count(data["wrong"], "wrong", exact),
        None if exact else float(level),
        TargetAnswers(
            _count(constant["of"], "of", exact), _whole(constant["labels"], "labels"), _label(constant, exact)
        ),
        tuple(_label(entry, exact) for entry in data["never"]),
        _whole(data["never_in_all"], "never_in_all"),
        tuple(_cell(entry, exact) for entry in data["cells"]),
        _whole(data["cells_in_all"], "cells_in_all"),
    )


def _alike(told: Any, follows: Any) -> bool:
    """Whether plain data is what follows from its counts, up to rounding."""
    if isinstance(follows, dict):
        same = isinstance(told, dict) and told.keys() == follows.keys()
        return same and all(_alike(told[key], value) for key, value in follows.items())
    if isinstance(follows, list):
        same = isinstance(told, list) and len(told) == len(follows)
        return same and all(map(_alike, told, follows))
    return bool(_number(told) and _same(told, follows) if isinstance(follows, float) else told == follows)


def contradiction(found: Confusion, certificate: Mapping[str, Any], leaves: int) -> str:
    """In what a table cannot belong to a certificate about a tree with so many leaves; nothing where it can.

    The table is that of all tests, as far as inputs are kept, and so is the certificate. Older certificates stop where
    their bound was lowest, and do not count the mistakes of a tree that was not tested itself.
    """
    samples, errors, method = certificate["samples"], certificate["errors"], certificate["method"]
    if method == "exact":
        same = math.isclose(found.wrong, certificate["error_bound"], rel_tol=_ROUNDING, abs_tol=1e-9)
        return "" if same and found.level is None else "its mistakes are not the exact error"
    more = found.tests - samples
    if method == "fixed" and more:
        return f"it holds {found.tests:,} tests, and the certificate {samples:,}"
    if more >= 0 and errors is not None and not errors <= found.wrong <= errors + more:
        return (
            f"it holds {found.wrong:,} mistakes in {found.tests:,} tests, and the certificate {errors:,} in {samples:,}"
        )
    if certificate["protocol"] == "prequential":
        level = share_of_level(
            certificate["attempt"], leaves if certificate["differs"] else None, certificate["ledger"]
        )
    else:
        level = share_of_level(leaves, None) if method == "fixed" else 1 - CONFIDENCE
    same = found.level is not None and math.isclose(found.level, level, rel_tol=_ROUNDING)
    return "" if same else f"its intervals must be at level {level:.4g}"


def _check_sums(found: Confusion) -> None:
    rows: dict[Any, Count] = {}
    for cell in found.cells:
        rows[cell.target] = rows.get(cell.target, 0) + cell.count
        small = cell.count > 0 and _at_most(cell.of, found.target.best.count)
        _check(small, "no cell may be empty, and no label have more inputs than the constant")
    within = all(_at_most(rows[cell.target], cell.of) for cell in found.cells)
    _check(within, "the cells of a label must hold no more inputs than it has")
    total, wrong = (sum(cell.count for cell in found.cells if cell.wrong or not kind) for kind in (False, True))
    complete = found.cells_in_all == len(found.cells)
    adds_up = _same if complete else _at_most
    _check(adds_up(total, found.tests), f"the counts of all cells must add up to the {found.tests} tests; got {total}")
    two = f"the counts of cells with two labels must add up to wrong = {found.wrong}; got {wrong}"
    _check(adds_up(wrong, found.wrong), two)
    _check_target(found, rows, complete)
    lists = ((found.cells, found.cells_in_all, 2 * MOST), (found.never, found.never_in_all, MOST))
    few = all(len(listed) <= min(in_all, most) for listed, in_all, most in lists)
    _check(few, "never and cells must list no more than there are in all, and no more than are listed at most")
    both = {cell.tree for cell in found.cells} & {entry.label for entry in found.never}
    _check(not both, f"a label that is never answered is answered in a cell: {sorted(map(str, both))!r:.80}")


def _check_target(found: Confusion, rows: Mapping[Any, Count], complete: bool) -> None:
    """The target's own answers: those of the table, or of more inputs."""
    target = found.target
    best, same = target.best, complete and target.inputs == found.tests
    counted = _at_most(found.tests, target.inputs) and 0 < best.count <= target.inputs
    _check(counted, "constant must be counted among all tests, and not oftener than there are")
    first = not same or (target.labels, best.count) == (len(rows), max(rows.values()))
    most = f"constant must be the most frequent of all {len(rows)} labels; got {target.labels}"
    _check(target.labels >= len(rows) and first, most)
    often = not same or _same(rows.get(best.label, 0), best.count)
    _check(often, f"constant must be counted as often as in the cells; got {best.count}")
    rare = all(_at_most(entry.count, best.count) for entry in found.never)
    _check(rare, "no label that is never answered may be more frequent than the constant")


def _label(entry: Any, exact: bool) -> Label:
    return Label(_name(entry["label"]), _count(entry["count"], "count", exact))


def _cell(entry: Any, exact: bool) -> LabelPair:
    counts = _count(entry["count"], "count", exact), _count(entry["of"], "of", exact)
    return LabelPair(_name(entry["target"]), _name(entry["tree"]), *counts)


def _name(label: Any) -> Any:
    known = _number(label) or isinstance(label, bool) or is_text(label)
    _check(known, f"labels must be truth values, numbers or text; got {label!r:.80}")
    return label


def _count(value: Any, name: str, exact: bool) -> Count:
    limit = 1 + _ROUNDING if exact else _BELOW
    kind = "a probability" if exact else "a whole number below 2^63"
    inside = _number(value) and 0 <= value < limit and (exact or isinstance(value, int))
    _check(inside, f"{name} must be {kind}; got {value!r:.80}")
    return value  # type: ignore[no-any-return]


def _whole(value: Any, name: str) -> int:
    return int(_count(value, name, exact=False))


def _number(value: Any) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool)) or (
        isinstance(value, float) and math.isfinite(value)
    )


def _same(one: Count, two: Count) -> bool:
    return one == two if isinstance(two, int) else math.isclose(one, two, rel_tol=_ROUNDING, abs_tol=1e-9)


def _at_most(one: Count, two: Count) -> bool:
    return one <= two or _same(one, two)
