"""The command line: what it runs, writes, prints, and how it refuses."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, get_args

import pytest
from typer.testing import CliRunner

from fidelitree import cli, errors
from fidelitree.cli.experiment import ExperimentName
from fidelitree.experiments import catalogue as registry

if TYPE_CHECKING:
    from pathlib import Path


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner(env={"COLUMNS": "300"}).invoke(cli.app, list(arguments))
    return done.exit_code, done.output


def test_every_experiment_has_a_name_on_the_command_line() -> None:
    assert set(get_args(ExperimentName)) == set(registry.EXPERIMENTS)


def test_help_names_the_command_and_every_experiment() -> None:
    code, text = run("experiment", "--help")
    assert code == 0
    for name in registry.EXPERIMENTS:
        assert name in text
    for option in ("--out", "--repetitions", "--schedule", "--seed", "--jobs"):
        assert option in text


def test_no_command_shows_help() -> None:
    assert "experiment" in run()[1]


def test_options_become_settings_and_the_report_is_printed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given = []

    def pretend(settings: registry.Settings, advance: registry.Advance) -> registry.Report:
        given.append(settings)
        advance(1, 2)
        return registry.Report([settings.out / "a.csv"], ["first line [not markup]", "second line"])

    monkeypatch.setitem(registry.EXPERIMENTS, "bounds", pretend)
    out = tmp_path / "new" / "folder"
    options = ["--repetitions", "2", "--schedule", "printed", "--seed", "9", "--jobs", "3"]
    code, text = run("experiment", "bounds", "--out", str(out), *options)
    assert code == 0
    assert given == [registry.Settings(out, 2, "printed", 9, 3)]
    assert "first line [not markup]\nsecond line\n" in text
    assert f"wrote {out / 'a.csv'}" in text
    assert out.is_dir()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["experiment", "nonsense"], "'nonsense' is not one of"),
        (["experiment", "bounds", "--repetitions", "0"], "Invalid value for '--repetitions'"),
        (["experiment", "bounds", "--seed", "-1"], "Invalid value for '--seed'"),
        (["experiment", "bounds", "--schedule", "fixed"], "'fixed' is not one of"),
        (["distil"], "No such command 'distil'"),
    ],
)
def test_bad_options_are_refused(arguments: list[str], complaint: str) -> None:
    code, text = run(*arguments)
    assert code == 2
    assert complaint in " ".join(text.replace("│", " ").split())


def call_main(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int | str | None:
    monkeypatch.setattr(sys, "argv", ["fidelitree", *arguments])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    return caught.value.code


def test_main_ends_with_zero(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert call_main(monkeypatch, "--help") == 0
    assert "experiment" in capsys.readouterr().out


def test_our_errors_are_one_line_and_code_2(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(settings: object, advance: object) -> None:
        raise errors.MissingExtraError("figures need matplotlib; install it with: pip install 'fidelitree[plot]'")

    monkeypatch.setitem(registry.EXPERIMENTS, "bounds", fail)
    assert call_main(monkeypatch, "experiment", "bounds", "--out", str(tmp_path)) == 2
    assert capsys.readouterr().err.strip() == (
        "fidelitree: figures need matplotlib; install it with: pip install 'fidelitree[plot]'"
    )


def test_a_folder_that_is_a_file_is_one_line_and_code_2(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "taken").write_text("", encoding="utf-8")
    assert call_main(monkeypatch, "experiment", "bounds", "--out", str(tmp_path / "taken")) == 2
    message = f"--out must be a folder, or a name that is not taken; '{tmp_path / 'taken'}' is taken"
    assert capsys.readouterr().err.strip() == f"fidelitree: {message}"
