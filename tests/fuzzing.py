"""Files from strangers, made by changing bytes of good ones: python fuzzing.py FORMAT INPUTS SEED.

Whatever the bytes are, reading them ends within a second, in 200 MB, with a value or with one of our own errors. The
memory is a limit of the process, so that an allocation which is too large is seen as a MemoryError.
"""

from __future__ import annotations

import base64
import json
import random
import resource
import signal
import sys
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import fidelitree as ft
from fidelitree.certificates.store import load_space
from fidelitree.targets.models.command import _as_labels
from journals import MIXED, drawn, on_mixed

if TYPE_CHECKING:
    from collections.abc import Callable

MEMORY = 200 << 20
SECONDS, WAITED = 1.0, 60.0  # of the processor, and of a machine that has other things to do
SPLICES = [b"", b"0", b"-1", b"1e999", b"NaN", b"null", b"true", b'"', b"{", b"[", b"]}", b"\x00", b"\xff\xfe", b"\n"]
SPLICES += [b"9" * 40, b"[" * 3000, b'{"a":' * 900, b"x" * 5000, b"\\ud800", b"0x1.8p+1", b"..", b"=", b"= [[", b"#"]


class Format(NamedTuple):
    """Good files to begin with, and how one is read."""

    seeds: list[bytes]
    read: Callable[[bytes], Any]


def mutated(seeds: list[bytes], rng: random.Random) -> bytes:
    """A good file with a few changes: bytes, cuts, repeats, splices of another file or of something odd."""
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((1, 1, 2, 3, 8, 30))):
        here, there = sorted((rng.randrange(len(data) + 1), min(len(data), rng.randrange(len(data) + 1))))
        kind = rng.randrange(7)
        if kind == 0 and data:
            data[min(here, len(data) - 1)] = rng.randrange(256)
        elif kind == 1 and data:
            data[min(here, len(data) - 1)] ^= 1 << rng.randrange(8)
        elif kind == 2:
            del data[here : here + rng.randrange(1, 20)]
        elif kind == 3:
            data[here:here] = rng.choice(SPLICES)
        elif kind == 4:
            data[here : here + rng.randrange(1, 9)] = rng.choice(SPLICES)
        elif kind == 5:
            other = rng.choice(seeds)
            start = rng.randrange(len(other))
            data[here:there] = other[start : start + rng.randrange(200)]
        elif len(data) < 200_000:
            data[here:here] = data[here:there]
    if rng.random() < 0.03:
        del data[rng.randrange(len(data) + 1) :]
    return bytes(data)


def _with_file(suffix: str, read: Callable[[Path], Any]) -> Callable[[bytes], Any]:
    folder = Path(tempfile.mkdtemp(prefix="fuzz"))

    def written(data: bytes) -> Any:
        for left in folder.iterdir():
            left.unlink()
        (folder / f"file{suffix}").write_bytes(data)
        return read(folder / f"file{suffix}")

    return written


def _certificate(data: bytes) -> Any:
    return str(ft.Certificate.from_json(data.decode("utf-8", errors="surrogateescape")))


def _tree(path: Path) -> Any:
    tree = ft.Tree.load(path)
    return str(tree), tree.digest


def _journal(path: Path) -> Any:
    found = str(ft.journal.info(path))
    return found, ft.journal.export(path, path.with_suffix(".csv"))


TOML = b"""batch = "dict"
[features.owner]
kind = "boolean"
p = 0.3
[features.job]
kind = "categorical"
probabilities = { clerk = 0.5, nurse = 0.3, pilot = 0.2 }
[features.age]
kind = "numeric"
low = 18
high = 90
[features.rooms]
kind = "numeric"
values = [1, 2, 3]
"""


def _space(path: Path) -> Any:
    space = load_space(path)
    return space.digest, repr(space)


def _command(data: bytes) -> Any:
    lines = data.split(b"\n")
    return _as_labels(lines)


def formats() -> dict[str, Format]:
    """Every format that is read from strangers."""
    bits = ft.ProductSpace.bernoulli(6)
    results = [ft.distill(on_mixed, MIXED, 0.1), ft.distill(ft.targets.majority(6), bits, 0.1)]
    trees = [json.dumps(result.tree.to_dict()).encode() for result in results]
    certificates = [result.certificate.to_json().encode() for result in results]
    spaces = [json.dumps(space.to_dict()).encode() for space in (MIXED, bits, ft.Rows(MIXED.batch(drawn(MIXED, 5))))]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, "a.db"), Path(folder, "b.db")]
        ft.distill(on_mixed, MIXED, 0.2, journal=paths[0], max_queries=60)
        ft.distill(lambda batch: batch[:, 0], bits, 0.2, journal=paths[1])
        journals = [path.read_bytes() for path in paths]
    return {
        "tree": Format(trees, _with_file(".json", _tree)),
        "certificate": Format(certificates, _certificate),
        "journal": Format(journals, _with_file(".db", _journal)),
        "space": Format([TOML, TOML[:120]], _with_file(".toml", _space)),
        "stored space": Format(spaces, _with_file(".json", _space)),
        "command": Format([b"yes\nno\nmaybe", b"1\n2\n3.0\n1e3", b"true\nfalse", b'"a"\n"b c"'], _command),
    }


def chain(features: list[dict[str, Any]], tests: list[dict[str, Any]]) -> bytes:
    """A stored tree that is as deep as it has tests: each stands on the no side of the one before."""
    deep = len(tests)
    nodes: list[Any] = [{"test": test, "no": i + 1, "yes": 2 * deep - i} for i, test in enumerate(tests)]
    nodes += [{"label": 1}, *[{"label": 0}] * deep]
    labels = {"type": "int", "values": [0, 1]}
    return json.dumps(
        {"format": "fidelitree.tree", "version": 1, "features": features, "labels": labels, "nodes": nodes}
    ).encode()


def rows_of(count: int, megabytes: int) -> bytes:
    """Stored rows that say how many they are, with so many zeros in them, packed a thousandfold."""
    packer = zlib.compressobj()
    packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(megabytes)) + packer.flush()
    rows = {"count": count, "packed": base64.b64encode(packed).decode()}
    return json.dumps({**ft.ProductSpace([ft.Numeric("a", 0, 1)]).to_dict(), "rows": rows}).encode()


def swelling(deep: int = 4000) -> dict[str, tuple[str, bytes]]:
    """Small files that would take much memory if one let them, with their formats."""
    bits = [{"name": f"x{i}", "kind": "boolean"} for i in range(deep)]
    categories = [{"name": "a", "kind": "categorical", "values": list(range(deep + 1))}]
    ranges = "".join(f'[features.x{i}]\nkind = "numeric"\nlow = 0\nhigh = 1000000\ninteger = true\n' for i in range(10))
    return {
        "deep bits": ("tree", chain(bits, [{"feature": i, "is": 1} for i in range(deep)])),
        "deep sets": ("tree", chain(categories, [{"feature": 0, "in": [i]} for i in range(deep)])),
        "rows": ("stored space", rows_of(50_000_000, 250)),
        "no rows": ("stored space", rows_of(10**30, 0)),
        "ranges": ("space", ranges.encode()),
    }


def check(format_: Format, data: bytes) -> bool:
    """Whether a file is read; only our own errors may come instead."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.setitimer(signal.ITIMER_REAL, WAITED)
    try:
        format_.read(data)
    except ft.FidelitreeError:
        return False
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    return True


def late(number: int, frame: object) -> None:
    raise TimeoutError(f"reading took more than {SECONDS:g} s of the processor, or {WAITED:g} in all")


def limit() -> None:
    """From here on, too long and too much are errors."""
    signal.signal(signal.SIGPROF, late)
    signal.signal(signal.SIGALRM, late)
    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))


def main(name: str, inputs: int, seed: int) -> None:
    format_, rng = formats()[name], random.Random(seed)
    limit()
    read = 0
    for number in range(inputs):
        data = mutated(format_.seeds, rng)
        try:
            read += check(format_, data)
        except BaseException:
            sys.stderr.write(f"{name} number {number} of seed {seed}: {data[:2000]!r}\n")
            raise
    print(f"{inputs} {read}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
