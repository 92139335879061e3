"""Runs what `fidelitree.export` writes, each format in the program it is meant for, on inner values of inputs."""

from __future__ import annotations

import json
import re
import sqlite3
import struct
import subprocess
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import fidelitree as ft
from fidelitree import export
from fidelitree.display.wording import category, shown
from fidelitree.spaces.features import AtMost
from fidelitree.spaces.inputs import is_missing
from fidelitree.trees.tree import Tree
from mixed import possible_tests, some_inputs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STRANGERS = {str: "no such value", int: 987_654_321, bool: 987_654_321, float: 0.123456}


def grown(space: ft.ProductSpace, leaves: int, labels: list[Any], seed: int = 0) -> Tree:
    """A tree of so many leaves, random in shape and tests."""
    rng = np.random.default_rng(seed)
    nodes: list[Any] = [0]
    ends = [(0, space.whole)]
    while len(ends) < leaves:
        place = int(rng.integers(len(ends)))
        node, region = ends[place]
        tests = possible_tests(region, rng)
        if not tests:
            continue
        test = tests[rng.integers(len(tests))]
        no, yes = region.split(test)
        nodes[node] = (test, len(nodes), len(nodes) + 1)
        ends[place] = len(nodes), no
        ends.append((len(nodes) + 1, yes))
        nodes += [0, 0]
    for node, _ in ends:
        nodes[node] = int(rng.integers(len(labels)))
    return Tree.build(space, nodes, labels)


def hard_inputs(tree: Tree, space: ft.ProductSpace, rows: int) -> NDArray[Any]:
    """Drawn inputs; then one more for every cut and its two neighbours; some categories that the tree does not know."""
    tests = [test for test in tree.tests.values() if isinstance(test, AtMost)]
    cuts = [(test.feature, test.cut) for test in tests if test.cut < np.inf]
    near = [(i, x) for i, cut in cuts for x in (np.nextafter(cut, -np.inf), cut, np.nextafter(cut, np.inf))]
    inner = some_inputs(space, rows + len(near)).copy()
    for row, (feature, number) in enumerate(near, start=rows):
        inner[row, feature] = number
    rng = np.random.default_rng(0)
    for i, kind in enumerate(tree.kinds):
        if kind == "categorical":
            inner[rng.random(len(inner)) < 0.05, i] = -1
    return inner


def columns(tree: Tree, inner: NDArray[Any]) -> dict[str, list[Any]]:
    """The user's values of inner ones; a code of -1 becomes a value that the feature does not have."""
    found: dict[str, list[Any]] = {}
    for i, name in enumerate(tree.names):
        values = tree.values[i] if tree.values else None
        column = inner[:, i].tolist()
        if values is not None:
            kinds = [type(value) for value in values if value is not None]
            column = [(*values, STRANGERS.get(kinds[0], "no such value"))[int(code)] for code in column]
        found[name] = column
    return found


def batch(tree: Tree, inner: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """The same as arrays, as `Tree.predict` takes them."""
    found = {}
    for name, column in columns(tree, inner).items():
        array = np.empty(len(column), object)
        array[:] = column
        found[name] = array
    return found


# Text, DOT and SVG are read as a person reads them: by the conditions and labels that they show.

Shown = dict[Any, tuple[str, Any, Any]]
"""Node -> condition, child where it holds, child where it does not; or label, None, None."""


def follow(tree: Tree, nodes: Shown, root: Any, inner: NDArray[Any]) -> list[Any]:
    labels = {shown(label): label for label in tree.labels.tolist()}
    answers = np.empty(len(inner), object)
    waiting = [(root, np.arange(len(inner)))]
    while waiting:
        node, rows = waiting.pop()
        text, yes, no = nodes[node]
        if yes is None:
            answers[rows] = labels[text]
            continue
        holds = condition_holds(tree, text, inner[rows])
        waiting += [(yes, rows[holds]), (no, rows[~holds])]
    return answers.tolist()


def condition_holds(tree: Tree, text: str, rows: NDArray[Any]) -> NDArray[np.bool_]:
    places = {shown(name): i for i, name in enumerate(tree.names)}
    if (whole := re.fullmatch(r"(.*) is (not )?missing", text)) and whole[1] in places:
        return np.isnan(rows[:, places[whole[1]]]) != bool(whole[2])
    for found in re.finditer(r" (<=|>|=|!=|in|not in) ", text):
        if text[: found.start()] not in places:
            continue
        i, sign, rest = places[text[: found.start()]], found[1], text[found.end() :]
        values, column = tree.values[i] if tree.values else None, rows[:, i]
        if values is None:
            number, also = float(rest.removesuffix(" or missing")), rest.endswith(" or missing")
            known = {"<=": column <= number, ">": column > number, "=": column == number}[sign]
            return known | (np.isnan(column) & also)
        inside = np.isin(column, [code for code, value in enumerate(values) if value in members(rest, sign, values)])
        return inside if sign in ("=", "in") else ~inside
    raise AssertionError(f"no condition: {text}")


def members(text: str, sign: str, values: tuple[Any, ...]) -> list[Any]:
    known = {category(value): value for value in values}
    if sign in ("=", "!="):
        return [known[text]]
    assert text[0] == "{"
    assert text[-1] == "}"
    rest, found = text[1:-1] + ", ", []
    while rest:
        name = max((name for name in known if rest.startswith(f"{name}, ")), key=len)
        found.append(known[name])
        rest = rest[len(name) + 2 :]
    return found


def run_text(tree: Tree, inner: NDArray[Any], folder: Path) -> list[Any]:
    lines = export.to_text(tree).removesuffix("\n").split("\n")
    if tree.size == 1:
        assert len(lines) == 1
        return follow(tree, {0: (lines[0], None, None)}, 0, inner)
    nodes: Shown = {}
    starts: list[list[int]] = []  # for each depth the lines of the two sides that are being read
    depth_of = [(len(line) - len(line.lstrip(" "))) // 4 for line in lines]
    pairs: dict[int, int] = {}
    for k, depth in enumerate(depth_of):
        del starts[depth + 1 :]
        if len(starts) == depth:
            starts.append([])
        if len(starts[depth]) % 2:
            pairs[starts[depth][-1]] = k
        starts[depth].append(k)
    for first, second in pairs.items():
        ends = []
        for k in (first, second):
            text = lines[k].strip(" ")
            below = k + 1 in pairs and k + 1 < len(lines) and depth_of[k + 1] > depth_of[k]
            leaf = ("leaf", k)
            if not below:
                text, _, label = text.rpartition(": ") if not text.endswith(("'", '"')) else _quoted_label(text)
                nodes[leaf] = (label, None, None)
            ends.append((text, k + 1 if below else leaf))
        nodes[first] = (ends[0][0], ends[0][1], ends[1][1])
    return follow(tree, nodes, 0, inner)


def _quoted_label(text: str) -> tuple[str, str, str]:
    found = re.fullmatch(r"""(.*?): ('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", text)
    if found is None:
        return text.rpartition(": ")
    return found[1], ": ", found[2]


def run_dot(tree: Tree, inner: NDArray[Any], folder: Path) -> list[Any]:
    text = export.to_dot(tree)
    quoted = r'"((?:[^"\\]|\\.)*)"'
    texts = {name: re.sub(r"\\(.)", r"\1", label) for name, label in re.findall(rf"    (n\d+) \[label={quoted}", text)}
    edges = {(start, side): end for start, end, side in re.findall(r"    (n\d+) -> (n\d+) \[label=\"(\w+)\"\];", text)}
    assert len(texts) == len(tree.feature)
    assert len(edges) == 2 * (tree.size - 1)
    return follow(
        tree, {n: (text, edges.get((n, "yes")), edges.get((n, "no"))) for n, text in texts.items()}, "n0", inner
    )


def run_svg(tree: Tree, inner: NDArray[Any], folder: Path) -> list[Any]:
    root = ET.fromstring(export.to_svg(tree))
    space = "{http://www.w3.org/2000/svg}"
    assert [child.tag for child in root[:2]] == [f"{space}title", f"{space}desc"]
    groups = root.findall(f"{space}g")
    nodes = {g.get("data-node"): (g.find(f"{space}title").text, g.get("data-yes"), g.get("data-no")) for g in groups}
    assert len(nodes) == len(tree.feature)
    return follow(tree, nodes, "0", inner)


def run_rules(tree: Tree, inner: NDArray[Any], folder: Path) -> list[Any]:
    rules = export.to_rules(tree)
    answers, hits = np.empty(len(inner), object), np.zeros(len(inner), np.intp)
    places = {name: i for i, name in enumerate(tree.names)}
    for rule in rules:
        holds = np.ones(len(inner), np.bool_)
        for condition in reversed(rule.conditions):  # the last ones tell most rules apart
            if not holds.any():
                break
            i = places[condition.name]
            if condition.kind == "categorical":
                inside = [code for code, value in enumerate(tree.values[i]) if value in condition.values]
                holds &= np.isin(inner[:, i], inside) != condition.excluded
            elif condition.kind == "numeric":
                inside = (inner[:, i] > condition.low) & (inner[:, i] <= condition.high)
                holds &= inside | (np.isnan(inner[:, i]) & condition.missing)
            else:
                holds &= inner[:, i] == condition.low
        answers[holds] = rule.label
        hits += holds
    assert (hits == 1).all()
    given = columns(tree, inner[-9:])
    for row in range(9):
        one = {name: column[row] for name, column in given.items()}
        (own,) = [rule for rule in rules if rule.holds(one)]
        assert own.label == answers[len(inner) - 9 + row]
    return answers.tolist()


def run_json(tree: Tree, inner: NDArray[Any], folder: Path) -> list[Any]:
    again = Tree.from_dict(json.loads(export.to_json(tree)))
    assert again.digest == tree.digest
    return again.predict_inner(inner).tolist()


def run_python(tree: Tree, inner: NDArray[Any], folder: Path) -> list[Any]:
    namespace: dict[str, Any] = {}
    exec(compile(export.to_python(tree, "answer"), "exported", "exec"), namespace)
    given = columns(tree, inner)
    for column in given.values():
        column[::2] = [None if is_missing(value) else value for value in column[::2]]
    return [namespace["answer"](dict(zip(given, row, strict=True))) for row in zip(*given.values(), strict=True)]


_SQLITE_COLUMNS = 1990


def run_sql(tree: Tree, inner: NDArray[Any], folder: Path) -> list[Any]:
    asked = sorted(set(tree.feature.tolist()) - {-1})[:_SQLITE_COLUMNS] or [0]
    given = columns(tree, inner)
    names = ['"' + tree.names[i].replace('"', '""') + '"' for i in asked]
    base = sqlite3.connect(":memory:")
    base.execute(f"CREATE TABLE inputs ({', '.join(names)})")
    marks = ", ".join("?" * len(names))
    base.executemany(f"INSERT INTO inputs VALUES ({marks})", zip(*(given[tree.names[i]] for i in asked), strict=True))
    found = [row[0] for row in base.execute(f"SELECT {export.to_sql(tree)} FROM inputs ORDER BY rowid")]
    base.close()
    return [bool(label) for label in found] if tree.labels.dtype.kind == "b" else found


# C: a program around the function, which reads inner values and calls the functions that look categories up.

_C_FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O0"]


def run_c(tree: Tree, inner: NDArray[Any], folder: Path) -> list[Any]:
    source = export.to_c(tree, "answer")
    source.encode("ascii")
    (folder / "tree.c").write_text(source + _c_main(tree, source), encoding="ascii")
    subprocess.run(["gcc", *_C_FLAGS, "tree.c", "-o", "tree"], cwd=folder, check=True)
    rows = np.ascontiguousarray(inner, np.float64).tobytes()
    printed = subprocess.run([folder / "tree"], input=rows, capture_output=True, check=True).stdout.decode().split("\n")
    printed.pop()
    if tree.labels.dtype.kind == "U":
        return [bytes.fromhex(line[1:]).decode() for line in printed]
    return [tree.labels.dtype.type(int(line)).item() for line in printed]


def _c_main(tree: Tree, source: str) -> str:
    members = re.findall(r"^    (?:int|double) (\w+); /\*", source, flags=re.MULTILINE)
    assert len(members) == len(tree.names)
    tables, fills = [], []
    for i, member in enumerate(members):
        values = (tree.values[i] if tree.values else None) or ()
        fill = f"x.{member} = (int)row[{i}];"
        if f"answer_{member}(const char" in source:
            tables.append(f"static const char *const v{i}[] = {{{', '.join(map(_c_bytes, values))}}};")
            fill = f'x.{member} = answer_{member}(row[{i}] < 0 ? "no such value" : v{i}[(int)row[{i}]]);'
        elif f"answer_{member}(long long" in source:
            tables.append(f"static const long long v{i}[] = {{{', '.join(f'{int(v)}LL' for v in values)}}};")
            fill = f"x.{member} = answer_{member}(row[{i}] < 0 ? 987654321LL : v{i}[(int)row[{i}]]);"
        elif tree.kinds[i] == "numeric":
            fill = f"x.{member} = row[{i}];"
        fills.append(fill)
    answer = 'printf("%lld\\n", (long long)answer(&x));'
    if tree.labels.dtype.kind == "U":
        answer = 'const char *s = answer(&x); putchar(120); while (*s) printf("%02x", (unsigned char)*s++); puts("");'
    body = "\n".join(fills)
    loop = f"while (fread(row, sizeof row, 1, stdin) == 1) {{\nstruct answer_input x;\n{body}\n{answer}\n}}"
    main = f"int main(void)\n{{\nstatic double row[{len(members)}];\n{loop}\nreturn 0;\n}}\n"
    return "\n".join(["", "#include <stdio.h>", *tables, main])


def _c_bytes(value: Any) -> str:
    if value is None:
        return "NULL"
    octets = ", ".join(str(struct.unpack("b", bytes([octet]))[0]) for octet in value.encode() + b"\0")
    return f"(const char[]){{{octets}}}"


def run_sklearn(tree: Tree, inner: NDArray[Any], folder: Path) -> list[Any]:
    return export.to_sklearn(tree).predict(export.Encoder(tree).transform(batch(tree, inner))).tolist()


def run_onnx(tree: Tree, inner: NDArray[Any], folder: Path) -> list[Any]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(export.to_onnx(tree).SerializeToString(), options)
    if "categorical" not in tree.kinds:
        return session.run(None, {"inputs": np.asarray(inner, np.float64)})[0].tolist()
    feed, given = {}, columns(tree, inner)
    for tensor in session.get_inputs():
        column = given[tensor.name]
        if tensor.type == "tensor(string)":
            feed[tensor.name] = np.array([value or "" for value in column], object)[:, None]
        else:
            kind = np.int64 if tensor.type == "tensor(int64)" else np.float64
            feed[tensor.name] = np.array([np.nan if value is None else value for value in column], kind)[:, None]
    return session.run(None, feed)[0].tolist()


def _run_circuit(tree: Tree, inner: NDArray[Any], path: Path) -> list[Any]:
    labels = tree.labels.tolist()
    if set(labels) <= {0, 1}:
        return [type(labels[0])(bit) for bit in ft.targets.read_circuit(path)(inner).tolist()]
    votes = [ft.targets.read_circuit(path, output=f"y{k}")(inner) for k in range(len(labels))]
    assert (np.sum(votes, axis=0) == 1).all()
    return tree.labels[np.argmax(votes, axis=0)].tolist()


def run_pla(tree: Tree, inner: NDArray[Any], folder: Path) -> list[Any]:
    (folder / "tree.pla").write_text(export.to_pla(tree), encoding="utf-8")
    return _run_circuit(tree, inner, folder / "tree.pla")


def run_blif(tree: Tree, inner: NDArray[Any], folder: Path) -> list[Any]:
    (folder / "tree.blif").write_text(export.to_blif(tree), encoding="utf-8")
    return _run_circuit(tree, inner, folder / "tree.blif")


RUNNERS: dict[str, Callable[[Tree, NDArray[Any], Path], list[Any]]] = {
    "text": run_text,
    "rules": run_rules,
    "json": run_json,
    "dot": run_dot,
    "svg": run_svg,
    "python": run_python,
    "c": run_c,
    "sql": run_sql,
    "sklearn": run_sklearn,
    "onnx": run_onnx,
    "pla": run_pla,
    "blif": run_blif,
}
CIRCUITS = ("pla", "blif")
