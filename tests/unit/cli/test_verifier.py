"""`fidelitree verifier`, and what `verify` says about the copy in a folder: the verified party ships that one."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from commandline import BITS, run
from fidelitree.certificates import standalone, store

DOCS = Path(__file__).resolve().parents[3] / "docs"


@pytest.fixture
def kept(folder: Path) -> Path:
    run("distill", "aims:alarm", *BITS, "--seed", 0, "--out", "kept")
    return Path("kept")


def test_it_prints_the_genuine_file(kept: Path) -> None:
    done = run("verifier")
    assert done.code == 0
    assert done.out == Path(standalone.__file__).read_text(encoding="utf-8")
    Path("fetched.py").write_text(done.out, encoding="utf-8")
    again = subprocess.run([sys.executable, "-I", "-S", "fetched.py", "kept"], capture_output=True, check=False)
    assert again.returncode == run("verify", kept, "--answers").code
    assert run("verifier", "--sha256").out.strip() == hashlib.sha256(done.out.encode()).hexdigest()


def test_verify_says_whether_the_copy_in_the_folder_is_genuine(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("verify", kept)
    assert (done.code, "verify.py in this folder is the genuine file of fidelitree" in done.out) == (0, True)
    changed = (kept / "verify.py").read_text(encoding="utf-8") + "# all is well\n"
    (kept / "verify.py").write_text(changed, encoding="utf-8")
    done = run("verify", kept)
    assert done.code == 0  # a remark: older versions ship older files
    assert "do not run it, `fidelitree verifier` prints the genuine one" in done.out
    assert run("verify", kept, "--json").json["remarks"][0].startswith("verify.py in this folder is not the file of")
    monkeypatch.setitem(store.OLDER_VERIFIERS, hashlib.sha256(changed.encode()).hexdigest(), "0.1.9")
    assert (
        "verify.py in this folder is the genuine file of fidelitree 0.1.9, an older version" in run("verify", kept).out
    )
    (kept / "verify.py").unlink()
    assert "verify.py" not in run("verify", kept).out


def test_the_documentation_lists_its_digest() -> None:
    page = (DOCS / "agree.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| (\d[\w.]*) \| `([0-9a-f]{64})` \|$", page, flags=re.MULTILINE))
    newest = hashlib.sha256(store.verifier()).hexdigest()
    assert next(iter(listed.values())) == newest, "docs/agree.md must list what `fidelitree verifier --sha256` prints"
    assert {digest: version for version, digest in listed.items() if digest != newest} == store.OLDER_VERIFIERS
