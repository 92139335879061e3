"""A result as a folder: the tree, its certificate, its space, how it came about.

================  ======================================================================================
``tree.json``     the tree
``tested.json``   the tree that was tested, where the returned one differs from it
``certificate.json``  what is promised about it
``surrogate.json``  the model that shortened the tests, where one did
``frontier.json`` the trees of all sizes that the same answers certify, each with its certificate
``space.json``    where inputs come from, exactly; with `Rows`, all rows of the table
``trace.csv``     one line for each record of the trace
``run.json``      how the run was asked for, why it ended, what it cost; SHA-256 of all files above, and of the report
``report.html``   all of it for people
``journal.db``    every answer, where the run kept a journal; it is copied here
``verify.py``     checks all this with Python alone (`standalone`)
``README.txt``    a few lines for whoever gets the folder
================  ======================================================================================

A result is written beside the old one and then put in its place. The old certificate goes first and the new one comes
last: whatever stops `save` on the way leaves the old result, or none that can be loaded.
"""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fidelitree import __version__
from fidelitree.asking.journal.journal import Journal
from fidelitree.asking.journal.opening import copied
from fidelitree.asking.journal.run import LIMITS
from fidelitree.certificates import standalone
from fidelitree.certificates.certificate import Certificate
from fidelitree.certificates.frontierfile import StoredFrontier
from fidelitree.certificates.reportfile import facts_of
from fidelitree.errors import (
    FidelitreeError,
    FormatError,
    ParameterError,
    check_path,
    read_bytes,
    read_json,
    read_text,
    reading,
    writing,
)
from fidelitree.spaces import kinds
from fidelitree.spaces.product import ProductSpace
from fidelitree.trees.ensemble import Ensemble
from fidelitree.trees.tree import Tree
from fidelitree.trees.treefile import MAX_BYTES

if TYPE_CHECKING:
    from fidelitree.spaces.world import World

TREE, CERTIFICATE, SPACE, TRACE, RUN = "tree.json", "certificate.json", "space.json", "trace.csv", "run.json"
TESTED, SURROGATE, FRONTIER = "tested.json", "surrogate.json", "frontier.json"
REPORT = "report.html"
FILES = "files"
"""The entry of ``run.json`` that holds the digests of the other files."""
POINT = "point"
"""The entry of ``run.json`` that says which point of the frontier the tree is, where it is not the run's own result."""
JOURNAL = "journal.db"
"""The answers of the run, where it kept them here."""
VERIFIER, README = "verify.py", "README.txt"
OLDER_VERIFIERS = {"c9d626aa94ffc6715a02fb51388820a867de39639ce1b1a09803f381271e9746": "0.2.0"}
"""SHA-256 of the files that older versions put into their folders."""
_README = "A decision tree (tree.json), what is promised about it (certificate.json){}."
_ANSWERS = (
    ", and the answers behind it (journal.db). Nothing in this folder shows that they are the model's own answers, or "
    "that the seed was given"
)
_ELSEWHERE = (
    "verify.py came with this folder, and its sender could have changed it: get it elsewhere. `fidelitree verifier` "
    "prints the genuine file, and the documentation of fidelitree {} lists its SHA-256."
)
_ALONE, _AGAIN, _ASKING = "python3 -I -S verify.py .", "fidelitree verify .", "fidelitree verify . --target MODEL"


def ways_to_check(space: World, kept: bool, helped: bool) -> list[tuple[str, str]]:
    """How to check a folder, what decides first: by the ``kept`` answers of a run, or by the model.

    The folder's own program draws from every world that is stored as a whole, and knows no surrogate that ``helped``.
    It confirms nothing over rows of a table, which are the same whatever tree is tested.
    """
    alone = kept and not helped and space.table is None and space.masses is not None
    some = "check files and bounds, but not the answers, which it leaves undecided"
    if kept and not helped and space.table is not None:
        some = "count the stored answers, which leaves undecided when the tree was made"
    again = "make the run again from its journal, bit for bit" if kept else "check that the files fit each other"
    ways = [
        (f"With Python alone, {'count the stored answers again' if alone else some}:", _ALONE),
        (f"With fidelitree, {again}:", _AGAIN),
        ("Ask the model about fresh inputs:", _ASKING),
    ]
    return ways if alone else [*ways[1:], ways[0]] if kept else [*ways[2:], *ways[:2]]


def verifier() -> bytes:
    """Return the genuine ``verify.py`` of this version."""
    return Path(standalone.__file__).read_bytes().replace(b"\r\n", b"\n")


def remark_on_verifier(folder: Path) -> str | None:
    """Say whether a folder's own ``verify.py`` is genuine; None if there is none."""
    path = folder / VERIFIER
    if not path.is_file():
        return None
    theirs = read_bytes(path, MAX_BYTES, "a file of a stored result").replace(b"\r\n", b"\n")
    if theirs == verifier():
        return f"{VERIFIER} in this folder is the genuine file of fidelitree {__version__}"
    older = OLDER_VERIFIERS.get(_digest(theirs))
    if older is not None:
        return f"{VERIFIER} in this folder is the genuine file of fidelitree {older}, an older version"
    return (
        f"{VERIFIER} in this folder is not the file of fidelitree {__version__}, nor that of an older version known "
        f"here: do not run it, `fidelitree verifier` prints the genuine one"
    )


@dataclass(frozen=True)
class Stored:
    """What a folder holds; what is not there is None, or empty."""

    folder: Path
    tree: Tree
    certificate: Certificate
    space: World | None
    run: Mapping[str, Any]
    tested: Tree | None = None
    trace: str | None = None
    frontier: StoredFrontier | None = None
    surrogate: Ensemble | None = None
    rewritten: bool = False
    """Whether the report is what this folder gives when it is written again."""

    @property
    def journal(self) -> Path | None:
        """The answers of the run."""
        return self.folder / JOURNAL if (self.folder / JOURNAL).is_file() else None

    @property
    def left_out(self) -> list[str]:
        """Entries of a certificate that the file does without: those of an older one, or of one that was changed."""
        return sorted(set(self.certificate.to_dict()) - set(_json(self.folder / CERTIFICATE)))

    @property
    def digests(self) -> dict[str, str]:
        """SHA-256 of each file that `save` writes and that is here, but for the one that lists them."""
        found = (TREE, TESTED, CERTIFICATE, SURROGATE, FRONTIER, SPACE, TRACE, REPORT)
        return {name: _listed(name, path.read_bytes()) for name in found if (path := self.folder / name).is_file()}

    @property
    def report(self) -> bytes:
        """The page; nothing where there is none."""
        return (self.folder / REPORT).read_bytes() if (self.folder / REPORT).is_file() else b""

    @property
    def changed(self) -> list[str]:
        """Files whose digest is not the one that is listed; older folders list that of the whole report."""
        listed = self.run.get(FILES)
        if not isinstance(listed, dict):
            return []
        found = {name: digest for name, digest in self.digests.items() if listed.get(name) != digest}
        if self.rewritten or listed.get(REPORT) == _digest(self.report):
            found.pop(REPORT, None)
        return [*found]


@dataclass(frozen=True)
class RunRecord:
    """What is stored beside the tree and its certificate."""

    space: World
    trace: Sequence[Mapping[str, Any]]
    run: Mapping[str, Any]
    tested: Tree | None = None
    report: str = ""
    frontier: StoredFrontier | None = None
    surrogate: Ensemble | None = None
    journal: Path | None = None


def save(folder: str | os.PathLike[str], tree: Tree, certificate: Certificate, record: RunRecord) -> list[Path]:
    """Write a result, all of it or nothing; the files, in the order in which one would open them."""
    folder = check_path("folder", folder)
    texts = {
        TREE: tree.to_json(),
        **({} if record.tested is None else {TESTED: record.tested.to_json()}),
        CERTIFICATE: certificate.to_json() + "\n",
        **({} if record.surrogate is None else {SURROGATE: record.surrogate.to_json()}),
        **({} if record.frontier is None else {FRONTIER: record.frontier.to_json()}),
        SPACE: json.dumps(record.space.to_dict()) + "\n",
        TRACE: table(record.trace),
        RUN: "",
        REPORT: record.report,
    }
    files = {name: _listed(name, text.encode()) for name, text in texts.items() if name != RUN}
    texts[RUN] = json.dumps({**record.run, FILES: files}, indent=1) + "\n"
    with writing(folder, "give a folder, or a name that is not taken"), _beside(folder) as place:
        kept = (folder / JOURNAL).is_file() or (record.journal is not None and record.journal.is_file())
        answers = _ANSWERS if kept else "; no answers were kept"
        ways = ways_to_check(record.space, kept, record.surrogate is not None)
        lines = [_README.format(answers), *(f"{text} {command}" for text, command in ways)]
        readme = "\n".join([*lines, _ELSEWHERE.format(__version__), ""])
        beside = {VERIFIER: verifier().decode(), README: readme}
        for name, text in {**texts, **beside}.items():
            with (place / name).open("wb") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
        journal = _other_journal(record.journal, folder)
        if journal is not None:
            copied(journal, place / JOURNAL)
            if (found := folder / JOURNAL).exists() and not same_run(found, journal):
                put_aside(found)
        (folder / CERTIFICATE).unlink(missing_ok=True)
        for name in {TESTED, SURROGATE, FRONTIER} - texts.keys():
            (folder / name).unlink(missing_ok=True)
        for name in sorted((path.name for path in place.iterdir()), key=lambda name: name == CERTIFICATE):
            (place / name).replace(folder / name)
    return [folder / name for name in texts]


def _other_journal(journal: Path | None, folder: Path) -> Path | None:
    """The journal of the run, where it is still there and not in the folder already."""
    if journal is None or not journal.is_file():
        return None
    return None if (folder / JOURNAL).exists() and journal.samefile(folder / JOURNAL) else journal


def same_run(one: Path, two: Path) -> bool:
    """Whether two journals are of one run, or of one that went on with other limits."""
    try:
        with Journal(one) as first, Journal(two) as second:
            runs = first.run, second.run
    except FidelitreeError:
        return False
    told = [{**vars(run), "arguments": {**run.arguments, **dict.fromkeys(LIMITS)}} for run in runs]
    return told[0] == told[1]


def put_aside(journal: Path) -> Path:
    """Keep a journal of another run under a name that is free, because its answers were paid for; its new path."""
    names = (journal.with_stem(f"{journal.stem}-{number}") for number in itertools.count(1))
    return journal.rename(next(name for name in names if not name.exists()))


@contextmanager
def _beside(folder: Path) -> Iterator[Path]:
    """A place on the same disk for files that are not whole yet; nothing is left of it."""
    new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        place = Path(tempfile.mkdtemp(prefix=".saving-", dir=folder))
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)
    except BaseException:
        if new:
            with suppress(OSError):
                folder.rmdir()
        raise


def _listed(name: str, content: bytes) -> str:
    """The digest of a file: of a report without its author's words, which may be written again."""
    return facts_of(content) if name == REPORT else _digest(content)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def table(records: Sequence[Mapping[str, Any]]) -> str:
    """Records as CSV, under the names of the first one's entries."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]) if records else ["asked"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def load(folder: str | os.PathLike[str]) -> Stored:
    """Read a folder that `save` wrote; its files are data, nothing in them is executed."""
    folder = check_path("folder", folder)
    with reading(folder):
        found = folder.is_dir()
    if not found:
        raise ParameterError(f"folder must hold a stored result; there is no folder {str(folder)!r}")
    for name in (TREE, CERTIFICATE):
        if not (folder / name).is_file():
            raise ParameterError(f"folder must hold {TREE} and {CERTIFICATE}; {name} is not in {str(folder)!r}")
    space = load_space(folder / SPACE) if (folder / SPACE).is_file() else None
    run = _json(folder / RUN) if (folder / RUN).is_file() else {}
    if not isinstance(run, dict):
        raise FormatError(f"{RUN} must hold an object; got {run!r:.80}")
    certificate = Certificate.from_json(_text(folder / CERTIFICATE))
    tested = Tree.load(folder / TESTED) if (folder / TESTED).is_file() else None
    trace = _text(folder / TRACE) if (folder / TRACE).is_file() else None
    frontier = StoredFrontier.from_dict(_json(folder / FRONTIER)) if (folder / FRONTIER).is_file() else None
    surrogate = Ensemble.from_json(_text(folder / SURROGATE)) if (folder / SURROGATE).is_file() else None
    return Stored(folder, Tree.load(folder / TREE), certificate, space, run, tested, trace, frontier, surrogate)


def load_space(path: str | os.PathLike[str]) -> World:
    """A space file in TOML, or a stored world of any kind."""
    path = check_path("path", path)
    if path.suffix.lower() == ".toml":
        return ProductSpace.from_file(path)
    return kinds.from_dict(_json(path))


def _json(path: Path) -> Any:
    text = _text(path)
    try:
        return read_json(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path.name} is not JSON: {error}") from None


def _text(path: Path) -> str:
    return read_text(path, MAX_BYTES, "a file of a stored result")
