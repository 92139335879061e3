"""What every test may ask for: real data, whether this is the soak run, fixed pseudo-randomness."""

from __future__ import annotations

import gc
import hashlib
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import hypothesis
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[1]
SOAK = os.environ.get("FIDELITREE_SOAK") == "1"

# Figures are drawn without a screen, here and in the programs that tests start.
os.environ.setdefault("MPLBACKEND", "Agg")

# Threads of OpenMP sleep while they wait: as many as there are cores in each of several test processes would else spend
# most of the time spinning. A model of scikit-learn took a seventh of the processor time.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# Files live in memory where the system has such a place: a disk makes tests wait for every write of a journal, and what
# a test shows (a killed process, a changed file) does not depend on it.
if os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free > 2 << 30:  # a container may have little
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", "/dev/shm")
    tempfile.tempdir = os.environ.setdefault("TMPDIR", "/dev/shm")

# Every ordinary run tries the same inputs; only the soak looks for new ones, and prints how to have them again.
hypothesis.settings.register_profile("fixed", max_examples=50, derandomize=True, deadline=None)
hypothesis.settings.register_profile("soak", max_examples=2000, deadline=None, print_blob=True)
hypothesis.settings.load_profile("soak" if SOAK else "fixed")


# Where coverage is measured: a line counts as tested if a quick test of its own room reaches it. Tracing makes a test
# take twice as long, so the long ones and those that look at the whole from outside do without it.
MEASURED = ("tests/unit/", "tests/law/", "tests/published/")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what `make check` leaves out, and what is not traced; leave cases to the soak where a test says so."""
    if not SOAK:
        _thin(config, items)
    slow = tuple((ROOT / "tests" / "slow.txt").read_text(encoding="utf-8").splitlines())
    for item in items:
        if item.nodeid.startswith(slow):
            item.add_marker("slow")
        if item.nodeid.startswith(slow) or not item.nodeid.startswith(MEASURED):
            item.add_marker("no_cover")


def _thin(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of a test that is marked ``every(k)``, every k-th case: `make soak` runs them all."""
    number: Counter[str] = Counter()
    kept, left = [], []
    for item in items:
        mark, name = item.get_closest_marker("every"), item.nodeid.partition("[")[0]
        (left if mark and number[name] % mark.args[0] else kept).append(item)
        number[name] += 1
    items[:] = kept
    config.hook.pytest_deselected(items=left)


def pytest_collection_finish() -> None:
    """What is loaded by now stays: the garbage collector need not look through half a million objects again."""
    gc.collect()
    gc.freeze()


def _absent(reason: str) -> NoReturn:
    if os.environ.get("FIDELITREE_REQUIRE") == "1":
        pytest.fail(f"{reason}, and FIDELITREE_REQUIRE=1", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def absent() -> Callable[[str], NoReturn]:
    """End a test that lacks something outside the repository: skipped, or failed when FIDELITREE_REQUIRE=1."""
    return _absent


@pytest.fixture(scope="session")
def soak() -> bool:
    """True under `make soak`: use the full counts."""
    return SOAK


@pytest.fixture
def data_dir() -> Path:
    """The folder of real data: FIDELITREE_DATA, relative to the repository."""
    folder = ROOT / (os.environ.get("FIDELITREE_DATA") or "../shared/data")
    if not folder.is_dir():
        _absent(f"no real data: FIDELITREE_DATA names {folder}, which is not a folder")
    return folder


@pytest.fixture
def data_file(data_dir: Path) -> Callable[[str], Path]:
    """One file of the real data by its path inside the folder, as in data_file("optimal/textbook.tsv")."""

    def find(name: str) -> Path:
        if not (data_dir / name).is_file():
            _absent(f"no real data: {name} is not in FIDELITREE_DATA")
        return data_dir / name

    return find


@pytest.fixture(scope="session", autouse=True)
def repeatable_seeds() -> Iterator[None]:
    """Runs take a fresh seed unless they are given one; in a test it is 0, so that every run can be repeated."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fidelitree.spaces.draw.fresh_seed", lambda: 0)
        yield


@pytest.fixture(autouse=True)
def repeatable_entropy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Audits take fresh entropy; in a test it is fresh for every audit, and the same whenever the test is run."""
    name, audits = request.node.nodeid, itertools.count()

    def fresh() -> str:
        return hashlib.sha256(f"{name} {next(audits)}".encode()).hexdigest()[:32]

    monkeypatch.setattr("fidelitree.runs.agree.audit.fresh_entropy", fresh)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a fresh build."""
    missing = [name for name in ("mkdocs", "material", "mkdocstrings") if find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed: pip install '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    # Proxies that do not answer: a build that fetched anything would fail.
    environment = {
        **os.environ,
        "NO_MKDOCS_2_WARNING": "1",
        "http_proxy": "http://[::1]:9",
        "https_proxy": "http://[::1]:9",
    }
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return folder
