"""Stored results whose promise was changed, and none of their answers: delta, version, real rows, names given twice.

All files tell of the change alike, and digests are worked out anew. `verify.py` has to end as `verify --answers` does,
and neither may confirm.
"""

from __future__ import annotations

import json
import math
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.asking.journal.ledger import promised
from fidelitree.certificates import standalone
from fidelitree.theory.sequential import error_bound
from forging import endings, read, signed, write
from journals import BITS, chain, on_bits

if TYPE_CHECKING:
    from pathlib import Path


def in_journal(folder: Path, name: str, value: Any) -> None:
    with closing(sqlite3.connect(folder / "journal.db")) as file, file:
        file.execute("UPDATE run SET value = ? WHERE name = ?", (json.dumps(value), name))


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    ft.distill(on_bits, BITS, 0.2, seed=1, journal=tmp_path / "kept" / "journal.db").save(tmp_path / "kept")
    return tmp_path / "kept"


@pytest.fixture(autouse=True)
def made(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()


def test_what_was_signed_anew_is_confirmed(kept: Path) -> None:
    signed(kept)
    assert endings(kept) == (0, "confirmed")


@pytest.mark.parametrize("delta", [1.0, 1.5])
def test_a_delta_that_is_no_probability_is_refused(kept: Path, delta: float) -> None:
    told = read(kept, "certificate.json")
    level = told["level"] * delta / told["delta"]
    bound = standalone.upper_end(told["errors"], told["samples"], level) + told["differs"]
    write(kept, "certificate.json", {**told, "delta": delta, "level": level, "error_bound": bound, "confusion": None})
    write(kept, "run.json", {**read(kept, "run.json"), "delta": delta})
    arguments = {name: value for name, value in read(kept, "run.json").items() if name in ARGUMENTS}
    in_journal(kept, "arguments", arguments)
    signed(kept)
    assert endings(kept) == (2, "refused")


ARGUMENTS = (
    "epsilon",
    "delta",
    "strategy",
    "prefer",
    "deterministic",
    "max_queries",
    "max_leaves",
    "max_seconds",
    "max_cost",
)


def test_an_older_version_drops_no_assumption(kept: Path) -> None:
    """Version 1 knew nothing of seeds that are given; it knew nothing of keys either."""
    told = read(kept, "certificate.json")
    some = [one for one in told["assumes"] if not one.startswith("the seed was given")]
    assert len(some) < len(told["assumes"])
    write(kept, "certificate.json", {**told, "version": 1, "assumes": some})
    signed(kept)
    assert endings(kept) == (2, "contradicted")


@pytest.mark.parametrize("name", ["certificate.json", "run.json", "space.json", "tree.json"])
def test_a_name_that_stands_twice_is_refused(kept: Path, name: str) -> None:
    """Readers of JSON do not agree on which one counts."""
    text = (kept / name).read_text(encoding="utf-8")
    entry = next(iter(json.loads(text)))
    write(kept, name, text.replace(f'"{entry}"', f'"{entry}": 0, "{entry}"', 1))
    if name != "run.json":
        signed(kept)
    assert endings(kept) == (2, "refused")


@pytest.mark.parametrize("name", ["errors", "attempt", "attempts"])
def test_a_count_that_is_no_whole_number_is_refused(kept: Path, name: str) -> None:
    told = read(kept, "certificate.json")
    write(kept, "certificate.json", {**told, name: float(told[name])})
    signed(kept)
    assert endings(kept) == (2, "refused")


@pytest.fixture
def of_a_table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    table = {"age": rng.uniform(18, 90, 900), "children": rng.integers(0, 4, 900), "owner": rng.random(900) < 0.3}

    def target(batch: Any) -> Any:
        return np.where((batch["age"] > 50) & (batch["owner"] == 1), "gold", batch["children"] > 2).astype(str)

    folder = tmp_path / "kept"
    ft.distill(target, table, 0.1, seed=1, max_queries=800, journal=folder / "journal.db").save(folder)
    return folder


@pytest.mark.parametrize("way", ["honest", "no errors", "more rows", "fewer rows", "left out"])
def test_what_real_rows_show_is_counted_again(of_a_table: Path, way: str) -> None:
    told = read(of_a_table, "certificate.json")
    rows, errors = told["real_rows"]["rows"], told["real_rows"]["errors"]
    real: Any = {
        "honest": told["real_rows"],
        "no errors": {"rows": rows, "errors": errors - 1 if errors else 1},
        "more rows": {"rows": 100 * rows, "errors": errors},
        "fewer rows": {"rows": rows // 2, "errors": 0},
        "left out": None,
    }[way]
    write(of_a_table, "certificate.json", {**told, "real_rows": real})
    signed(of_a_table)
    ends = {"honest": (0, "confirmed"), "left out": (5, "undecided")}
    assert endings(of_a_table) == ends.get(way, (2, "contradicted"))
    assert math.isclose(error_bound(told["errors"], told["samples"], told["level"]), told["error_bound"], rel_tol=1e-6)


def test_test_inputs_that_nobody_asked_about_are_not_drawn(kept: Path) -> None:
    """A few bytes that tell of a billion test inputs took a minute and a gigabyte."""
    told = read(kept, "certificate.json")
    bound = error_bound(told["errors"], 1 << 30, told["level"])
    write(kept, "certificate.json", {**told, "samples": 1 << 30, "error_bound": bound, "confusion": None})
    in_journal(kept, "drawn", [1 << 31, 1 << 31])
    signed(kept)
    found = standalone.Folder(kept)
    assert [sign for sign, _ in found.lines] == ["yes", "yes", "yes", "NO"]
    assert found.space is not None
    assert found.space.left > standalone.MOST_CELLS // 2


WIDE, MOST = 600, 0.9999


def rare(bits: Any) -> Any:
    return bits.all(axis=1)


def likely(moved: list[float]) -> ft.ProductSpace:
    """A space of bits that are nearly always 1; neighbours must not be drawn together."""
    return ft.ProductSpace.bernoulli(WIDE, [min(one, MOST) - 1e-9 * place for place, one in enumerate(moved)])


@pytest.mark.parametrize("way", ["moved", "chained"])
def test_a_space_that_was_moved_between_its_test_inputs_is_refused(tmp_path: Path, way: str) -> None:
    """Each bit may be likelier by as much as its draws leave open: they stay what they are, the error becomes tenfold.

    Nothing else is touched but digests and, in one way, keys: what was promised is where the chain of keys begins.
    """
    folder, honest = tmp_path / "kept", likely([0.995] * WIDE)
    found = ft.distill(rare, honest, 0.15, seed=3, journal=folder / "journal.db")
    found.save(folder)
    assert endings(folder) == (0, "confirmed")
    assert found.tree.size == 1
    with closing(sqlite3.connect(folder / "journal.db")) as file:
        rows = file.execute("SELECT inputs FROM answers WHERE purpose = 'certify'").fetchall()
    seen = np.concatenate([np.frombuffer(some, np.uint8).reshape(-1, -(-WIDE // 8)) for (some,) in rows])
    always = np.unpackbits(seen, axis=1, count=WIDE).all(axis=0)
    space = likely([1.0 if one else 0.995 for one in always])
    inputs = space.draw(4_000, seed=1)
    assert np.mean(found.tree.predict(inputs) != rare(inputs)) > 2 * found.certificate.error_bound
    (folder / "space.json").write_text(json.dumps(space.to_dict()), encoding="utf-8")
    write(folder, "certificate.json", {**read(folder, "certificate.json"), "space_digest": space.digest})
    in_journal(folder, "space", space.digest)
    if way == "chained":
        with closing(sqlite3.connect(folder / "journal.db")) as file, file:
            (old,) = file.execute(
                "SELECT before FROM attempts WHERE before NOT IN (SELECT key FROM attempts)"
            ).fetchone()
            new = promised(space.digest, 0.05, None, deterministic=True)
            file.execute("UPDATE attempts SET before = ? WHERE before = ?", (new, old))
            chain(file, new)
    signed(folder)
    assert endings(folder) == (2, "contradicted")


@pytest.mark.parametrize("entry", ["delta", "deterministic"])
def test_a_promise_that_was_chosen_afterwards_is_refused(kept: Path, entry: str) -> None:
    told, run = read(kept, "certificate.json"), read(kept, "run.json")
    if entry == "delta":
        level = told["level"] * 0.5 / told["delta"]
        bound = error_bound(told["errors"], told["samples"], level)
        write(kept, "certificate.json", {**told, "delta": 0.5, "level": level, "error_bound": bound, "confusion": None})
    else:
        some = [one for one in told["assumes"] if one != "the target is deterministic"]
        write(kept, "certificate.json", {**told, "assumes": some})
    run[entry] = {"delta": 0.5, "deterministic": False}[entry]
    write(kept, "run.json", run)
    in_journal(kept, "arguments", {name: run[name] for name in ARGUMENTS if name in run})
    signed(kept)
    assert endings(kept) == (2, "contradicted")
