"""Folders that were made to mislead ``verify.py`` beside its certificates, or to take all memory there is."""

from __future__ import annotations

import base64
import hashlib
import json
import resource
import shutil
import sqlite3
import subprocess
import sys
import zlib
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.certificates import standalone
from journals import BITS, on_bits, on_mixed

if TYPE_CHECKING:
    from pathlib import Path

MEMORY = 700 << 20  # bytes that the program may ask the system for


def changed(folder: Path, name: str, data: Any) -> None:
    """Another content of a file, and its new digest: a forger writes both."""
    text = data if isinstance(data, str) else json.dumps(data)
    (folder / name).write_text(text, encoding="utf-8")
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    run["files"][name] = hashlib.sha256(text.encode()).hexdigest()
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")


def held(folder: Path) -> tuple[int, str]:
    """The program alone, with little memory and time."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    command = [sys.executable, "-I", "-S", standalone.__file__, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, preexec_fn=limit)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    found = ft.frontier(on_bits, BITS, max_leaves=4, max_queries=300, seed=1, journal=folder / "journal.db")
    found.save(folder)
    return folder


@pytest.fixture
def folder(kept: Path, tmp_path: Path) -> Path:
    return shutil.copytree(kept, tmp_path / "kept")


def test_every_number_beside_the_certificates_of_a_frontier_is_compared(folder: Path) -> None:
    honest = json.loads((folder / "frontier.json").read_text(encoding="utf-8"))
    assert standalone.main(folder) == 0
    for change in ({"error_bound": 1e-6}, {"leaves": 1}, {"depth": 1}, {"interval": [0.0, 1e-6]}):
        changed(folder, "frontier.json", {**honest, "points": [{**point, **change} for point in honest["points"]]})
        assert standalone.main(folder) == 2, change
    for change in ({"delta": 0.01}, {"version": 2}, {"points": honest["points"][::-1]}, {"max_leaves": 1}):
        changed(folder, "frontier.json", {**honest, **change})
        assert standalone.main(folder) == 2, change
    for point in honest["points"]:
        counts = point["answers"]["counts"]
        counts[0][0] += 1
        counts[-1][-1] -= 1
    changed(folder, "frontier.json", honest)
    assert standalone.main(folder) == 2


def test_a_few_packed_bytes_do_not_become_gigabytes(tmp_path: Path) -> None:
    rows = ft.Rows({"a": np.arange(300) % 2 == 0, "b": np.arange(300) % 3 == 0})
    ft.distill(lambda batch: batch["a"], rows, epsilon=0.2, seed=0, journal=tmp_path / "j.db").save(tmp_path / "kept")
    space = json.loads((tmp_path / "kept" / "space.json").read_text(encoding="utf-8"))
    bomb = base64.b64encode(zlib.compress(bytes(1 << 29))).decode()
    for count in (300, 1 << 28, 1 << 62):
        changed(tmp_path / "kept", "space.json", {**space, "rows": {"count": count, "packed": bomb}})
        code, said = held(tmp_path / "kept")
        assert code == 2, said
        assert "its rows" in said
        with pytest.raises(ft.FormatError, match="not stored rows of a table"):
            ft.verify(tmp_path / "kept")


def test_a_few_packed_groups_do_not_become_gigabytes(tmp_path: Path) -> None:
    rows = ft.Rows({"a": np.arange(300) % 2 == 0}, groups=np.arange(300) // 2)
    ft.distill(lambda batch: batch["a"], rows, epsilon=0.3, seed=0, journal=tmp_path / "j.db").save(tmp_path / "kept")
    space = json.loads((tmp_path / "kept" / "space.json").read_text(encoding="utf-8"))
    ends = {standalone.MOST_ROWS: (2, "the space is another"), 50_000_000: (5, "rows in groups that this file reads")}
    for count, (code, words) in ends.items():
        codes = np.arange(count, dtype="<u4") % 1_000
        packed = [base64.b64encode(zlib.compress(some)).decode() for some in (bytes(count), codes.tobytes())]
        entry = {"count": count, "packed": packed[0], "groups": {"packed": packed[1], "equal": False}}
        changed(tmp_path / "kept", "space.json", {**space, "rows": entry})
        found, said = held(tmp_path / "kept")
        assert (found, words in said) == (code, True), said
    with pytest.raises(ft.FormatError, match="groups: they must be those of at most"):
        ft.verify(tmp_path / "kept")


def test_a_number_of_a_million_digits_is_refused(folder: Path) -> None:
    told = (folder / "certificate.json").read_text(encoding="utf-8")
    changed(folder, "certificate.json", told.replace('"samples": ', f'"samples": {"9" * 1_000_000}'))
    code, said = held(folder)
    assert code == 2
    assert "digits" in said


def test_a_tree_of_any_depth_takes_no_memory(folder: Path) -> None:
    """A chain over 6,000 bits: a box for every node would be 18 million conditions."""
    depth = 6_000
    nodes: list[dict[str, Any]] = []
    for place in range(depth):
        test = {"feature": place, "is": 1}
        nodes += [{"test": test, "no": 2 * place + 1, "yes": 2 * place + 2}, {"label": 0}]
    features = [{"name": f"x{place}", "kind": "boolean"} for place in range(depth)]
    tree = {
        "format": "fidelitree.tree",
        "version": 1,
        "features": features,
        "labels": {"type": "int", "values": [0, 1]},
        "nodes": [*nodes, {"label": 1}],
    }
    found = standalone.Tree(tree)
    assert (found.depth, len(found.leaves), found.predict([1] * depth)) == (depth, depth + 1, 1)
    with pytest.raises(standalone.Unsure, match="too large"):
        for _ in found.boxes({}):
            pass
    changed(folder, "tree.json", tree)
    code, said = held(folder)
    assert (code, "the tree is another" in said) == (2, True)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW answers AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
        "CREATE TABLE answers (id INTEGER, labels BLOB GENERATED ALWAYS AS (zeroblob(60000000)))",
    ],
)
def test_a_journal_with_other_tables_is_refused(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "journal.db")) as file:
        file.execute("DROP TABLE answers")
        file.execute(statement)
        file.commit()
    code, said = held(folder)
    assert code == 2
    assert "its tables are not those of a journal" in said


def test_counts_that_nobody_can_draw_end_soon(folder: Path) -> None:
    told = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    for samples in (1 << 30, 1 << 62):
        changed(folder, "certificate.json", {**told, "samples": samples, "errors": 0})
        assert held(folder)[0] == 2
    bound = standalone.upper_end(0, 1 << 30, told["level"])
    changed(folder, "certificate.json", {**told, "samples": 1 << 30, "errors": 0, "error_bound": bound})
    code, said = held(folder)
    assert code == 2, said
    assert "the answers give other counts" in said


def test_missing_numbers_are_counted(tmp_path: Path) -> None:
    space = ft.ProductSpace([ft.Numeric("x", 0, 1, missing=0.3), ft.Numeric("y", 0, 1)])

    def target(batch: Any) -> Any:
        return np.where(np.isnan(batch["x"]), batch["y"] > 0.5, batch["x"] > 0.3)

    made = ft.distill(target, space, epsilon=0.1, seed=2, journal=tmp_path / "j.db")
    made.save(tmp_path / "kept")
    assert '"missing"' in (tmp_path / "kept" / "tree.json").read_text(encoding="utf-8")
    assert standalone.main(tmp_path / "kept") == 0


def test_a_real_model_over_a_table(tmp_path: Path) -> None:
    """The default of a table: a Chow-Liu tree of one half."""
    random = np.random.default_rng(0)
    age = random.integers(18, 90, 500)
    table = {"age": age, "children": random.integers(0, 4, 500), "job": np.where(age > 50, "nurse", "clerk")}
    found = ft.frontier(on_mixed, table, max_queries=800, max_leaves=5, seed=0, journal=tmp_path / "j.db")
    found.save(tmp_path / "kept")
    assert standalone.main(tmp_path / "kept") == (5 if any(point.certificate.helped for point in found) else 0)
