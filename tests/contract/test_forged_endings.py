"""Stored results that tell of another moment, another table of answers or another way for missing numbers than is true.

No answer, seal or key is touched, and digests are worked out anew. Honest runs that were cut off are confirmed.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.certificates import standalone
from fidelitree.certificates.confusion import Confusion
from fidelitree.certificates.confusionfile import to_dict
from fidelitree.runs.agree.last_answers import Endings
from fidelitree.theory.sequential import error_bound
from forging import endings, read, signed, write

if TYPE_CHECKING:
    from pathlib import Path

GAPS = ft.ProductSpace([ft.Numeric("x", 0, 1, missing=0.3), ft.Numeric("y", 0, 1)])


def on_gaps(batch: Any) -> Any:
    return np.where(np.isnan(batch["x"]), 0, np.asarray(batch["x"]) > 0.3).astype(int)


def on_eleven(bits: Any) -> Any:
    """No small tree comes near it."""
    return (bits[:, :9].sum(axis=1) + bits[:, 0] + bits[:, 1] > 4).astype(int)


def saved(folder: Path, door: Any, target: Any, space: Any, **more: Any) -> Any:
    folder.mkdir(parents=True)
    made = door(target, space, journal=folder / "journal.db", **more)
    made.save(folder)
    return made


def counted(folder: Path) -> tuple[standalone.Folder, standalone.Tree, list[Any]]:
    """What the folder's own program reads, the tested tree, and the test inputs that it answers, with their labels."""
    found = standalone.Folder(folder)
    told = found.certificate
    tested = folder / "tested.json"
    tree = standalone.Tree(read(folder, "tested.json" if tested.exists() else "tree.json"))
    attempt = found.journal.attempts[told["ledger"], told["attempt"]]
    return found, tree, found.answered(tree, "certify", attempt, told["samples"])


@pytest.mark.parametrize("table", [False, True])
def test_a_tree_that_forgets_where_missing_numbers_go_is_refused(tmp_path: Path, table: bool) -> None:
    """It looked equal to the tree that was tested, and errs on all that is missing."""
    rng = np.random.default_rng(1)
    x = np.where(rng.random(900) < 0.3, np.nan, rng.uniform(0, 1, 900))
    space = {"x": x, "y": rng.uniform(0, 1, 900)} if table else GAPS
    folder = tmp_path / "kept"
    saved(folder, ft.distill, on_gaps, space, epsilon=0.1, seed=2)
    tree = read(folder, "tree.json")
    assert not (folder / "tested.json").exists()
    assert '"missing": true' in json.dumps(tree)
    shutil.copy(folder / "tree.json", folder / "tested.json")
    for node in tree["nodes"]:
        node.get("test", {}).pop("missing", None)
    found, tested, answers = counted(folder)
    forged, told = standalone.Tree(tree), found.certificate
    assert found.apart(forged, tested) == pytest.approx(0.3, abs=0.05)
    errors = found.wrong(forged, told, answers)[-1]
    assert errors > 4 * told["errors"]
    changed = {"tree_digest": forged.digest, "tested_digest": tested.digest, "differs": 0.0, "confusion": None}
    more = {"errors": errors, "tested_errors": told["errors"], "real_rows": None}
    write(folder, "tree.json", tree)
    write(folder, "certificate.json", {**told, **changed, **more})
    signed(folder)
    assert endings(folder)[0] == 2
    assert endings(folder)[1] in ("contradicted", "refused")


@pytest.mark.parametrize("door", [ft.frontier, ft.distill], ids=["frontier", "distill"])
def test_the_luckiest_moment_is_refused(tmp_path: Path, door: Any) -> None:
    folder = tmp_path / "kept"
    more = {"max_leaves": 20} if door is ft.frontier else {"epsilon": 0.02}
    for seed in range(11, 31):
        shutil.rmtree(folder, ignore_errors=True)
        space = ft.ProductSpace.bernoulli(14, 0.4)
        made = saved(folder, door, on_eleven, space, seed=seed, max_queries=2_500, **more)
        if door is ft.frontier or made.certificate.ledger == "run":  # one that stands counts the last answers, too
            break
    signed(folder)
    assert endings(folder)[1] in ("confirmed", "missed")
    found, tested, answers = counted(folder)
    told, tree = found.certificate, standalone.Tree(read(folder, "tree.json"))
    assert told["ledger"] == ("frontier" if door is ft.frontier else "run")
    wrong, own = found.wrong(tested, told, answers), found.wrong(tree, told, answers)
    bounds = [error_bound(errors, count, told["level"]) for count, errors in enumerate(wrong)]
    for count in {int(np.argmin(bounds[: int(share * len(wrong))])) for share in (0.5, 0.7, 0.8)}:
        bound = min(1.0, bounds[count] + told["differs"])
        changed = {"samples": count, "errors": own[count], "error_bound": bound, "confusion": None}
        more = {} if told.get("tested_errors") is None else {"tested_errors": wrong[count]}
        holds = bound < 1 if told["epsilon"] is None else bound <= told["epsilon"]
        write(folder, "certificate.json", {**told, **changed, **more, "holds": holds})
        signed(folder)
        assert endings(folder) == (2, "contradicted"), (count, told["samples"])


def test_of_a_standing_attempt_the_last_answers_count_too(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    space = ft.ProductSpace.bernoulli(12)
    asked = [0]

    def tired(bits: Any) -> Any:
        asked[0] += len(bits)
        if asked[0] > 200:
            raise KeyboardInterrupt
        return bits[:, :9].sum(axis=1) > 4

    saved(folder, ft.distill, tired, space, epsilon=0.01, seed=3)
    signed(folder)
    assert endings(folder) == (3, "missed")
    found, tested, answers = counted(folder)
    told = found.certificate
    assert told["ledger"] == "standing"
    wrong = found.wrong(tested, told, answers)
    own = found.wrong(standalone.Tree(read(folder, "tree.json")), told, answers)
    for count in (len(answers) // 3, len(answers) // 2):
        bound = min(1.0, error_bound(wrong[count], count, told["level"]) + told["differs"])
        changed = {"samples": count, "errors": own[count], "error_bound": bound, "holds": False, "confusion": None}
        more = {} if told.get("tested_errors") is None else {"tested_errors": wrong[count]}
        write(folder, "certificate.json", {**told, **changed, **more})
        signed(folder)
        assert endings(folder) in ((2, "contradicted"), (5, "undecided"))


@pytest.mark.parametrize("most", [300, 420, 600, 777, 1_000])
def test_a_run_that_was_cut_off_within_a_batch_is_confirmed(tmp_path: Path, most: int) -> None:
    """Part of its last batch was answered, and counts for no tree."""
    calls = [0]

    def tired(bits: Any) -> Any:
        calls[0] += len(bits)
        if calls[0] > most:
            raise KeyboardInterrupt
        return on_eleven(bits)

    saved(tmp_path / "kept", ft.frontier, tired, ft.ProductSpace.bernoulli(14, 0.4), seed=11, max_leaves=12)
    assert endings(tmp_path / "kept") in ((0, "confirmed"), (3, "missed"))


def test_a_run_that_others_extended_is_confirmed_and_so_are_they(tmp_path: Path) -> None:
    journal = tmp_path / "run.db"
    space = ft.ProductSpace.bernoulli(24, 0.4)  # so many inputs that no run draws by chance what another one was asked
    for most in (400, 900, 1_500):
        made = ft.frontier(on_eleven, space, seed=11, max_leaves=12, max_queries=most, journal=journal)
        made.save(tmp_path / str(most))
    for most in (400, 900, 1_500):
        shutil.copy(journal, tmp_path / str(most) / "journal.db")
        assert endings(tmp_path / str(most))[1] in ("confirmed", "missed"), most
        assert endings(tmp_path / str(most))[0] in (0, 3), most


@pytest.mark.parametrize("way", ["honest", "moved", "hidden"])
def test_a_table_of_answers_is_counted_again(tmp_path: Path, way: str) -> None:
    """Hidden is a label that the tree never answers."""
    folder = tmp_path / "kept"
    space = ft.ProductSpace([ft.Numeric("age", 18, 90), ft.Numeric("income", 0, 100)])

    def rare(batch: Any) -> Any:
        income = np.asarray(batch["income"])
        return np.where(np.asarray(batch["age"]) > 87, "ask", np.where(income > 30, "yes", "no"))

    saved(folder, ft.distill, rare, space, epsilon=0.15, seed=1)
    told = read(folder, "certificate.json")
    assert [one["label"] for one in told["confusion"]["never"]] == ["ask"]
    cells = {(one["target"], one["tree"]): one["count"] for one in told["confusion"]["cells"]}
    if way == "hidden":
        lost = {pair: count for pair, count in cells.items() if pair[0] == "ask"}
        for (_, answer), count in lost.items():
            other = ("no" if answer == "yes" else "yes"), answer
            cells[other] = cells.get(other, 0) + count
            del cells["ask", answer]
    elif way == "moved":
        cells["yes", "yes"], cells["no", "no"] = cells["yes", "yes"] - 1, cells["no", "no"] + 1
    table = Confusion.of(cells, told["confusion"]["level"], () if way == "hidden" else ["ask"])
    assert table is not None
    if way != "honest":
        write(folder, "certificate.json", {**told, "confusion": to_dict(table)})
    signed(folder)
    assert endings(folder) == ((0, "confirmed") if way == "honest" else (2, "contradicted"))


def test_counts_end_where_a_batch_does() -> None:
    """Three batches of two, and one input that the first of them had already."""
    keys = [b"a", b"b", b"c", b"d", b"a", b"e", b"f"]
    asked = {key: ("certify", place // 2, place) for place, key in enumerate(dict.fromkeys(keys))}
    found = Endings.of(keys, asked, "certify", paid=99)
    assert [count for count in range(9) if found.allow(count)] == [4, 5, 7, 8]
    earlier = Endings.of(keys, asked, "certify", paid=3)
    assert [count for count in range(9) if earlier.allow(count)] == [2, 3, 4, 5, 6, 7, 8]
    assert Endings.of(keys, {}, "certify", paid=9).allow(0)


@pytest.mark.parametrize("most", [32, 40, 48])
def test_a_run_that_ended_before_its_first_attempt_is_no_forgery(tmp_path: Path, most: int) -> None:
    """Nothing is certified, and no attempt was opened: both verifiers called such folders contradictory."""
    folder, space, asked = tmp_path / "kept", ft.ProductSpace.bernoulli(14, 0.4), [0]

    def tired(bits: Any) -> Any:
        asked[0] += len(bits)
        if asked[0] > most:
            raise KeyboardInterrupt
        return on_eleven(bits)

    saved(folder, ft.distill, tired, space, epsilon=0.02, seed=3)
    told = read(folder, "certificate.json")
    assert (told["samples"], told["error_bound"]) == (0, 1)
    assert endings(folder) == (3, "missed")
    write(folder, "certificate.json", {**told, "samples": 9, "error_bound": error_bound(0, 9, told["level"])})
    signed(folder)
    assert endings(folder) == (2, "contradicted")


def test_files_of_others_in_a_folder_are_none_of_ours(tmp_path: Path) -> None:
    """The model itself may lie beside its tree, as model.json; verify.py said not to rely on such a folder."""
    folder = tmp_path / "kept"
    saved(folder, ft.distill, on_eleven, ft.ProductSpace.bernoulli(14, 0.4), epsilon=0.2, seed=3)
    (folder / "model.json").write_text("{}", encoding="utf-8")
    assert endings(folder) == (0, "confirmed")
    (folder / "surrogate.json").write_text("{}", encoding="utf-8")
    assert endings(folder)[0] == 2
