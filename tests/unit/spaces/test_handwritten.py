"""Space files: every way to write a feature, and every way to get one wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import fidelitree as ft

if TYPE_CHECKING:
    from pathlib import Path

FULL = """
batch = "pandas"

[features.owner]
kind = "boolean"
p = 0.3

[features.fair]
kind = "boolean"

[features.job]
kind = "categorical"
probabilities = { clerk = 0.5, nurse = 0.3, pilot = 0.2 }

[features.floor]
kind = "categorical"
values = [0, 1, 2]
weights = [2, 1, 1]

[features.age]
kind = "numeric"
low = 18
high = 90

[features.dice]
kind = "numeric"
low = 1
high = 6
integer = true

[features.rooms]
kind = "numeric"
values = [1, 2, 3]
weights = [4, 3, 1]

[features."petal length (cm)"]
kind = "numeric"
quantiles = { "0" = 0, "0.5" = 20, "1" = 200 }

[features.even]
kind = "numeric"
quantiles = [0, 1, 5]

[features.pieces]
kind = "numeric"
edges = [0, 1, 5]
shares = [0.25, 0.75]

[features.floats]
kind = "numeric"
values = [1, 2]
integer = false
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "space.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_kind_can_be_written(tmp_path: Path) -> None:
    space = ft.ProductSpace.from_file(written(tmp_path, FULL))
    by_hand = ft.ProductSpace(
        [
            ft.Boolean("owner", 0.3),
            ft.Boolean("fair"),
            ft.Categorical("job", {"clerk": 0.5, "nurse": 0.3, "pilot": 0.2}),
            ft.Categorical.from_counts("floor", {0: 2, 1: 1, 2: 1}),
            ft.Numeric("age", 18, 90),
            ft.Numeric.from_values("dice", [1, 2, 3, 4, 5, 6]),
            ft.Numeric.from_values("rooms", [1, 2, 3], [4, 3, 1]),
            ft.Numeric.from_quantiles("petal length (cm)", {0: 0, 0.5: 20, 1: 200}),
            ft.Numeric.from_quantiles("even", [0, 1, 5]),
            ft.Numeric.from_pieces("pieces", [0, 1, 5], [0.25, 0.75]),
            ft.Numeric.from_values("floats", [1.0, 2.0]),
        ]
    )
    assert space == by_hand
    assert space.digest == by_hand.digest
    batch = space.batch(np.array([[0, 1, 2, 0, 20, 6, 3, 1.5, 2.5, 0.5, 2]]))
    assert type(batch).__name__ == "DataFrame"
    assert batch.to_dict("records")[0]["job"] == "pilot"
    assert batch["dice"].dtype == batch["rooms"].dtype == "int64"
    assert batch["floats"].dtype == "float64"


def test_without_a_batch_the_target_receives_what_it_always_does(tmp_path: Path) -> None:
    bits = ft.ProductSpace.from_file(written(tmp_path, 'features.a = { kind = "boolean" }'))
    assert bits.batch(np.zeros((2, 1), np.uint8)).shape == (2, 1)


NEEDS = "features.a is numeric and must have low and high or values or edges and shares or quantiles; got"
NUMBER = '[features.a]\nkind = "numeric"\n'
CATEGORY = '[features.a]\nkind = "categorical"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[features", "is not TOML: "),
        ("", "features must hold at least one table such as [features.age]; got None"),
        ("features = 3", "features must hold at least one table such as [features.age]; got 3"),
        ("[feature.a]", "the file knows the keys batch, features here; got 'feature'"),
        ('batch = "numpy"', "batch must be one of dict, pandas, polars, arrow; got 'numpy'"),
        ("features.a = 3", "features.a must be a table, such as { kind = \"boolean\", p = 0.5 }; got 3"),
        ("[features.a]", "features.a.kind must be one of boolean, categorical, numeric; got None"),
        ("[features.a]\nkind = []", "features.a.kind must be one of boolean, categorical, numeric; got []"),
        ('[features.a]\nkind = "boolean"\nq = 1', "features.a knows the keys p here; got 'q'"),
        ('[features.a]\nkind = "boolean"\nname = "b"', "features.a knows the keys p here; got 'name'"),
        ('[features.a]\nkind = "boolean"\np = 30', "p of feature 'a' must be a probability between 0 and 1; got 30"),
        (CATEGORY, "features.a is categorical and must have probabilities or values; got none of them"),
        (CATEGORY + "probabilities = { x = 0.5, y = 0.4 }", "probabilities of feature 'a' must add up to 1; got 0.9"),
        (CATEGORY + "probabilities = [0.5]", "features.a probabilities must be a table of value to probability; got ["),
        (CATEGORY + "values = 3", "features.a values must be a list; got 3"),
        (CATEGORY + "values = [1, 2]\nweights = [1]", "features.a weights must be one for each of the 2 values; got 1"),
        (CATEGORY + "values = [1, 1]", "features.a values must be different; got [1, 1]"),
        (CATEGORY + "values = [[1]]", "features.a unhashable type: 'list'"),
        (NUMBER, f"{NEEDS} none of them"),
        (NUMBER + "low = 3", f"{NEEDS} low"),
        (NUMBER + "low = 3\nhigh = 1", "features.a low and high of feature 'a' must be finite"),
        (NUMBER + "low = 3\nhigh = 4\nvalues = [1]", "features.a knows the keys low, high, integer, missing here; "),
        (NUMBER + "low = 1.5\nhigh = 4\ninteger = true", "features.a integer = true needs whole numbers low and"),
        (NUMBER + "low = 4\nhigh = 3\ninteger = true", "features.a integer = true needs whole numbers low and"),
        (NUMBER + "low = 1\nhigh = 1048577\ninteger = true", "features.a holds too many whole numbers: all ranges"),
        (NUMBER + 'values = ["x"]', "features.a values of feature 'a' must be a list of at least one number"),
        (NUMBER + "values = [1, 2]\nweights = [1]", "features.a weights of feature 'a' must be one finite number fo"),
        (NUMBER + "quantiles = { low = 3 }", "features.a levels of quantiles must be numbers from 0 to 1; got ['low']"),
        (NUMBER + "quantiles = 3", "features.a quantiles must be a list; got 3"),
    ],
)  # fmt: skip
def test_a_breach_names_file_key_rule_and_value(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ft.FormatError) as caught:
        ft.ProductSpace.from_file(written(tmp_path, text))
    said = str(caught.value)
    assert said.startswith("space.toml")
    assert message in said


def ranges(*ends: tuple[int, int]) -> str:
    return "\n".join(
        f'[features.x{i}]\nkind = "numeric"\ninteger = true\nlow = {low}\nhigh = {high}'
        for i, (low, high) in enumerate(ends)
    )


def test_all_ranges_of_whole_numbers_share_one_bound(tmp_path: Path) -> None:
    half = 1 << 19
    space = ft.ProductSpace.from_file(written(tmp_path, ranges((1, half), (-half, -1))))
    assert [feature.points for feature in space] == [half, half]
    with pytest.raises(ft.FormatError) as caught:
        ft.ProductSpace.from_file(written(tmp_path, ranges((1, half), (-half, 0))))
    assert str(caught.value) == (
        "space.toml: features.x1 holds too many whole numbers: all ranges with integer = true may have 1,048,576 "
        "together, and this one goes from -524288 to 0 - leave out integer = true where a range is long"
    )
    with pytest.raises(ft.FormatError, match=r"this one goes from -1 to 9{40} - leave out"):
        ft.ProductSpace.from_file(written(tmp_path, ranges((-1, 10**4300 - 1))))


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "space.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ft.FormatError, match=r"space.toml must be text in UTF-8"):
        ft.ProductSpace.from_file(path)
