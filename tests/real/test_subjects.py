"""The models that the benchmarks measure: what is asked from inside is what a user's table would be answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fidelitree.targets import load_model

ROOT = Path(__file__).resolve().parents[2]
NAMES = [
    "COMPAS",
    "Seeds",
    "Breast-Cancer",
    "HTRU2",
    "LightGBM",
    "agaricus",
    "dermatology",
    "iris",
    "bank",
    "TestNetwork2",
]


@pytest.fixture
def subjects(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT))
    for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):  # benchmarks/__init__.py sets them
        monkeypatch.setenv(f"{library}_NUM_THREADS", "1")
    from benchmarks import subjects

    monkeypatch.setattr(subjects, "DATA", data_dir)
    return subjects


def test_each_answers_inputs_drawn_from_its_marginals(subjects: Any) -> None:
    found = subjects.everything()
    assert [subject.name for subject in found] == NAMES
    for subject in found:
        inputs = subject.draw(3_000, seed=1)
        assert inputs.shape == (3_000, len(subject.features))
        assert np.array_equal(inputs, subject.draw(3_000, seed=1))
        assert np.isfinite(inputs).all()
        for column, values in zip(inputs.T, subject.marginals, strict=True):
            assert ((column >= values.min()) & (column <= values.max())).all()
            assert subject.uniform or np.isin(column, values).all()
        labels = subject.target(inputs)
        assert np.array_equal(labels, subject.target(inputs))
        assert len(np.unique(labels)) > 1
    assert [subject.name for subject in found if subject.bits] == ["COMPAS", "agaricus"]


def test_forests_vote_as_their_files_say(subjects: Any) -> None:
    """Row by row, by hand."""
    for name in subjects.FORESTS:
        subject = subjects.forest(name)
        for row in subject.draw(40, seed=2):
            votes = [0] * subject.target.classes
            for tree in subject.target.trees:
                fields = tree[0]
                while fields[1] == "IN":
                    fields = tree[int(fields[2 if row[int(fields[4])] <= float(fields[5]) else 3])]
                votes[int(fields[7])] += 1
            assert subject.target(row[None])[0] == votes.index(max(votes))


def test_the_network_in_layers_is_the_network_of_the_file(subjects: Any) -> None:
    subject = subjects.onnx_network()
    inputs = subject.draw(1_000, seed=3)
    model = load_model(subjects.DATA / "models" / "TestNetwork2.onnx", labels="argmin")
    assert subject.target(inputs).tolist() == model(inputs).tolist()


def test_bank_from_inside_is_bank_as_a_table(subjects: Any) -> None:
    bank = subjects.bank()
    inputs = bank.draw(2_000, seed=4)
    table = bank.table(inputs)
    assert table["job"].iloc[0] in bank.categories["job"]
    assert table["balance"].dtype == np.int64
    assert bank.model(table).tolist() == bank.target(inputs).tolist()
    assert len(bank.rows) == 11_162 - 8
