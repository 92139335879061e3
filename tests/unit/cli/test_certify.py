"""`fidelitree certify`: predictors of every kind against targets."""

from __future__ import annotations

import warnings
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier

import fidelitree as ft
from commandline import BITS, people, refused, run


@pytest.fixture
def kept(folder: Path) -> Path:
    run("distill", "aims:alarm", *BITS, "--out", "kept")
    return Path("kept")


def test_a_result_folder_brings_its_space_along(kept: Path) -> None:
    done = run("certify", "--epsilon", 0.05, kept, "aims:alarm", "--seed", 1)
    assert done.code == 0
    assert done.out.startswith("Certified: this tree agrees with the target on at least 95% of inputs")


def test_a_stored_tree_needs_a_space(kept: Path) -> None:
    assert run("certify", "--epsilon", 0.05, kept / "tree.json", "aims:alarm", *BITS, "--seed", 1).code == 0
    assert refused("certify", kept / "tree.json", "aims:alarm") == (
        "say where inputs come from: --data TABLE, --space FILE, or --bernoulli P --features N"
    )


def test_the_stored_space_is_a_space_file_too(kept: Path) -> None:
    assert run("certify", "--epsilon", 0.05, kept / "tree.json", "aims:alarm", "--space", kept / "space.json").code == 0


def test_a_function_is_a_predictor(folder: Path) -> None:
    done = run(
        "certify",
        "--epsilon",
        0.05,
        "aims:parity",
        "aims:alarm",
        *BITS,
        "--seed",
        1,
        "--json",
        "--out",
        "certificate.json",
    )
    assert done.code == 3
    assert done.json["certified"] is False
    written = ft.Certificate.from_json(Path("certificate.json").read_text(encoding="utf-8"))
    assert written == ft.Certificate.from_dict(done.json["certificate"])
    assert written.seed == 1
    assert done.json["certificate"]["entropy"] == written.entropy


def test_the_audit_of_a_function_can_be_replayed(folder: Path) -> None:
    call = ("certify", "--epsilon", 0.05, "aims:parity", "aims:alarm", *BITS)
    promise, basis, *more, hint = run(*call, "--seed", 1).out.splitlines()
    assert hint.startswith("To replay this audit: --seed 1 --entropy ")
    entropy = hint.split()[-1]
    assert run(*call, "--seed", 1, "--entropy", entropy).out == (
        "\n".join(
            [
                promise,
                f"{basis} This is a replay of an audit: it proves nothing about a predictor that was changed since.",
                *more,
            ]
        )
        + "\n"
    )
    again = run(*call, "--seed", 1, "--entropy", entropy, "--json").json["certificate"]
    assert (again["entropy"], again["replayed"]) == (entropy, True)
    assert refused(*call, "--entropy", entropy).startswith("--seed must be that of the certificate whose")
    assert refused(*call, "--seed", 1, "--entropy", "ab").startswith("--entropy must be the 32 hexadecimal digits")


def test_no_time_at_all_is_not_certified(folder: Path) -> None:
    done = run(
        "certify",
        "--epsilon",
        0.05,
        "aims:parity",
        "aims:parity",
        "--bernoulli",
        0.5,
        "--features",
        4,
        "--max-seconds",
        0,
    )
    assert done.code == 3
    assert "Nothing is certified about this predictor. NOT certified: the 95% that was asked for." in done.out
    assert done.err.endswith("nothing certified\n")


def test_the_file_is_named(kept: Path) -> None:
    assert run("certify", "--epsilon", 0.05, kept, "aims:alarm", "--out", "mine.json").out.endswith("wrote mine.json\n")


def test_a_circuit_is_compared_exactly(folder: Path) -> None:
    Path("and.pla").write_text(".i 2\n.o 1\n11 1\n.e\n", encoding="utf-8")
    Path("or.pla").write_text(".i 2\n.o 1\n1- 1\n-1 1\n.e\n", encoding="utf-8")
    done = run("certify", "--epsilon", 0.05, "and.pla", "or.pla")
    assert done.code == 3
    assert "agrees with the target on 50% of all inputs" in done.out


def test_a_table_gives_inputs(folder: Path) -> None:
    table = people(folder)
    done = run("certify", "aims:loan", "aims:loan", "--data", table, "--rows", "--epsilon", 0.1)
    assert done.code == 0
    assert "the predictor was not made from them" in done.out


def test_an_error_must_be_named(kept: Path) -> None:
    assert "none" not in run("certify", "--help").out.split("--epsilon")[1].split("--delta")[0]
    done = run("certify", kept, "aims:alarm", "--epsilon", "none")
    assert done.code == 2
    assert "Invalid value for '--epsilon'" in done.err


def test_a_budget_ends_it(kept: Path) -> None:
    done = run("certify", "--epsilon", 0.05, kept, "aims:alarm", "--max-queries", 10, "--seed", 0)
    assert done.code == 3
    assert "Tested on 10 fresh inputs" in done.out


def test_answers_are_kept_and_the_audit_goes_on(kept: Path) -> None:
    plain = run("certify", "--epsilon", 0.05, kept, "aims:alarm", "--seed", 1).out
    assert (
        run(
            "certify", "--epsilon", 0.05, kept, "aims:alarm", "--seed", 1, "--journal", "audit.db", "--max-queries", 10
        ).code
        == 3
    )
    assert ft.journal.info("audit.db").answers == 10
    assert run("certify", "--epsilon", 0.05, kept, "aims:alarm", "--seed", 1, "--journal", "audit.db").out == plain
    assert ft.journal.info("audit.db").run.door == "certify"
    message = refused("certify", "--epsilon", 0.05, kept, "aims:parity", "--seed", 1, "--journal", "audit.db")
    assert message.endswith(
        "target was 'aims:alarm' and is 'aims:parity' now - give the same arguments again, or another --journal"
    )


def test_workers_retries_and_batches_change_nothing(kept: Path) -> None:
    Path("shaky.py").write_text(
        "import aims\nfailed = False\ndef shaky(batch):\n    global failed\n    assert len(batch) <= 7\n"
        "    if not failed:\n        failed = True\n        raise ConnectionError('once')\n"
        "    return aims.alarm(batch)\n",
        encoding="utf-8",
    )
    plain = run("certify", "--epsilon", 0.05, kept, "aims:alarm", "--seed", 1).out
    assert (
        run("certify", "--epsilon", 0.05, kept, "shaky:shaky", "--seed", 1, "--retries", 1, "--batch-size", 7).out
        == plain
    )
    assert run("certify", "--epsilon", 0.05, kept, "aims:alarm", "--seed", 1, "--jobs", 1, "--timeout", 60).out == plain


def test_a_timeout_needs_processes_or_a_program(kept: Path) -> None:
    assert "give --jobs too" in refused("certify", kept, "aims:alarm", "--timeout", 5)
    Path("score.py").write_text(
        "import json, sys\nfor line in sys.stdin:\n    b = json.loads(line)\n"
        "    print(b['x3'] & (b['x0'] | b['x1'] & b['x2']), flush=True)\n",
        encoding="utf-8",
    )
    assert run("certify", "--epsilon", 0.05, kept, "cmd:python score.py", "--timeout", 60, "--seed", 1).code == 0


def test_rows_that_the_target_was_fitted_to_are_named_in_one_line(folder: Path) -> None:
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"age": rng.uniform(18, 90, 300), "weight": rng.normal(70, 9, 300)})
    joblib.dump(KNeighborsClassifier(1).fit(table[:150], table["age"][:150] > 50), "model.joblib")
    table[:150].to_csv("fitted.csv", index=False)
    table[150:].to_csv("unseen.csv", index=False)
    model = ("model.joblib", "--trust-pickle", "--rows", "--epsilon", 0.2)
    assert run("certify", "--epsilon", 0.05, model[0], *model, "--data", "unseen.csv").err == ""
    with warnings.catch_warnings():
        warnings.simplefilter("default", ft.FittedRowsWarning)
        done = run("certify", "--epsilon", 0.05, model[0], *model, "--data", "fitted.csv")
    assert done.code == 0
    assert done.err.startswith("fidelitree: warning: the target was fitted to rows of this table: 150 of 150 test rows")
    assert done.err.endswith("fit the target to one part of the table, and give --rows the other\n")
    assert "the target was not fitted to them" in done.out


def test_without_a_claim_it_says_how_far_apart_they_are(kept: Path) -> None:
    """An interval that a budget leaves wide ends with the code of a budget."""
    near = run("certify", "aims:alarm", "aims:alarm", "--bernoulli", 0.5, "--features", 20, "--seed", 1)
    assert near.code == 0
    assert near.out.startswith("Certified: this predictor agrees with the target on 98.5% to 100% of inputs")
    assert run("certify", kept, "aims:alarm", "--max-queries", 10).code == 3
    assert "within must be above 0 and below 1; got 0.0" in refused("certify", kept, "aims:alarm", "--within", 0)
