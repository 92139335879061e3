"""What a journal belongs to, and the sentence that refuses another run."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

import fidelitree as ft
from fidelitree.asking.journal.run import Run

FEATURES = [{"name": "x0", "kind": "boolean"}, {"name": "job", "kind": "categorical", "values": ["a", None, 1.5]}]
RUN = Run("distill", "model", "ab" * 32, FEATURES, 7, True, {"epsilon": 0.05, "max_queries": 10})


MAJOR = RUN.versions["numpy"].split(".")[0]


def changed(**what: Any) -> Run:
    return dataclasses.replace(RUN, **what)


def test_entries_there_and_back() -> None:
    assert Run.of(RUN.entries()) == RUN
    assert (RUN.bits, RUN.lists_answers) == (False, False)
    assert changed(features=FEATURES[:1]).bits


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ({"door": "certify"}, "call was 'distill' and is 'certify' now"),
        ({"target": "other"}, "target was 'model' and is 'other' now"),
        ({"space": "cd" * 32}, "space was abababababab... and is cdcdcdcdcdcd... now"),
        ({"seed": 8}, "seed was 7 and is 8 now"),
        ({"arguments": {"epsilon": 0.1}}, "epsilon was 0.05 and is 0.1 now"),
        ({"arguments": {"epsilon": 0.05, "prefer": "leaves"}}, "prefer was None and is 'leaves' now"),
        ({"versions": {**RUN.versions, "numpy": "1.26.4"}}, "numpy version was "),
        ({"versions": {**RUN.versions, "numpy": f"{MAJOR}.999.0"}}, f"and is '{MAJOR}.999' now"),
    ],
)
def test_what_differs_is_said(what: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ft.ParameterError) as caught:
        RUN.check(changed(**what), replaying=False)
    assert str(caught.value).startswith("journal must belong to the same run, and this one does not: ")
    assert sentence in str(caught.value)
    assert "give the same arguments again, or another journal" in str(caught.value)


def test_what_may_differ() -> None:
    RUN.check(RUN, replaying=False)
    RUN.check(changed(arguments={"epsilon": 0.05, "max_queries": 99, "max_seconds": 3}), replaying=False)
    RUN.check(changed(seed=8, seed_chosen=False), replaying=False)
    patch = f"{'.'.join(RUN.versions['numpy'].split('.')[:2])}.999"
    RUN.check(changed(versions={**RUN.versions, "numpy": patch}), replaying=False)
    RUN.check(changed(target="another"), replaying=True)
    changed(entropy="ab" * 16).check(changed(entropy="cd" * 16), replaying=False)


@pytest.mark.parametrize(
    ("was", "now", "sentence"),
    [
        ({}, {"entropy": "ab" * 16}, f"entropy was None and is '{'ab' * 16}' now"),
        ({"entropy": "ab" * 16}, {"entropy": "cd" * 16, "replayed": True}, f"and is '{'cd' * 16}' now"),
        ({"entropy": "ab" * 16}, {"entropy": "ab" * 16, "replayed": True}, "replayed was False and is True now"),
    ],
)
def test_entropy_that_is_given_must_be_that_of_the_journal(was: Any, now: Any, sentence: str) -> None:
    with pytest.raises(ft.ParameterError, match=sentence):
        changed(**was).check(changed(**now), replaying=False)


def test_journals_of_the_first_version_have_no_entropy() -> None:
    entries = RUN.entries()
    del entries["entropy"], entries["replayed"]
    assert Run.of(entries) == RUN


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("seed", "true", "its entry 'seed' must be int; got True"),
        ("target", "3", "its entry 'target' must be str; got 3"),
        ("entropy", "3", "its entry 'entropy' must be 32 hexadecimal digits; got 3"),
        ("entropy", '"xyz"', "its entry 'entropy' must be 32 hexadecimal digits; got 'xyz'"),
        ("replayed", "1", "its entry 'replayed' must be bool; got 1"),
        ("features", "[]", "there must be at least one feature"),
        ("features", "[3]", "a feature must have a name; got 3"),
        ("features", '[{"name": "x", "kind": "odd"}]', "the kind of feature 'x' is not known"),
        ("features", '[{"name": "x", "kind": "categorical"}]', "the values of feature 'x' must be a list"),
        ("features", '[{"name": "x", "kind": "categorical", "values": 3}]', "the values of feature 'x' must be a list"),
        ("door", "{", "an entry is not JSON"),
        ("door", "[" * 100_000, "an entry is not JSON"),
    ],
)
def test_a_strangers_entries_are_checked(name: str, value: str, sentence: str) -> None:
    with pytest.raises(ft.FormatError, match=sentence):
        Run.of({**RUN.entries(), name: value})


def test_a_missing_entry_is_named() -> None:
    entries = RUN.entries()
    del entries["seed"]
    with pytest.raises(ft.FormatError, match="its entry 'seed' is missing"):
        Run.of(entries)
