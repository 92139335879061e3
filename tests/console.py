"""Runs or checks the commands that a document shows, and knows the commands that fidelitree has.

`fidelitree`, `python -I -S` and a few readers of files are run. Commands that set up a machine (`make`, `pip`, `git`,
`cd`, `python FILE`) are not: what they name must exist. Any other command is refused until it is listed here.
"""

from __future__ import annotations

import enum
import os
import re
import shlex
import shutil
import subprocess
import sysconfig
import tomllib
import typing
from pathlib import Path

import typer

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[1]
TIMEOUT = 900  # seconds for one command on a busy machine
VERIFIER = "verify.py"
READERS = ("cat", "echo", "head", "ls", "tail", "wc")
SHELL_SIGNS = re.compile(r"[|<>&;*$]")


def commands(text: str) -> Iterator[tuple[int, str, str]]:
    """Each command of a console block: its line, counted from 0, the command, the lines shown under it."""
    start, command, shown, goes_on = 0, "", "", False
    for number, line in enumerate(text.splitlines()):
        if goes_on:
            command += " " + line.strip().removesuffix("\\").rstrip()
        elif line.startswith("$ "):
            if command:
                yield start, command, shown
            start, command, shown = number, line[2:].removesuffix("\\").strip(), ""
        else:
            shown += line + "\n"
            continue
        goes_on = line.endswith("\\")
    yield start, command, shown.strip("\n")


def is_run(command: str) -> bool:
    """Whether a command is run, or only checked."""
    program, words = _program(command)
    return program in ("fidelitree", *READERS) or (program == "python" and words[:2] == ["-I", "-S"])


def run_command(command: str, folder: Path) -> str:
    """What a command prints: the programs of this environment come first, a shell serves only a line that needs it."""
    variables, words = _split(command)
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", **variables}
    program = shutil.which(words[0], path=path)
    if program is None:
        raise ValueError(f"{words[0]} is not installed")
    line = ["sh", "-c", command] if SHELL_SIGNS.search(command) else [program, *words[1:]]
    done = subprocess.run(
        line, cwd=folder, env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    if done.returncode:
        raise ValueError(f"ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def check_command(command: str) -> None:
    """A command that is not run: what it names exists."""
    program, words = _program(command)
    if program not in CHECKS:
        raise ValueError(f"tests/console.py knows no way to check {program!r}")
    CHECKS[program](words)


def make_targets() -> set[str]:
    """The targets that the Makefile offers to people: those with a line of help."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z-]+):.*## \S", makefile, flags=re.MULTILINE))


def command_lines(app: typer.Typer, prefix: str = "") -> set[str]:
    """Every command of an application with its parents, and every choice of an argument, as one would type them."""
    found = set()
    for group in app.registered_groups:
        assert group.typer_instance is not None
        name = group.name or group.typer_instance.info.name
        found |= command_lines(group.typer_instance, f"{prefix}{name} ")
    for command in app.registered_commands:
        assert command.callback is not None
        line = prefix + (command.name or command.callback.__name__.replace("_", "-"))
        found |= {line} | {f"{line} {choice}" for choice in _first_choices(command.callback)}
    return found


def _first_choices(callback: Callable[..., object]) -> list[str]:
    """The values that the first parameter of a command may take, when it is an Enum or a Literal."""
    hints = [hint for name, hint in typing.get_type_hints(callback).items() if name != "return"]
    if hints and isinstance(hints[0], type) and issubclass(hints[0], enum.Enum):
        return [str(member.value) for member in hints[0]]
    return list(typing.get_args(hints[0])) if hints and typing.get_origin(hints[0]) is typing.Literal else []


def _split(command: str) -> tuple[dict[str, str], list[str]]:
    """The leading VARIABLE=value pairs of a command, and its words."""
    variables, words = {}, shlex.split(command, comments=True)
    while words and re.match(r"[A-Z_]+=", words[0]):
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    if not words:
        raise ValueError("a console block needs a command after '$ '")
    return variables, words


def _program(command: str) -> tuple[str, list[str]]:
    _, (program, *words) = _split(command)
    return program, words


def _refuse(what: str, named: list[str] | set[str], known: set[str]) -> None:
    if missing := sorted(set(named) - known):
        raise ValueError(f"no such {what}: {', '.join(missing)}")


def _check_make(words: list[str]) -> None:
    _refuse("target in the Makefile", [word for word in words if re.fullmatch(r"[a-z][a-z-]*", word)], make_targets())


def _check_pip(words: list[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {extra.strip() for word in words for group in re.findall(r"\[(.*?)\]", word) for extra in group.split(",")}
    _refuse("extra in pyproject.toml", named, set(project["optional-dependencies"]))


def _check_python(words: list[str]) -> None:
    words = [word for word in words if word not in ("-I", "-S")]
    if words[0] == VERIFIER:  # which `fidelitree verifier` writes, and every stored result holds
        return
    if words[0] == "-m":
        modules = {path.name for path in (ROOT, ROOT / "src") for path in path.iterdir() if path.is_dir()}
        _refuse("module", words[1:2], modules | {"pip", "pytest", "venv"})
    else:
        _refuse("file in the repository", [words[0]], {word for word in words if (ROOT / word).is_file()})


def _check_fidelitree(words: list[str]) -> None:
    options = [word.partition("=")[0] for word in words if word.startswith("-")]
    names = words[: next((i for i, word in enumerate(words) if word.startswith("-")), len(words))]
    from commandline import run  # the other checks work without it
    from fidelitree.cli import app

    known = command_lines(app)
    while names and " ".join(names) not in known:
        names.pop()
    _refuse("option", options, set(re.findall(r"(?<![\w-])--?[\w-]+", run(*names, "--help").out)))
    _refuse("command", [] if names or not words else words[:1], known)


CHECKS: dict[str, Callable[[list[str]], None]] = {
    "fidelitree": _check_fidelitree,
    "make": _check_make,
    "pip": _check_pip,
    "python": _check_python,
    **{program: lambda words: None for program in ("cd", "git", *READERS)},
}
