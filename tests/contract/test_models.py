"""Every kind of model behind its adapter, one battery: the library's own labels for any batch of any size and kind."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fidelitree as ft
from fidelitree import targets
from fidelitree.targets import Command, Function, Model
from trained import KINDS, NAMES, Trained, inputs

Make = Callable[[Path], Trained]


@pytest.fixture(scope="module", params=KINDS, ids=lambda make: make.__name__)
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trained]:
    made = request.param(tmp_path_factory.mktemp(request.param.__name__))
    yield made
    if isinstance(made.model, Command):
        made.model.close()


X = inputs()[:60]


def as_kinds(x: Any) -> dict[str, Any]:
    """The same inputs in every form that a space gives."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    columns = dict(zip(NAMES, x.T.copy(), strict=True))
    whole = {name: column.astype(np.int64) if name in NAMES[2:] else column for name, column in columns.items()}
    return {
        "dict": columns,
        "whole": whole,
        "pandas": pd.DataFrame(whole),
        "polars": pl.DataFrame(whole),
        "arrow": pa.table(whole),
        "fortran": np.asfortranarray(x),
    }


def test_every_kind_that_ships_is_here() -> None:
    shipped = {kind for name in targets.__all__ if isinstance(kind := getattr(targets, name), type)}
    ours = {kind for kind in shipped if issubclass(kind, Model) and kind is not Model}
    seen = {targets.Estimator, Function, Command, targets.XGBoostModel, targets.LightGBMModel, targets.OnnxModel}
    assert ours == {*seen, targets.TorchModel}


class TestEveryModel:
    def test_labels_are_the_librarys_own(self, trained: Trained) -> None:
        expected = trained.answer(X)
        assert len(np.unique(expected)) > 1
        assert trained.model(X).tolist() == expected.tolist()

    @pytest.mark.parametrize("size", [1, 2, 7, 59])
    def test_the_size_of_a_batch_changes_nothing(self, trained: Trained, size: int) -> None:
        pieces = [trained.model(X[start : start + size]) for start in range(0, len(X), size)]
        assert [len(piece) for piece in pieces] == [len(X[start : start + size]) for start in range(0, len(X), size)]
        assert np.concatenate(pieces).tolist() == trained.model(X).tolist()

    def test_no_inputs_have_no_labels(self, trained: Trained) -> None:
        assert trained.model(X[:0]).shape == (0,)
        for batch in as_kinds(X[:0]).values():
            assert trained.model(batch).shape == (0,)

    def test_the_kind_of_a_batch_changes_nothing(self, trained: Trained) -> None:
        if isinstance(trained.model, Function):
            pytest.skip("a function receives the batch as it is")
        expected = trained.model(X).tolist()
        assert {kind: trained.model(batch).tolist() for kind, batch in as_kinds(X).items()} == dict.fromkeys(
            as_kinds(X), expected
        )

    def test_bits_are_numbers(self, trained: Trained) -> None:
        bits = (X > 1).astype(np.uint8)
        assert trained.model(bits).tolist() == trained.answer(bits.astype(np.float64)).tolist()

    def test_the_same_batch_has_the_same_labels_and_is_left_alone(self, trained: Trained) -> None:
        batch = X.copy()
        batch.flags.writeable = False
        assert trained.model(batch).tolist() == trained.model(batch).tolist()
        assert np.array_equal(batch, X)

    def test_names_find_their_columns_in_any_order(self, trained: Trained) -> None:
        if trained.model.feature_names is None:
            pytest.skip("it does not know names, and takes columns in order")
        assert trained.model.feature_names == NAMES
        expected = trained.model(X).tolist()
        mixed = {name: X[:, NAMES.index(name)] for name in reversed(NAMES)} | {"unused": np.zeros(len(X))}
        assert trained.model(mixed).tolist() == expected
        for kind in ("pandas", "polars", "arrow"):
            table = as_kinds(X)[kind]
            assert trained.model(
                table[list(reversed(NAMES))] if kind != "arrow" else table.select(NAMES[::-1])
            ).tolist() == (expected)

    def test_a_missing_name_is_named(self, trained: Trained) -> None:
        if trained.model.feature_names is None:
            pytest.skip("it does not know names, and takes columns in order")
        batch = {name: column for name, column in as_kinds(X)["dict"].items() if name != "width"}
        with pytest.raises(ft.ParameterError) as error:
            trained.model(batch)
        assert str(error.value) == (
            "the batch must have the model's 4 features; missing: 'width'. It has 'length', 'height', 'age'. "
            "Name the features of the space like those of the model"
        )

    def test_a_wrong_number_of_columns_is_an_error(self, trained: Trained) -> None:
        if isinstance(trained.model, Function):
            pytest.skip("a function says itself what it takes")
        with pytest.raises(ft.ParameterError) as error:
            trained.model(X[:, :3])
        assert str(error.value) == "the model takes 4 features; the batch has 3"
        with pytest.raises(
            ft.ParameterError, match=r"a batch must be a 2-D array, rows by features; got shape \(60,\)"
        ):
            trained.model(X[:, 0])

    def test_a_copy_through_pickle_answers_alike(self, trained: Trained) -> None:
        if isinstance(trained.model, Function):
            pytest.skip("this function is local; one that can be imported is pickled by its address")
        copy = pickle.loads(pickle.dumps(trained.model))
        assert copy(X).tolist() == trained.model(X).tolist()
        assert repr(copy) == repr(trained.model)
        if isinstance(copy, Command):
            copy.close()

    def test_it_says_what_it_is(self, trained: Trained) -> None:
        assert repr(trained.model).startswith(f"<{type(trained.model).__name__} {trained.model.name}")
        if trained.model.classes is not None:
            assert set(trained.model(X).tolist()) <= set(trained.model.classes)
            assert len(set(trained.model.classes)) in (2, 3)

    def test_it_can_be_distilled(self, trained: Trained) -> None:
        if isinstance(trained.model, Function):
            pytest.skip("nothing of its own")
        space = ft.ProductSpace.bernoulli(4, names=list(NAMES))
        result = ft.build_top_down(trained.model, space, 0)
        cube = ((np.arange(16)[:, None] >> np.arange(4)) & 1).astype(np.uint8)
        assert result.tree.predict(cube).tolist() == trained.answer(cube.astype(np.float64)).tolist()
