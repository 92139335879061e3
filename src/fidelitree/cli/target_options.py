"""TARGET on the command line: a model, a function, a circuit, a command, a stored tree."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from fidelitree.errors import ParameterError

if TYPE_CHECKING:
    from fidelitree.spaces.world import World

TargetText = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="A model (.onnx .json .ubj .txt .skops .pkl .joblib), a circuit (.aig .aag .blif .pla), module:function, "
        "'cmd:program arguments', http(s)://ADDRESS, a stored tree, or a result folder.",
    ),
]
ADDRESSES = ("http://", "https://")
_TERMS = ("one_row", "concurrency", "rows_per_second", "calls_per_minute", "cost_per_row", "cost_per_call")
_STORED_TREE = b'"fidelitree.tree"'


@dataclass(frozen=True)
class TargetOptions:
    """How a target is to be read; each option belongs to some kinds of target only."""

    PANEL: ClassVar = "Target"
    output: Annotated[str | None, typer.Option(metavar="NAME|INDEX", help="Circuit or ONNX: which output.")] = None
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="argmax|argmin|NUMBER", help="Model with scores: how they become labels; a number is a cut."
        ),
    ] = None
    missing: Annotated[float | None, typer.Option(help="XGBoost: the value that stands for a missing one.")] = None
    trust_pickle: Annotated[
        bool,
        typer.Option("--trust-pickle", help="Load a pickle or joblib file, which runs what its author put into it."),
    ] = False
    trusted: Annotated[
        list[str] | None, typer.Option(metavar="TYPE", help="skops: a type that may be built. Repeatable.")
    ] = None
    timeout: Annotated[
        float | None,
        typer.Option(help="Seconds of silence after which a cmd: or http: target, or a worker, counts as failed."),
    ] = None
    header: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VARIABLE", help="http: send a header that an environment variable holds. Repeatable."
        ),
    ] = None
    concurrency: Annotated[int | None, typer.Option(help="Calls that wait for answers at a time (http: 16).")] = None
    one_row: Annotated[bool, typer.Option("--one-row", help="A function of one record, not of a batch.")] = False
    rows_per_second: Annotated[float | None, typer.Option(help="Send no more inputs a second.")] = None
    calls_per_minute: Annotated[float | None, typer.Option(help="Make no more calls a minute.")] = None
    cost_per_row: Annotated[float | None, typer.Option(help="The price of an answer, for --max-cost.")] = None
    cost_per_call: Annotated[float | None, typer.Option(help="The price of a call, for --max-cost.")] = None

    def for_workers(self, text: str) -> tuple[TargetOptions, float | None]:
        """The same without a timeout, and that of the workers: a command has one of its own, anything else has not."""
        own = is_command(text) or text.startswith(ADDRESSES)
        return (self, None) if own else (replace(self, timeout=None), self.timeout)

    def terms(self) -> dict[str, Any]:
        """On which terms the target may be asked."""
        found = {name: getattr(self, name) for name in _TERMS}
        return {name: value for name, value in found.items() if value not in (None, False)}

    def given(self) -> dict[str, Any]:
        """The options that were used, under the library's names."""
        found: dict[str, Any] = {
            "output": self.output,
            "labels": self.labels,
            "missing": self.missing,
            "timeout": self.timeout,
        }
        found |= {"trust_pickle": self.trust_pickle or None, "trusted": self.trusted or None}
        found["headers"] = dict(map(_header, self.header or ())) or None
        if self.labels is not None:
            found["labels"] = number_or_word(self.labels)
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True)
class OpenedTarget:
    """A target, the inputs that it brings along, and what it knows about its features."""

    target: Callable[[Any], Any]
    space: World | None = None
    names: tuple[str, ...] | None = None
    count: int | None = None


def both(target: OpenedTarget, predictor: OpenedTarget) -> OpenedTarget:
    """What the two know about inputs; the target's word comes first."""
    names, count = (predictor.names, predictor.count) if target.names is None else (target.names, target.count)
    return OpenedTarget(target.target, predictor.space if target.space is None else target.space, names, count)


def is_command(text: str) -> bool:
    """Whether TARGET is a program that is run."""
    return text.startswith("cmd:")


@contextmanager
def opened(text: str, options: TargetOptions) -> Iterator[OpenedTarget]:
    """The target that a text on the command line stands for; what it started is ended with the block."""
    found = _open(text, options.given())
    if terms := options.terms():
        from fidelitree.targets.models.remote import Remote, make_terms

        if text.startswith(ADDRESSES):
            found.target.terms = make_terms(terms)  # type: ignore[attr-defined]
        else:
            inside = getattr(found.target, "function", found.target) if options.one_row else found.target
            found = replace(found, target=Remote(inside, **terms))
    try:
        yield found
    finally:
        close = getattr(found.target, "close", None)
        if callable(close):
            close()


def _open(text: str, options: dict[str, Any]) -> OpenedTarget:
    from fidelitree.targets.circuits import READERS, read_circuit

    path, suffix = Path(text), Path(text).suffix.lower()
    if path.is_dir() or (suffix == ".json" and path.is_file() and _STORED_TREE in _beginning(path)):
        from fidelitree.cli.picking import tree_at

        _refuse_options(path, options)
        tree, found = tree_at(path, None)
        return OpenedTarget(tree, None if found is None else found.space, tree.names, len(tree.names))
    if suffix in READERS:
        output = options.pop("output", None)
        _refuse_options(path, options)
        circuit = read_circuit(path, output)
        return OpenedTarget(circuit, circuit.space, circuit.names, circuit.n)
    return _model(text, options)


def _model(text: str, options: dict[str, Any]) -> OpenedTarget:
    from fidelitree.targets.models import SUFFIXES, load_model
    from fidelitree.targets.models.function import ADDRESS

    address = ADDRESS.fullmatch(text) is not None
    if not (address or is_command(text) or text.startswith(ADDRESSES) or Path(text).suffix.lower() in SUFFIXES):
        there = "" if Path(text).exists() or os.sep not in text else ", and there is no such file"
        raise ParameterError(
            f"TARGET must be a model ({' '.join(SUFFIXES)}), a circuit (.aag .aig .blif .pla), module:function, "
            f"cmd:COMMAND, https://ADDRESS or a result folder; got {text!r}{there}{_meant(Path(text))}"
        )
    if address and "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))  # as `python -m` would: people name a module beside them
    model = load_model(text, **options)
    return OpenedTarget(model, None, model.feature_names, model.columns.count)


def _meant(path: Path) -> str:
    """The functions of a file of Python, which a target names in another way; nothing of the file is run."""
    if path.suffix != ".py" or not path.is_file():
        return ""
    import ast

    try:
        inside = ast.parse(path.read_bytes()).body
    except (SyntaxError, ValueError):
        return ""
    names = [one.name for one in inside if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")]
    return f" - did you mean {path.stem}:{names[0]}?" if names else f" - did you mean 'cmd:python {path}'?"


def _refuse_options(path: Path, options: dict[str, Any]) -> None:
    if options:
        first = next(iter(options)).replace("_", "-")
        raise ParameterError(f"--{first} says nothing about {str(path)!r}; leave it out")


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(200)


def number_or_word(text: str) -> Any:
    """A number, where it is one."""
    try:
        return float(text)
    except ValueError:
        return text


def _header(text: str) -> tuple[str, str]:
    """A header, and the variable that holds it: a secret on a command line would be seen by everybody."""
    name, found, variable = text.partition("=")
    if not (name and found and re.fullmatch(r"\w+", variable)):
        raise ParameterError(f"--header must be NAME=VARIABLE, the name of an environment variable; got {name!r}")
    return name, f"${{{variable}}}"


def command_line() -> str:
    """The command as results and reports repeat it."""
    return shlex.join(["fidelitree", *map(_without_keys, sys.argv[1:])])


def _without_keys(word: str) -> str:
    """A word of the command line as results and reports repeat it: addresses and a program's words may hold keys."""
    if word.startswith(ADDRESSES):
        return _without_secrets(word)
    return f"{word.split(maxsplit=1)[0]} ..." if is_command(word) and len(word.split()) > 1 else word


def _without_secrets(address: str) -> str:
    from fidelitree.targets.models.http import without_secrets

    return without_secrets(address)


def plain_name(target: str) -> str:
    """A name for a folder: the file, the function, or the program and its script, but no key of its arguments."""
    target = _without_secrets(target) if target.startswith(ADDRESSES) else target
    path = target.removeprefix("cmd:").replace("\\", "/").rstrip("/")
    words = path.split() if is_command(target) else [path]
    named = [word for place, word in enumerate(words[:2]) if place == 0 or Path(word).is_file()]
    last = " ".join(word.rpartition("/")[2] for word in named)
    return re.sub(r"[^\w.-]+", "-", last).strip("-.") or "target"
