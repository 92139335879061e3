"""Fresh entropy in every audit of a callable: recorded, replayed on demand, and kept in a journal."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree.runs.agree.audit import ASSUMES_UNCHANGED

if TYPE_CHECKING:
    from pathlib import Path

SPACE = ft.ProductSpace.bernoulli(30)
ROWS = ft.Rows({"age": np.arange(300.0), "rooms": np.arange(300.0) % 7})
RECORDED = "00112233445566778899aabbccddeeff"


def target(batch: Any) -> Any:
    return batch[:, 0]


def nearly(batch: Any) -> Any:
    return batch[:, 0] ^ batch[:, 1:5].all(axis=1)


def younger(batch: Any) -> Any:
    return batch["age"] < 150


class Spy:
    """Keeps the inputs that were asked."""

    def __init__(self) -> None:
        self.seen: list[bytes] = []

    def __call__(self, batch: Any) -> Any:
        self.seen.extend(row.tobytes() for row in np.ascontiguousarray(batch))
        return target(batch)


@pytest.mark.parametrize("seed", [5, None])
def test_every_audit_of_a_callable_has_entropy_of_its_own(seed: int | None) -> None:
    one, two = Spy(), Spy()
    first, second = (ft.certify(nearly, spy, SPACE, 0.1, seed=seed) for spy in (one, two))
    assert first.entropy != second.entropy
    assert len(str(first.entropy)) == 32
    assert (first.replayed, second.replayed) == (False, False)
    assert not set(one.seen) & set(two.seen)
    assert "replay" not in str(first)


@pytest.mark.parametrize("seed", [5, None])
def test_seed_and_entropy_replay_an_audit(seed: int | None) -> None:
    one, two = Spy(), Spy()
    first = ft.certify(nearly, one, SPACE, 0.1, seed=seed)
    again = ft.certify(nearly, two, SPACE, 0.1, seed=first.seed, entropy=first.entropy)
    assert one.seen == two.seen
    assert again == replace(first, replayed=True, seed_chosen=True)
    assert str(again) == (
        f"{first} This is a replay of an audit: it proves nothing about a predictor that was changed since."
    )


def test_the_order_of_rows_follows_from_entropy_too() -> None:
    asked: list[list[float]] = []

    def spied_on(batch: Any) -> Any:
        asked.append(batch["age"].tolist())
        return younger(batch)

    first, second = (ft.certify(younger, spied_on, ROWS, 0.1, seed=0) for _ in range(2))
    assert asked[0] != asked[1]
    again = ft.certify(younger, spied_on, ROWS, 0.1, seed=0, entropy=first.entropy)
    assert asked[2] == asked[0]
    assert (again.replayed, second.replayed) == (True, False)


def test_trees_and_exact_certificates_have_none() -> None:
    tree = ft.Tree.constant(SPACE, 0)
    assert ft.certify(tree, target, SPACE, 0.7, seed=0).entropy is None
    assert ft.certify(tree, target, SPACE, 0.7, seed=0) == ft.certify(tree, target, SPACE, 0.7, seed=0)
    small = ft.ProductSpace.bernoulli(3)
    exact = ft.certify(target, target, small, 0.1, seed=0, entropy=RECORDED)
    assert (exact.method, exact.entropy, exact.replayed) == ("exact", None, False)


@pytest.mark.parametrize(
    ("predictor", "given", "message"),
    [
        (nearly, {"seed": 1, "entropy": 7}, "entropy must be the 32 hexadecimal digits that a certificate records"),
        (nearly, {"seed": 1, "entropy": RECORDED.upper()}, "got '00112233445566778899AABBCCDDEEFF' - leave it out"),
        (nearly, {"seed": 1, "entropy": RECORDED + "\n"}, "leave it out for a new audit"),
        (nearly, {"entropy": RECORDED}, "seed must be that of the certificate whose entropy is given; got None"),
        (
            ft.Tree.constant(SPACE, 0),
            {"seed": 1, "entropy": RECORDED},
            "entropy must be None where a tree is audited: its digest takes its place; got '0011",
        ),
    ],
)
def test_what_is_no_recorded_entropy_is_refused(predictor: Any, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        ft.certify(predictor, lambda batch: pytest.fail("asked"), SPACE, **given)
    assert message in str(caught.value)


def test_a_resumed_audit_takes_the_entropy_of_its_journal_and_is_no_replay(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    short = ft.certify(nearly, target, SPACE, 0.1, seed=3, journal=path, max_queries=20)
    whole = ft.certify(nearly, target, SPACE, 0.1, seed=3, journal=path)
    assert (whole.entropy, whole.replayed, short.replayed) == (short.entropy, False, False)
    undisturbed = ft.certify(nearly, target, SPACE, 0.1, seed=3, entropy=short.entropy)
    assert whole == replace(undisturbed, replayed=False, assumes=(*undisturbed.assumes, ASSUMES_UNCHANGED))
    assert ft.journal.info(path).run.entropy == short.entropy


def test_a_resumed_audit_says_that_the_predictor_must_be_the_same(tmp_path: Path) -> None:
    """The journal tells which inputs come, and the digest of a callable misses what was patched."""
    path, tree = tmp_path / "audit.db", tmp_path / "tree.db"
    first, resumed = (ft.certify(nearly, target, SPACE, 0.1, seed=3, journal=path) for _ in range(2))
    assert "changed" not in str(first)
    assert str(resumed).endswith("; the predictor was not changed since the journal was begun.")
    constant = ft.Tree.constant(SPACE, 0)
    one, two = (ft.certify(constant, target, SPACE, 0.7, seed=3, journal=tree) for _ in range(2))
    assert one == two, "the digest of a tree misses nothing"


def test_a_journal_of_a_replay_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    given = {"seed": 3, "entropy": RECORDED, "journal": path}
    assert ft.certify(nearly, target, SPACE, 0.1, max_queries=20, **given).replayed
    for more in (given, {"journal": path}):
        found = ft.certify(nearly, target, SPACE, 0.1, **more)
        assert (found.replayed, found.entropy) == (True, RECORDED)


def test_a_journal_is_not_mixed_with_another_entropy(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    first = ft.certify(nearly, target, SPACE, 0.1, seed=3, journal=path)
    with pytest.raises(ft.ParameterError, match=f"entropy was '{first.entropy}' and is '{RECORDED}' now"):
        ft.certify(nearly, target, SPACE, 0.1, seed=3, entropy=RECORDED, journal=path)
    with pytest.raises(ft.ParameterError, match="replayed was False and is True now"):
        ft.certify(nearly, target, SPACE, 0.1, seed=3, entropy=first.entropy, journal=path)
