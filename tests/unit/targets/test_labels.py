"""Labels: discovered as they come, one kind a run, coded, ranked, refused."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fidelitree.errors import TargetError
from fidelitree.targets.labels import LabelBook, answered


def decode(book: LabelBook, codes: Any) -> list[Any]:
    return [book.seen[code] for code in codes]


@given(st.lists(st.lists(st.integers(-3, 3), min_size=1, max_size=8), min_size=1, max_size=6))
def test_codes_stand_for_the_labels_whatever_came_before(batches: list[list[int]]) -> None:
    book = LabelBook()
    coded = [book.encode(np.array(batch)) for batch in batches]
    assert [decode(book, codes) for codes in coded] == batches
    assert book.sorted() == sorted({label for batch in batches for label in batch})
    assert [book.sorted()[rank] for rank in book.ranks()] == book.seen


@pytest.mark.parametrize(
    ("answers", "labels", "kind"),
    [
        (np.array([True, False]), [False, True], "bool"),
        (np.array([3, -1], np.int8), [-1, 3], "int"),
        (np.array([3, 1], np.uint64), [1, 3], "int"),
        (np.array([1.0, 0.0, -2.0]), [-2, 0, 1], "int"),
        (np.array([1, 0], np.float16), [0, 1], "int"),
        (np.array(["b", "abc"]), ["abc", "b"], "str"),
        (np.array(["b", "abc"], dtype=object), ["abc", "b"], "str"),
        (np.array([True, False], dtype=object), [False, True], "bool"),
        (np.array([7, -7], dtype=object), [-7, 7], "int"),
    ],
)
def test_kinds_of_labels_become_plain_python_values(answers: Any, labels: list[Any], kind: str) -> None:
    book = LabelBook()
    assert decode(book, book.encode(answers)) == answers.tolist()
    assert book.sorted() == labels
    assert {type(label).__name__ for label in book.sorted()} == {kind}
    assert book.kind == kind


def test_two_known_labels_take_the_short_way_and_a_third_the_long_one() -> None:
    book = LabelBook()
    book.encode(np.array(["no", "yes"]))
    assert book.encode(np.array(["yes", "no", "yes"])).tolist() == [1, 0, 1]
    assert decode(book, book.encode(np.array(["yes", "maybe"]))) == ["yes", "maybe"]
    assert book.sorted() == ["maybe", "no", "yes"]
    assert book.ranks() == [1, 2, 0]


def test_integral_floats_and_integers_are_one_kind() -> None:
    book = LabelBook()
    book.encode(np.array([0, 1]))
    assert decode(book, book.encode(np.array([1.0, 0.0]))) == [1, 0]


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        (np.array([0.0, 0.5]), "0.5 in row 1"),
        (np.array([np.nan, 1.0]), "nan in row 0"),
        (np.array([1.0, np.inf]), "inf in row 1"),
        (np.array([0.2, 0.9], np.float32), "0.2"),
    ],
)
def test_probabilities_are_refused_with_the_way_out(answers: Any, found: str) -> None:
    with pytest.raises(TargetError) as caught:
        LabelBook().encode(answers)
    message = str(caught.value)
    assert message.startswith(
        f"labels must be bool, int or str (or floats without a fraction); the target answered {found}"
    )
    assert "of a batch. Return classes, not scores or probabilities; or give threshold=" in message
    assert message.endswith("or tolerance= (leaves hold numbers)")


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        (np.array([b"a"]), "|S1"),
        (np.array([1j]), "complex128"),
        (np.array(["2020-01-01"], "datetime64[D]"), "datetime64[D]"),
    ],
)
def test_other_types_are_refused(answers: Any, found: str) -> None:
    with pytest.raises(TargetError) as caught:
        LabelBook().encode(answers)
    assert str(caught.value) == f"labels must be bool, int or str; the target answered {found}"


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (["a", 1], "int and str"),
        ([True, 1], "bool and int"),
        (["a", None], "NoneType and str"),
        ([0.5, 1.0], "float"),
        ([(1, 2), (3, 4)], "tuple"),
    ],
)
def test_objects_of_mixed_or_other_types_are_refused(values: list[Any], found: str) -> None:
    answers = np.empty(len(values), dtype=object)
    answers[:] = values
    with pytest.raises(TargetError) as caught:
        LabelBook().encode(answers)
    assert str(caught.value) == f"labels must be bool, int or str, one kind a run; the target answered {found}"


NAN = float("nan")


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        (["yes", NAN, "no"], "float and str"),
        (("yes", NAN), "float and str"),
        (["yes", 3, True], "bool and int and str"),
        (["yes", b"no"], "bytes and str"),
        ([True, 2], "bool and int"),
        ([np.True_, 2.0], "bool and float"),
        (np.ma.array(["a", "b"], mask=[0, 1]), "NoneType and str"),
        (np.ma.array([1, 2], mask=[1, 0]), "NoneType and int"),
        (pd.Series(["a", NAN]), "float and str"),
        (pl.Series([True, None]), "NoneType and bool"),
        (pa.array(["a", None]), "NoneType and str"),
    ],
)
def test_answers_of_two_kinds_are_refused_in_any_container(answers: Any, found: str) -> None:
    with pytest.raises(TargetError) as caught:
        answered(answers, len(answers))
    assert str(caught.value) == f"labels must be bool, int or str, one kind a run; the target answered {found}"


class Answer(str, Enum):  # noqa: UP042 - a StrEnum is its text, this is "Answer.YES" to NumPy
    YES = "yes"
    NO = "no"


@pytest.mark.parametrize(
    ("answers", "labels"),
    [
        (["yes", np.str_("no")], ["yes", "no"]),
        ([Answer.YES, Answer.NO], ["yes", "no"]),
        ([True, np.False_], [True, False]),
        ([1, np.int8(2), 3.0, np.float32(4)], [1, 2, 3, 4]),
        ([np.array(1), np.array(2)], [1, 2]),
        (range(3), [0, 1, 2]),
        (np.ma.array([1, 2], mask=[0, 0]), [1, 2]),
        (pd.Series(["a", "b"]), ["a", "b"]),
        (pd.Categorical(["a", "b"]), ["a", "b"]),
        (pd.Series([1, 2], dtype="Int64"), [1, 2]),
        (pl.Series(["a", "b"]), ["a", "b"]),
        (pa.array([True, False]), [True, False]),
        (pa.chunked_array([["a"], ["b"]]), ["a", "b"]),
    ],
)
def test_answers_of_one_kind_are_taken_from_any_container(answers: Any, labels: list[Any]) -> None:
    found = answered(answers, len(labels)).tolist()
    assert (found, set(map(type, found))) == (labels, set(map(type, labels)))


@pytest.mark.parametrize("answers", [[[1], [2, 3]], [[1, 2], "no"]])
def test_what_is_no_array_is_refused(answers: Any) -> None:
    with pytest.raises(TargetError, match="labels must be one per input; the target answered what is no array: "):
        answered(answers, 2)


@pytest.mark.parametrize("answers", ["yes", [[True], [2]], None, {"yes": 1}])
def test_answers_of_another_shape_are_refused(answers: Any) -> None:
    with pytest.raises(TargetError, match="labels must be one per input: the target received 2 inputs and answered"):
        answered(answers, 2)


@pytest.mark.parametrize(
    "kind", [np.array, list, lambda found: np.array(found, object), lambda found: np.array(found, ">U9")]
)
def test_text_that_no_file_can_hold_is_refused(kind: Any) -> None:
    with pytest.raises(TargetError) as caught:
        answered(kind(["good", "bad\udc80", "\ud800"]), 3)
    assert str(caught.value) == (
        "labels must be text that UTF-8 can hold; the target answered 'bad\\udc80' in row 1 of a batch. Decode its "
        "bytes first"
    )
    assert answered(kind(["", "\ud7ff", "\ue000\U0010ffff"]), 3).tolist()[1:] == [
        "\ud7ff",
        "\ue000\U0010ffff",
    ]
    assert answered(np.array(["a", "b", "c", "d"])[::2], 2).tolist() == ["a", "c"]


@pytest.mark.parametrize(
    ("first", "then", "kinds"),
    [([0, 1], ["0", "1"], "int before and now str"), ([True], [1], "bool before and now int")],
)
def test_a_run_has_labels_of_one_kind(first: list[Any], then: list[Any], kinds: str) -> None:
    book = LabelBook()
    book.encode(np.array(first))
    with pytest.raises(TargetError) as caught:
        book.encode(np.array(then))
    assert str(caught.value) == f"labels must be of one kind during a run; the target answered {kinds}"


@pytest.mark.parametrize(
    "answers",
    [
        np.array([1, 2**63], np.uint64),
        np.array([0.0, 1e300]),
        np.array([0.0, -(2.0**63) * 1.5]),
        np.array([0, 10**30], dtype=object),
    ],
)
def test_whole_numbers_beyond_64_bits_are_refused(answers: Any) -> None:
    with pytest.raises(TargetError, match=r"labels must fit into 64 bits; the target answered "):
        LabelBook().encode(answers)


def test_whole_numbers_of_64_bits_are_kept_exactly() -> None:
    book = LabelBook()
    book.encode(np.array([2**63 - 1, -(2**63), 2**53 + 1]))
    assert book.sorted() == [-(2**63), 2**53 + 1, 2**63 - 1]
    book.encode(np.array([-(2.0**63), 2.0**62]))
    assert book.sorted() == [-(2**63), 2**53 + 1, 2**62, 2**63 - 1]


def test_majority_is_the_largest_count_and_ties_go_to_the_first_label_in_order() -> None:
    book = LabelBook()
    book.encode(np.array(["b"]))
    book.encode(np.array(["c"]))
    book.encode(np.array(["a"]))
    assert book.seen == ["b", "c", "a"]
    assert book.seen[book.majority([1, 5, 2])] == "c"
    assert book.seen[book.majority([3, 3, 1])] == "b"
    assert book.seen[book.majority([3, 3, 3])] == "a"
    assert book.seen[book.majority([0, 0, 0])] == "a"


@pytest.mark.parametrize(
    "container",
    [
        list,
        tuple,
        lambda found: np.array(found, object),
        lambda found: [Answered(text) for text in found],
        pd.Series,
        lambda found: pd.Series(found, dtype=object),
        lambda found: pd.Series(found, dtype="string[python]"),
        pd.Categorical,
        pl.Series,
        pa.array,
        lambda found: pa.chunked_array([found]),
        lambda found: np.ma.array(np.array([*found, "x"], object), mask=[0, 0, 1])[:2],
    ],
)
def test_labels_that_numpy_would_merge_are_refused(container: Any) -> None:
    labels = container(["a", "a\0"])
    if isinstance(labels, pd.Categorical) and labels.tolist() == ["a", "a"]:
        pytest.skip("this pandas merges them itself, before anybody else sees them")
    with pytest.raises(TargetError) as caught:
        answered(labels, 2)
    assert str(caught.value) == (
        "labels must be text that does not end with NUL, which NumPy drops; the target answered 'a\\x00'. Strip it, or "
        "answer numbers"
    )
    assert answered(container(["a", "\0a"]), 2).tolist() == ["a", "\0a"]


class Answered(str):
    """Text of a class of its own."""

    __slots__ = ()


class Foreign:
    """An object whose conversion is code of somebody else."""

    def __array__(self, *wanted: Any, **more: Any) -> Any:
        raise RuntimeError("no device")


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        (range(10**12), "labels must be one per input: the target received 2 inputs and answered"),
        (np.broadcast_to(1, 10**12), "labels must be one per input: the target received 2 inputs and answered"),
        (np.broadcast_to(np.array("x" * 10**7), 2), "labels must have at most 1,000 characters; the target answered x"),
        (["a", "x" * 1001], "labels must have at most 1,000 characters; the target answered xxxxxxxxxxxxxxxxxxxx..., "),
        (Foreign(), "labels must be one per input; the target answered what is no array: no device"),
    ],
)
def test_floods_and_foreign_errors_are_refused_before_they_are_copied(answers: Any, found: str) -> None:
    with pytest.raises(TargetError, match=found):
        answered(answers, 2)


def test_short_text_in_a_wide_array_takes_no_more_room_than_it_needs() -> None:
    assert answered(np.array(["a", "bc"], "U5000"), 2).dtype == "U2"
    assert answered(np.array(["a", "x" * 1000]), 2).tolist() == ["a", "x" * 1000]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float32, "U3", object])
def test_answers_are_copied(dtype: Any) -> None:
    given = np.array([1, 0, 1]).astype(dtype) if dtype is not object else np.array(["a", "b", "a"], object)
    found = answered(given, 3)
    before = found.tolist()
    given[:] = given[1]
    assert found.tolist() == before
    assert not np.shares_memory(found, given)
