"""Stored results that were tampered with: every fact that other facts determine, changed, removed or another run's.

Each forger also writes down the new digest of the file, so that it is not the digests alone that give him away. Verify
may find a contradiction, or refuse the file, or leave it undecided; it must never confirm. What it does not promise
stands in ``consistency.UNCHECKED``, and which entries that means, in ``NO_PROMISE`` below.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
import re
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.certificates import standalone
from fidelitree.certificates.consistency import UNCHECKED
from fidelitree.runs.viewer import Viewer
from fidelitree.targets import majority
from fidelitree.theory.sequential import error_bound, level_in
from journals import BITS, MIXED, chain, on_bits, on_mixed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FEW_BITS, RARE = ft.ProductSpace.bernoulli(5), ft.ProductSpace.bernoulli(9, 0.1)
PAIRS, MANY_PAIRS = 60, 5_000  # of all that there are, and as many of those that tell the same lie in two files
SOME, MORE = 60, 300  # forgeries of a frontier, which has a thousand: with a result, and of its own
NO_PROMISE = {
    "that the answers are those of the target": r"never alone",
    "that the seed was given": r"never alone",
    "the name of the target": r"(run.json|journal.db run): target$",
    "the command": r"run.json: command$",
    "why the run ended": r"(run.json: reason|journal.db run: ended(\.1)?)$",
    "versions": r"((certificate.json|journal.db run): |frontier.json: points.\d+.certificate.)versions",
    "times": r"journal.db answers \d+: seconds$",
    "the kind of batches": r"space.json: (product\.)?batches",
    "the words of the report": r"report.html",
    "earlier runs of the journal": r"never alone",
}
SAME_CALL = "arguments that changed nothing"
EARLIER = r"journal.db (run: (rungs\.0|drawn)|attempts 1|attempts \d+: \w+_since)"  # of a run that went on


def of_rows(seed: int) -> ft.Rows:
    rng = np.random.default_rng(seed)
    columns = {"age": rng.uniform(18, 90, 400), "children": rng.integers(0, 4, 400)}
    return ft.Rows({**columns, "job": rng.choice(["clerk", "nurse", "pilot"], 400), "owner": rng.random(400) < 0.3})


def other_bits(batch: Any) -> Any:
    return batch[:, 3] & batch[:, 4]


def on_nine(batch: Any) -> Any:
    return batch[:, :9].sum(axis=1) > 4


def on_last(batch: Any) -> Any:
    """What a tree does not find that asks the first features first."""
    return batch[:, -1] == 1


def other_mixed(batch: Any) -> Any:
    return np.where(batch["age"] > 60, "gold", "none")


Call = tuple[Any, Any, dict[str, Any]]
KINDS: dict[str, tuple[Call, Call]] = {
    "bits": ((on_bits, BITS, {"epsilon": 0.1}), (other_bits, BITS, {"epsilon": 0.2, "seed": 5, "prefer": "leaves"})),
    "table": (
        (on_mixed, MIXED, {"epsilon": 0.2}),
        (other_mixed, MIXED, {"epsilon": 0.1, "delta": 0.1, "deterministic": False}),
    ),
    "rows": (
        (on_mixed, of_rows(1), {"epsilon": 0.2}),
        (other_mixed, of_rows(2), {"epsilon": 0.25, "seed": 3}),
    ),
    "exact": (
        (majority(5), FEW_BITS, {"epsilon": 0.1}),
        (other_bits, FEW_BITS, {"epsilon": 0, "strategy": "smallest", "seed": 2}),
    ),
    "influence": (
        (on_bits, BITS, {"epsilon": 0.1, "strategy": "influence"}),
        (other_bits, BITS, {"epsilon": 0.1, "seed": 4}),
    ),
    "pruned": (
        (majority(9), RARE, {"epsilon": 0.2}),
        (other_bits, RARE, {"epsilon": 0.1, "seed": 1}),
    ),
    "ended early": (
        (on_nine, BITS, {"epsilon": 0.05, "max_queries": 150}),
        (other_bits, BITS, {"epsilon": 0.05, "max_queries": 90, "seed": 1}),
    ),
    "frontier": (
        (on_bits, BITS, {"max_leaves": 3, "max_queries": 90}),
        (other_bits, BITS, {"max_leaves": 3, "max_queries": 90, "seed": 2}),
    ),
    "extended": (
        (on_nine, BITS, {"epsilon": 0.1, "max_queries": 240}),
        (other_bits, BITS, {"epsilon": 0.1, "max_queries": 500, "max_leaves": 4}),
    ),
}


def on_numbers(batch: Any) -> Any:
    return 0.37 * batch["age"] + 5.5 * (batch["owner"] == 1)


def other_numbers(batch: Any) -> Any:
    return 0.5 * batch["age"]


def on_half(batch: Any) -> Any:
    """What a small tree can answer where somebody is above 40."""
    return np.where(batch["age"] > 40, batch["owner"] == 1, np.modf(batch["age"] * 7.7)[0] > 0.5)


if os.environ.get("FIDELITREE_SOAK") == "1":
    KINDS |= {
        "numbers": (
            (on_numbers, MIXED, {"epsilon": 0.2, "tolerance": 4.5}),
            (other_numbers, MIXED, {"epsilon": 0.1, "tolerance": 5.5, "seed": 3}),
        ),
        "deferring": (
            (on_half, MIXED, {"epsilon": 0.2, "defer": True, "max_queries": 900, "max_leaves": 4}),
            (on_half, MIXED, {"epsilon": 0.25, "defer": True, "max_queries": 800, "max_leaves": 5, "seed": 2}),
        ),
    }


def made(folder: Path, call: Call, kind: str) -> ft.Distillation:
    target, space, arguments = call
    folder.mkdir(parents=True)
    where = {"journal": folder / "journal.db"}
    if kind == "extended":
        ft.distill(target, space, **{**arguments, "max_queries": 100}, **where)
    if kind == "frontier":
        return made_frontier(folder, call)
    result = ft.distill(target, space, **arguments, **where)
    if (
        kind == "pruned"
        and not result.certificate.differs
        and arguments.get("seed", 0) < 300
        and target is not other_bits
    ):
        shutil.rmtree(folder)
        return made(folder, (target, space, {**arguments, "seed": arguments.get("seed", 0) + 1}), kind)
    result.save(folder)
    return result


def made_frontier(folder: Path, call: Call) -> ft.Distillation:
    """A point that is not the knee."""
    target, space, arguments = call
    found = ft.frontier(target, space, **arguments, journal=folder / "journal.db").at(leaves=2)
    found.save(folder)
    return found


@dataclass(frozen=True)
class Forgery:
    """One change to a folder."""

    name: str
    file: str
    apply: Callable[[Path], None]

    def __str__(self) -> str:
        return self.name


def confirmed(folder: Path) -> bool:
    """Whether a folder is taken for what it says, certified or not; an error of ours is a refusal."""
    try:
        found = ft.verify(folder)
    except ft.FidelitreeError:
        return False
    decided = found.consistent and not found.undecided
    assert decided or not found.holds
    return decided


class Folder:
    """An honest result, to be tampered with and put right again."""

    def __init__(self, root: Path, kind: str, journal: bool = True) -> None:
        mine, theirs = KINDS[kind]
        self.kind = kind
        self.path, self.other = root / "mine", root / "theirs"
        self.result = made(self.path, mine, kind)
        made(self.other, theirs, kind)
        if not journal:
            (self.path / "journal.db").unlink()
        self._honest = {file.name: file.read_bytes() for file in self.path.iterdir()}

    def confirms(self, *forgeries: Forgery) -> bool:
        """Whether the folder is confirmed with these changes."""
        try:
            for forgery in forgeries:
                forgery.apply(self.path)
            self._sign()
            return confirmed(self.path)
        finally:
            for file in self.path.iterdir():
                if file.name not in self._honest:
                    file.unlink()
            for name, content in self._honest.items():
                (self.path / name).write_bytes(content)

    def _sign(self) -> None:
        """The digests of what was forged; who has forged the digests leaves them as they are."""
        path = self.path / "run.json"
        honest = json.loads(self._honest["run.json"])["files"]
        if not path.exists():
            return
        told = json.loads(path.read_text(encoding="utf-8"))
        if told.get("files") == honest:
            signed = [name for name in ("tested.json", *honest) if (self.path / name).exists()]
            told["files"] = {name: hashlib.sha256((self.path / name).read_bytes()).hexdigest() for name in signed}
            path.write_text(json.dumps(told), encoding="utf-8")

    def forgeries(self) -> list[Forgery]:
        """All single ones, but for those that nothing is promised about."""
        found = [*self._files(), *self._trace()]
        for file in ("tree.json", "tested.json", "certificate.json", "frontier.json", "space.json", "run.json"):
            if file in self._honest:
                forged = list(_in_json(file, self.path, self.other))
                most = {True: MORE, False: SOME}[self.kind == "frontier"] if file == "frontier.json" else len(forged)
                found += random.Random(2).sample(forged, most) if most < len(forged) else forged
        if "journal.db" in self._honest:
            found += _in_journal(self.path, self.other)
        rules = {**NO_PROMISE, **({"earlier runs of the journal": EARLIER} if self.kind == "extended" else {})}
        assert {*rules, SAME_CALL} == set(UNCHECKED)
        return [one for one in found if not any(re.search(rule, one.name) for rule in rules.values())]

    def _files(self) -> Iterator[Forgery]:
        for name in sorted(self._honest.keys() - {"verify.py", "README.txt"}):  # they say nothing about the result
            yield Forgery(f"{name} removed", name, lambda folder, name=name: (folder / name).unlink(missing_ok=True))
            theirs = self.other / name
            if theirs.exists() and theirs.read_bytes() != self._honest[name]:
                content = theirs.read_bytes()
                yield Forgery(f"{name} swapped", name, lambda f, name=name, c=content: (f / name).write_bytes(c))

    def _trace(self) -> Iterator[Forgery]:
        lines = self._honest["trace.csv"].decode().splitlines()
        for row in {1, len(lines) - 1} & set(range(1, len(lines))):
            cut = "\n".join([*lines[:row], *lines[row + 1 :]]) + "\n"
            yield Forgery(
                f"trace.csv {row} removed", "trace.csv", lambda f, t=cut: (f / "trace.csv").write_bytes(t.encode())
            )
            cells = lines[row].split(",")
            for place in range(len(cells)):
                changed = ",".join([*cells[:place], cells[place] + "1", *cells[place + 1 :]])
                text = "\n".join([*lines[:row], changed, *lines[row + 1 :]]) + "\n"
                yield Forgery(
                    f"trace.csv {row}: {place}",
                    "trace.csv",
                    lambda f, t=text: (f / "trace.csv").write_bytes(t.encode()),
                )


Place = tuple[Any, ...]
GONE = object()


def _places(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every entry of plain data, the large ones in parts: of a list, the first two and the last."""
    if place:
        yield place, value
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from _places(entry, (*place, key))
    elif isinstance(value, list):
        for number in sorted({0, 1, len(value) - 1} & set(range(len(value)))):
            yield from _places(value[number], (*place, number))


def _others(value: Any) -> list[Any]:
    """Values that somebody might write instead."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if isinstance(value, float):
        return [value * 0.75 or 0.5, value * 1.25 + 0.001]
    if isinstance(value, str):
        return [value[:-1] + ("0" if value[-1:] != "0" else "1"), *([""] if value else [])]
    return [0.01] if value is None else []


def _at(value: Any, place: Place) -> Any:
    for step in place:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return GONE
    return value


def _changed(data: Any, place: Place, value: Any) -> Any:
    """Plain data with another entry; where the entry is gone already, as it is."""
    data = json.loads(json.dumps(data))
    inside = _at(data, place[:-1])
    if inside is not GONE and _at(data, place) is not GONE:
        if value is GONE:
            del inside[place[-1]]
        else:
            inside[place[-1]] = value
    return data


def _variants(mine: Any, theirs: Any) -> Iterator[tuple[str, Place, Any]]:
    for place, value in _places(mine):
        path = ".".join(map(str, place))
        for other in _others(value):
            yield path, place, other
        if value is not None:  # older files do without what is None
            yield path, place, GONE
        swapped = _at(theirs, place)
        if swapped is not GONE and swapped != value and not _rounds_to(swapped, value):
            yield path, place, swapped


def _rounds_to(one: Any, two: Any) -> bool:
    """Whether two numbers are one as far as files are compared."""
    return isinstance(one, float) and isinstance(two, float) and math.isclose(one, two, rel_tol=1e-6)


def _in_json(file: str, folder: Path, other: Path) -> Iterator[Forgery]:
    mine = json.loads((folder / file).read_text(encoding="utf-8"))
    theirs = json.loads((other / file).read_text(encoding="utf-8")) if (other / file).exists() else None

    def forge(folder: Path, place: Place, value: Any) -> None:
        if (folder / file).exists():
            data = json.loads((folder / file).read_text(encoding="utf-8"))
            (folder / file).write_bytes(json.dumps(_changed(data, place, value)).encode())

    for path, place, value in _variants(mine, theirs):
        yield Forgery(f"{file}: {path}", file, lambda f, p=place, v=value: forge(f, p, v))


def _rows(journal: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(journal)) as file:
        return file.execute(query).fetchall()


def _sql(statement: str, *values: Any) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        if (folder / "journal.db").exists():
            with closing(sqlite3.connect(folder / "journal.db")) as file, file:
                file.execute(statement, values)

    return apply


ATTEMPT = (
    "ledger",
    "number",
    "tree",
    "labels",
    "tests",
    "labels_since",
    "tests_since",
    "run",
    "before",
    "key",
)


def _in_journal(folder: Path, other: Path) -> Iterator[Forgery]:
    theirs = dict(_rows(other / "journal.db", "SELECT name, value FROM run"))
    for name, text in _rows(folder / "journal.db", "SELECT name, value FROM run"):
        about, mine = f"journal.db run: {name}", {name: json.loads(text)}
        yield Forgery(about, "journal.db", _sql("DELETE FROM run WHERE name = ?", name))
        for path, place, value in _variants(mine, {name: json.loads(theirs.get(name, "null"))}):
            if len(place) > 1 or value is not GONE:
                changed = json.dumps(_changed(mine, place, value)[name])
                put = _sql("UPDATE run SET value = ? WHERE name = ?", changed, name)
                yield Forgery(f"journal.db run: {path}", "journal.db", put)
    yield from _in_rows(folder / "journal.db", "attempts", "number", ATTEMPT)
    columns = ("purpose", "batch", "start", "count", "digest", "kind", "inputs", "labels", "seconds", "seal")
    yield from _in_rows(folder / "journal.db", "answers", "id", columns)


def _in_rows(journal: Path, table: str, key: str, columns: tuple[str, ...]) -> Iterator[Forgery]:
    found = _rows(journal, f"SELECT {key}, {', '.join(columns)} FROM {table} ORDER BY {key}")
    for row in {found[0], found[-1]} if found else ():
        about = f"journal.db {table} {row[0]}"
        yield Forgery(about, "journal.db", _sql(f"DELETE FROM {table} WHERE {key} = ?", row[0]))
        for column, value in zip(columns, row[1:], strict=True):
            for other in [bytes([value[0] ^ 1]) + value[1:]] if isinstance(value, bytes) else _others(value):
                put = _sql(f"UPDATE OR REPLACE {table} SET {column} = ? WHERE {key} = ?", other, row[0])
                yield Forgery(f"{about}: {column}", "journal.db", put)


@pytest.fixture(scope="module", params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return Folder(tmp_path_factory.mktemp("forged"), request.param)


def test_the_honest_folder_is_confirmed(folder: Folder) -> None:
    assert folder.confirms()


def test_no_single_forgery_is_confirmed(folder: Folder, soak: bool) -> None:
    """Outside the soak every second entry is forged in one of its ways, in the next kind of folder the others and in
    another way; what few kinds have is always forged."""
    forgeries = folder.forgeries()
    assert len(forgeries) > 150
    ways: dict[str, list[Forgery]] = {}
    for one in forgeries:
        ways.setdefault(one.name, []).append(one)
    turn = list(KINDS).index(folder.kind)
    some = [
        each[(turn + place) % len(each)]
        for place, each in enumerate(ways.values())
        if (turn + place) % 2 or each[0].file == "tested.json"
    ]
    assert [
        str(one) for one in (forgeries if soak else some) if folder.confirms(one) and not harmless(folder, one)
    ] == []


def harmless(folder: Folder, forgery: Forgery) -> bool:
    """Of a tree that was tested itself, version 1 of its certificate says the same."""
    return forgery.name == "certificate.json: version" and not (folder.path / "tested.json").exists()


def test_no_pair_of_forgeries_is_confirmed(folder: Folder, soak: bool) -> None:
    forgeries, chance, most = folder.forgeries(), random.Random(1), MANY_PAIRS if soak else PAIRS
    alike = [pair for pair in combinations(forgeries, 2) if _tell_the_same(*pair)]
    pairs = [chance.sample(forgeries, 2) for _ in range(most)] + chance.sample(alike, min(most, len(alike)))
    found = [(one, two) for one, two in pairs if folder.confirms(one, two)]
    assert [f"{one} & {two}" for one, two in found if not _another_call(one, two)] == []


def _entry(forgery: Forgery) -> str:
    return forgery.name.partition(": ")[2].rpartition(".")[2]


def _tell_the_same(one: Forgery, two: Forgery) -> bool:
    """Whether two files have the same entry forged, often in the same way."""
    return one.file != two.file and _entry(one) == _entry(two) != ""


def _another_call(one: Forgery, two: Forgery) -> bool:
    """Call and journal tell alike of another call, which would have led to the same: ``SAME_CALL``."""
    return _tell_the_same(one, two) and {one.file, two.file} == {"run.json", "journal.db"}


def test_without_a_journal_nothing_is_confirmed(tmp_path: Path) -> None:
    folder = Folder(tmp_path, "bits", journal=False)
    assert not folder.confirms()
    found = ft.verify(folder.path)
    assert (found.consistent, found.undecided, found.holds) == (True, True, False)
    assert [str(one) for one in folder.forgeries() if folder.confirms(one)] == []


@pytest.mark.parametrize("change", ["seed", "target", "no journal"])
@pytest.mark.parametrize("forged", ["certificate", "tree"])
def test_the_forgeries_that_0_1_0_took_for_consistent(tmp_path: Path, forged: str, change: str) -> None:
    """A flattered bound, or a tree that never says yes, beside a journal that was made to look like another run's."""
    folder = Folder(tmp_path, "bits").path
    data = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    if forged == "certificate":
        data |= {"samples": 10_000, "errors": 0, "error_bound": 1.01 * error_bound(0, 10_000, data["level"])}
    else:
        lazy = ft.Tree.constant(BITS, 0)
        lazy.save(folder / "tree.json")
        data["tree_digest"] = lazy.digest
    (folder / "certificate.json").write_text(json.dumps(data), encoding="utf-8")
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    run.pop("files", None)
    if change == "no journal":
        (folder / "journal.db").unlink()
    else:
        run[change] = {"seed": 99, "target": "somebody"}[change]
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    assert not ft.verify(folder).holds


def _memorised(rows: list[list[int]], labels: list[int], asked: tuple[int, ...] = ()) -> list[dict[str, Any]]:
    """The nodes of a tree over bits that is never wrong about these rows, in preorder."""
    free = (i for i in range(len(rows[0])) if i not in asked and len({row[i] for row in rows}) > 1)
    place = next(free, None) if len(set(labels)) > 1 else None
    if place is None:
        return [{"label": labels[0]}]
    sides: list[list[dict[str, Any]]] = []
    for value in (0, 1):
        some = [k for k, row in enumerate(rows) if row[place] == value]
        sides.append(_memorised([rows[k] for k in some], [labels[k] for k in some], (*asked, place)))
    moved = [
        {**node, "no": node["no"] + shift, "yes": node["yes"] + shift} if "test" in node else node
        for side, shift in zip(sides, (1, 1 + len(sides[0])), strict=True)
        for node in side
    ]
    return [{"test": {"feature": place, "is": 1}, "no": 1, "yes": 1 + len(sides[0])}, *moved]


def _beside(file: sqlite3.Connection, digest: str, told: dict[str, Any]) -> None:
    """One more attempt, with a key of its own, opened where the honest one was: its inputs would be that one's."""
    names = "ledger, labels, tests, run, before"
    which = (told["ledger"], told["attempt"])
    row = file.execute(f"SELECT {names} FROM attempts WHERE ledger = ? AND number = ?", which).fetchone()
    ledger, labels, tests, run, before = row
    key = hashlib.sha256(f"{before}/{ledger}/{labels}/{tests}/{digest}".encode()).hexdigest()
    number = file.execute("SELECT max(number) FROM attempts WHERE ledger = ?", (ledger,)).fetchone()[0] + 1
    told |= {"attempt": number, "attempts": number, "level": level_in(ledger, number, told["delta"])}
    marks = ", ".join("?" * 10)
    values = (ledger, number, digest, labels, tests, labels, tests, run, before, key)
    file.execute(f"INSERT INTO attempts VALUES ({marks})", values)


def refitted(folder: Path, way: str) -> None:
    """Make a tree that is right about all its test inputs, and say that it was the one that was tested."""
    with closing(sqlite3.connect(folder / "journal.db")) as file:
        found = file.execute(
            "SELECT count, inputs, labels FROM answers WHERE purpose = 'certify' ORDER BY id"
        ).fetchall()
    rows: list[list[int]] = []
    labels: list[int] = []
    for count, inputs, answers in found:
        packed = np.frombuffer(inputs, np.uint8).reshape(count, -1)
        rows += np.unpackbits(packed, axis=1, count=len(BITS)).tolist()
        labels += np.frombuffer(answers, np.uint8).tolist()
    told = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    tree = {**json.loads((folder / "tree.json").read_text(encoding="utf-8")), "nodes": _memorised(rows, labels)}
    tree["labels"] = {"type": "bool", "values": [False, True]}
    digest = ft.Tree.from_dict(tree).digest
    with closing(sqlite3.connect(folder / "journal.db")) as file, file:
        which = (told["ledger"], told["attempt"])
        if way == "beside":
            _beside(file, digest, told)
        else:
            file.execute("UPDATE attempts SET tree = ? WHERE ledger = ? AND number = ?", (digest, *which))
        if way == "chained":
            (first,) = file.execute(
                "SELECT before FROM attempts WHERE before NOT IN (SELECT key FROM attempts)"
            ).fetchone()
            chain(file, first)
    bound = error_bound(0, told["samples"], told["level"])
    told |= {"tree_digest": digest, "tested_digest": None, "errors": 0, "differs": 0.0, "error_bound": bound}
    told |= {"holds": bound <= told["epsilon"], "confusion": None}
    told.pop("tested_errors", None)
    (folder / "tree.json").write_text(json.dumps(tree), encoding="utf-8")
    (folder / "certificate.json").write_text(json.dumps(told), encoding="utf-8")
    for name in ("tested.json", "frontier.json"):
        (folder / name).unlink(missing_ok=True)
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    here = [name for name in run["files"] if (folder / name).exists()]
    run["files"] = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in here}
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")


@pytest.mark.parametrize("way", ["replaced", "chained", "beside"])
def test_a_tree_that_was_fitted_to_its_own_test_inputs_is_refused(tmp_path: Path, way: str) -> None:
    """No answer and no seal is touched: 0.2.0 confirmed a bound of a third of the true error."""
    made(tmp_path / "kept", (on_last, BITS, {"epsilon": 0.06, "seed": 0}), "bits")
    refitted(tmp_path / "kept", way)
    told = json.loads((tmp_path / "kept" / "certificate.json").read_text(encoding="utf-8"))
    assert told["errors"] == 0
    wrong = np.mean(
        ft.Tree.load(tmp_path / "kept" / "tree.json").predict(BITS.draw(20_000, seed=9))
        != on_last(BITS.draw(20_000, seed=9))
    )
    assert wrong > 3 * told["error_bound"], "the bound is far below the true error"
    found = [ft.verify(tmp_path / "kept", answers=True), ft.verify(tmp_path / "kept")]
    ends = standalone.main(tmp_path / "kept")
    assert (ends, found[0].holds) == (2, False), "0.2.0 ended with 0 and True"
    assert [one.verdict for one in found] == ["contradicted", "contradicted"]
    page = Viewer(tmp_path / "kept").page("verify", {"of": "this"}).body
    assert "This folder contradicts itself" in page
