"""Whatever goes wrong is one line that says what to do, without a traceback, and ends with the right code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from commandline import BITS, people, refused, run
from fidelitree.cli import space_options as tablefiles
from fidelitree.cli.ending import in_options

KNOWN = (
    "TARGET must be a model (.onnx .json .ubj .model .txt .skops .pkl .pickle .joblib), a circuit "
    "(.aag .aig .blif .pla), module:function, cmd:COMMAND, https://ADDRESS or a result folder; got "
)


# --- targets


def test_a_target_that_raises_ends_with_1(folder: Path) -> None:
    message = refused("distill", "aims:fails", *BITS, code=1)
    assert message.startswith("the target raised RuntimeError on a batch of 32 inputs: the database is gone")


@pytest.mark.parametrize("jobs", [(), ("--jobs", 1)])
def test_a_target_that_ends_the_process_ends_with_1(folder: Path, jobs: tuple[object, ...]) -> None:
    message = refused("distill", "aims:quits", *BITS, *jobs, code=1)
    assert message.startswith("the target wanted to end the process, by sys.exit(0), on a batch of 32 inputs; it must ")


def test_a_program_that_is_not_there_ends_with_1(folder: Path) -> None:
    message = refused("distill", "cmd:./nowhere", *BITS, code=1)
    assert "'./nowhere' cannot be started: No such file or directory" in message


def test_an_interrupt_before_the_first_answer_ends_with_7(folder: Path) -> None:
    assert refused("distill", "aims:never", *BITS, code=7) == "interrupted before there was anything to certify"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nowhere.onnx", "source names a file that does not exist: 'nowhere.onnx'"),
        ("nowhere.pla", "path must name a file; there is none at 'nowhere.pla'"),
        ("nowhere/model", f"{KNOWN}'nowhere/model', and there is no such file"),
        ("model.xyz", f"{KNOWN}'model.xyz'"),
        (
            "nowhere:f",
            "there is no module 'nowhere' to import; put its folder on the path, for example with PYTHONPATH=.",
        ),
        ("aims:g", "'aims:g': module 'aims' has no 'g'"),
        ("aims.py", f"{KNOWN}'aims.py' - did you mean aims:alarm?"),
    ],
)
def test_a_wrong_target_is_named(folder: Path, target: str, message: str) -> None:
    assert refused("distill", target, *BITS) == message


def test_a_model_whose_library_is_missing_names_the_extra(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("model.onnx").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert refused("distill", "model.onnx", *BITS) == (
        "ONNX models need onnxruntime, which is not installed; install it with: pip install 'fidelitree[onnx]'"
    )


def test_a_pickle_names_the_option(folder: Path) -> None:
    Path("model.pkl").write_bytes(b"")
    assert "say --trust-pickle; otherwise" in refused("distill", "model.pkl", *BITS)
    assert refused("distill", "model.pkl", "--trust-pickle", *BITS).startswith("model.pkl cannot be unpickled here: ")


def test_unknown_types_name_the_option(folder: Path) -> None:
    import skops.io
    from sklearn.tree import DecisionTreeClassifier

    skops.io.dump(DecisionTreeClassifier().fit([[0] * 12, [1] * 12], [3, 4]), "model.skops")
    assert refused("distill", "model.skops", *BITS).endswith("say so: --trusted 'sklearn.tree._tree.Tree'")
    assert run("distill", "model.skops", "--trusted", "sklearn.tree._tree.Tree", *BITS).code == 0


def test_options_of_other_targets_are_refused(folder: Path) -> None:
    Path("and.pla").write_text(".i 2\n.o 1\n11 1\n.e\n", encoding="utf-8")
    assert refused("distill", "and.pla", "--missing", 0) == "--missing says nothing about 'and.pla'; leave it out"
    assert refused("distill", "aims:alarm", *BITS, "--labels", 0.5) == "options of 'aims:alarm' are none; got labels"
    assert refused("distill", "and.pla", "--output", "z").startswith("--output must be one of the circuit's 1 outputs")


def test_a_model_that_lacks_a_feature_was_given_bad_input(folder: Path) -> None:
    import joblib
    import pandas as pd
    from sklearn.tree import DecisionTreeClassifier

    table = pd.DataFrame({"age": [20, 60], "height": [1, 2]})
    joblib.dump(DecisionTreeClassifier().fit(table, [0, 1]), "model.joblib")
    assert refused("distill", "model.joblib", "--trust-pickle", "--data", people(folder)) == (
        "people.csv lacks the column 'height', which the target needs; it has age, job, owner, label"
    )
    Path("space.toml").write_text('features.age = { kind = "numeric", low = 1, high = 2 }', encoding="utf-8")
    message = refused("distill", "model.joblib", "--trust-pickle", "--space", "space.toml")
    assert "missing: 'height'. It has 'age'. Name the features of the space like those of the model" in message


# --- tables


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("nowhere.csv", None, "--data names a file that does not exist: 'nowhere.csv'"),
        ("table.xlsx", "", "--data must be a table ending in .csv, .tsv, .parquet, .pq; got 'table.xlsx'"),
        ("table.csv", "", "table.csv cannot be read as a table by pandas: No columns to parse from file"),
        ("table.parquet", "no", "table.parquet cannot be read as a table by pandas: "),
        ("table.csv", "a,b\n1,2\n3,4,5\n", "table.csv cannot be read as a table by pandas: Error tokenizing data"),
        ("table.csv", "a,b\n", "table must have at least one row; got none"),
    ],
)
def test_an_unreadable_table_is_named(folder: Path, name: str, text: str | None, message: str) -> None:
    if text is not None:
        Path(name).write_text(text, encoding="utf-8")
    assert refused("distill", "aims:loan", "--data", name).startswith(message)


@pytest.mark.parametrize("more", [[], ["--drop", "age"], ["--rows"]])
@pytest.mark.parametrize(("suffix", "separator"), [("csv", ","), ("tsv", "\t")])
def test_two_columns_of_one_name_are_refused(folder: Path, suffix: str, separator: str, more: list[str]) -> None:
    lines = ['"age",job,age', "1,clerk,2", "3,nurse,4"]
    path = Path(f"twice.{suffix}")
    path.write_text("\n".join(lines).replace(",", separator), encoding="utf-8-sig")
    assert refused("distill", "aims:loan", "--data", path, *more) == (
        f"twice.{suffix} must have one column of each name; 2 are called 'age' - rename them, or keep one"
    )


def test_columns_without_a_name_may_be_several(folder: Path) -> None:
    Path("table.csv").write_text("age,,\n1,2,3\n4,5,6\n", encoding="utf-8")
    assert list(tablefiles.read_table(Path("table.csv")).columns) == ["age", "Unnamed: 1", "Unnamed: 2"]


@pytest.mark.parametrize("option", ["--drop", "--categorical", "--numeric"])
def test_a_missing_column_is_named(folder: Path, option: str) -> None:
    assert refused("distill", "aims:loan", "--data", people(folder), option, "wage") == (
        f"{option} must name a column of people.csv (age, job, owner, label); got 'wage'"
    )


@pytest.mark.parametrize(
    ("installed", "parquet", "chosen"),
    [
        ({"pandas", "pyarrow", "polars"}, True, "pandas"),
        ({"pandas", "polars"}, True, "polars"),
        ({"pandas", "polars"}, False, "pandas"),
        ({"pyarrow"}, False, "pyarrow"),
    ],
)
def test_any_library_reads_tables(
    folder: Path, monkeypatch: pytest.MonkeyPatch, installed: set[str], parquet: bool, chosen: str
) -> None:
    import pandas as pd

    path = people(folder)
    if parquet:
        pd.read_csv(path).to_parquet("people.parquet")
        path = Path("people.parquet")
    monkeypatch.setattr(tablefiles, "find_spec", lambda name: name in installed or None)
    assert type(tablefiles.read_table(path, ["label"])).__module__.partition(".")[0] == chosen


def test_no_library_for_tables_names_the_extra(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tablefiles, "find_spec", lambda name: None)
    assert refused("distill", "aims:loan", "--data", people(folder)) == (
        "--data needs pandas, polars or pyarrow, which are not installed; "
        "install pandas with: pip install 'fidelitree[pandas]'"
    )


def test_tabs_separate_too(folder: Path) -> None:
    text = people(folder).read_text(encoding="utf-8")
    Path("people.tsv").write_text(text.replace(",", "\t"), encoding="utf-8")
    assert run("distill", "aims:loan", "--data", "people.tsv", "--drop", "label", "--epsilon", 0.1).code == 0


# --- spaces and combinations


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "say where inputs come from: --data TABLE, --space FILE, or --bernoulli P --features N"),
        (["--data", "a.csv", "--space", "b.toml"], "inputs come from one place: give --data or --space, "),
        (["--space", "b.toml", "--bernoulli", "0.5"], "inputs come from one place: give --space or --bernoulli"),
        (["--features", "3"], "--features says nothing without --bernoulli; leave it out, or give --bernoulli"),
        (["--bernoulli", "0.5", "--rows"], "--rows says nothing without --data; leave it out, or give --data"),
        (["--bernoulli", "0.5", "--chow-liu"], "--chow-liu says nothing without --data; leave it out, or give --data"),
        (["--data", "a.csv", "--rows", "--chow-liu"], "a table stands for one kind of inputs: give --rows"),
        (["--data", "a.csv", "--chow-liu", "--mixture"], "a table stands for one kind of inputs: give --chow-liu or"),
        (["--data", "a.csv", "--blend", "0.2"], "--blend says nothing without --rows; leave it out, or give --rows"),
        (["--data", "a.csv", "--rows", "--marginals"], "a table stands for one kind of inputs: give --rows or --marg"),
        (["--space", "b.toml", "--drop", "x"], "--drop says nothing without --data; leave it out, or give --data"),
        (["--bernoulli", "0.5"], "--bernoulli P needs --features N: the target does not say how many features it has"),
        (["--bernoulli", "0.5", "--features", "0"], "--features must be at least 1; got 0"),
        (["--bernoulli", "nan", "--features", "3"], "--bernoulli must be a number; got NaN"),
        (["--bernoulli", "5", "--features", "3"], "--bernoulli must be a probability between 0 and 1; got 5.0 - did"),
        (["--space", "nowhere.toml"], "'nowhere.toml' cannot be read: No such file or directory"),
        ([*BITS, "--epsilon", "5"], "--epsilon must be at least 0 and below 1; got 5.0 - did you mean 0.05?"),
        ([*BITS, "--epsilon", "small"], "--epsilon must be a number, or none; got 'small'"),
        ([*BITS, "--max-leaves", "0"], "--max-leaves must be at least 1; got 0"),
        ([*BITS, "--strategy", "influence", "--prefer", "leaves"], '--prefer must be "queries" with --strategy influ'),
        ([*BITS, "--timeout", "0", "--jobs", "1"], "--timeout must be above 0 seconds; got 0.0"),
        ([*BITS, "--noisy", "--epsilon", "0"], "--epsilon must be above 0 with --noisy: no error of a noisy"),
    ],
)  # fmt: skip
def test_bad_combinations_are_refused(folder: Path, options: list[str], message: str) -> None:
    assert refused("distill", "aims:alarm", *options).startswith(message)


def test_a_bad_space_file_is_named(folder: Path) -> None:
    Path("bad.toml").write_text("[features", encoding="utf-8")
    assert refused("distill", "aims:loan", "--space", "bad.toml").startswith("bad.toml is not TOML: ")
    Path("bad.json").write_text("{}", encoding="utf-8")
    assert refused("distill", "aims:loan", "--space", "bad.json") == (
        'not a stored space: it must be an object with "format": "fidelitree.space"'
    )


def test_a_folder_that_is_a_file_is_named(folder: Path) -> None:
    Path("taken").write_text("", encoding="utf-8")
    assert refused("distill", "aims:alarm", *BITS, "--out", "taken") == (
        "--out must be a folder, or a name that is not taken; 'taken' is taken"
    )


def test_a_space_of_another_size_than_the_model_is_refused_before_it_is_asked(folder: Path) -> None:
    import joblib
    from sklearn.tree import DecisionTreeClassifier

    joblib.dump(DecisionTreeClassifier().fit([[0, 1], [1, 0]], [0, 1]), "model.joblib")
    message = refused("distill", "model.joblib", "--trust-pickle", *BITS)
    assert message == "the target takes 2 features; the space has 12"
    assert not Path("results/model.joblib/journal.db").exists()


def test_the_bits_of_a_circuit_may_be_uneven(folder: Path) -> None:
    Path("and.pla").write_text(".i 2\n.o 1\n.ilb a b\n11 1\n.e\n", encoding="utf-8")
    done = run("distill", "and.pla", "--bernoulli", 0.1, "--epsilon", 0.05)
    assert done.out.startswith("0\n\nExact: this tree agrees with the target on 99% of all inputs")


def test_arguments_are_named_as_options() -> None:
    assert in_options("use deterministic=False,\nor raise max_queries") == "use --noisy, or raise --max-queries"
    assert in_options("labels=None needs ... Give labels='argmax'") == "no --labels needs ... Give --labels argmax"
    assert in_options("say trusted=['a.B', 'c.D']") == "say --trusted 'a.B' --trusted 'c.D'"
