"""Files from strangers: whatever is in them, they are read or refused with one of our own errors.

Full counts (`make soak`): at least 200 000 files by changed bytes and 10 000 by changed structure; a twentieth else.
"""

from __future__ import annotations

import contextlib
import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fidelitree as ft
import fuzzing
from fidelitree.asking.journal.run import Run
from fidelitree.targets.models.command import _as_labels

FORMATS = fuzzing.formats()
FULL = 48_000


@pytest.mark.parametrize("name", FORMATS)
def test_changed_bytes(name: str, soak: bool) -> None:
    inputs = FULL if soak else FULL // 20
    command = [sys.executable, str(Path(fuzzing.__file__)), name, str(inputs), "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode == 0, done.stderr[-3000:]
    tried, read = map(int, done.stdout.split())
    assert tried == inputs
    assert 0 < read < tried, "some are harmless, most are not"


def test_small_files_that_would_take_much_memory() -> None:
    code = (
        "import fuzzing; formats, files = fuzzing.formats(), fuzzing.swelling(); fuzzing.limit()\n"
        "for name, (format_, data) in files.items(): print(name, fuzzing.check(formats[format_], data), sep=': ')"
    )
    folder = str(Path(fuzzing.__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=folder, timeout=600
    )
    assert done.returncode == 0, done.stderr[-3000:]
    said = ["deep bits: True", "deep sets: True", "rows: False", "no rows: False", "ranges: False"]
    assert done.stdout.splitlines() == said


def test_the_fuzzer_would_see_a_hang_a_large_allocation_and_a_foreign_error() -> None:
    code = (
        "import sys, fuzzing; kind = sys.argv.pop(); "
        "acts = {'hang': lambda data: exec('while True: pass'), 'large': lambda data: bytearray(300 << 20), "
        "'foreign': lambda data: {}['x']}; "
        "fuzzing.formats = lambda: {'x': fuzzing.Format([b'abc'], acts[kind])}; fuzzing.main('x', 2, 1)"
    )
    folder = str(Path(fuzzing.__file__).parent)
    for kind, error in (("hang", "TimeoutError"), ("large", "MemoryError"), ("foreign", "KeyError")):
        done = subprocess.run(
            [sys.executable, "-c", code, kind], capture_output=True, text=True, check=False, cwd=folder, timeout=600
        )
        assert done.returncode != 0
        assert error in done.stderr


odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["0x1p+0", "nan"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def disturbed(draw: st.DrawFn, seeds: list[bytes]) -> Any:
    """A good file with an odd value somewhere inside."""
    data = json.loads(draw(st.sampled_from(seeds)))
    place = data = copy.deepcopy(data)
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return data
        key = draw(st.sampled_from(keys))
        if isinstance(place[key], (dict, list)) and draw(st.booleans()):
            place = place[key]
            continue
        if isinstance(place, dict) and draw(st.integers(0, 9)) == 0:
            del place[key]
        else:
            place[key] = draw(odd)
        return data


def read_or_refused(read: Any, data: Any) -> None:
    with contextlib.suppress(ft.FidelitreeError):
        read(data)


@given(disturbed(FORMATS["tree"].seeds))
def test_changed_trees(data: Any) -> None:
    read_or_refused(lambda found: str(ft.Tree.from_dict(found)), data)


@given(disturbed(FORMATS["certificate"].seeds))
def test_changed_certificates(data: Any) -> None:
    read_or_refused(lambda found: str(ft.Certificate.from_dict(found)), data)


@given(disturbed(FORMATS["stored space"].seeds))
def test_changed_spaces(data: Any) -> None:
    def read(found: Any) -> str:
        return (ft.Rows if isinstance(found, dict) and "rows" in found else ft.ProductSpace).from_dict(found).digest

    read_or_refused(read, data)


RUN = Run(
    "distill", "model", "ab" * 32, [{"name": "a", "kind": "categorical", "values": ["b"]}], 7, True, {"epsilon": 0.1}
)


@given(disturbed([json.dumps({name: json.loads(value) for name, value in RUN.entries().items()}).encode()]))
def test_changed_journals(data: Any) -> None:
    entries = {name: json.dumps(value) for name, value in data.items()}
    read_or_refused(lambda found: Run.of(found).check(RUN, replaying=False), entries)


@given(st.lists(st.binary(max_size=12) | st.sampled_from(fuzzing.SPLICES), min_size=1, max_size=5))
def test_changed_commands(lines: list[bytes]) -> None:
    read_or_refused(_as_labels, [line.replace(b"\n", b"") for line in lines])
