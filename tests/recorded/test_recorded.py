"""Trees, bounds and queries are what they were: a change of structure must change none of them, in any bit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from recorded.cases import GROUPS, Case
from recorded.record import RECORD, differences, versions

if TYPE_CHECKING:
    from pathlib import Path

FILE = json.loads(RECORD.read_text(encoding="utf-8"))
CASES = [pytest.param(group, case, id=case.name) for group, cases in GROUPS.items() for case in cases]


def test_the_record_is_of_these_cases() -> None:
    names = [case.name for cases in GROUPS.values() for case in cases]
    assert len(set(names)) == len(names), "two cases have one name"
    assert set(names) == set(FILE["runs"]), "run: python tests/recorded/record.py"


@pytest.mark.parametrize(("group", "case"), CASES)
def test_nothing_changed(group: str, case: Case, tmp_path: Path) -> None:
    now = versions()
    for library in case.needs:
        if now[library] != FILE["versions"][library]:
            pytest.skip(f"recorded with {library} {FILE['versions'][library]}; this is {now[library]}")
    found = json.loads(json.dumps(case.run(tmp_path)))
    changed = list(differences(FILE["runs"][case.name], found))
    if changed:
        other = [
            f"{name} {FILE['versions'][name]} -> {now[name]}" for name in now if now[name] != FILE["versions"][name]
        ]
        lines = [f"{case.name} gives other results than recorded:", *changed]
        lines += [f"libraries differ from the record's: {', '.join(other)}"] if other else []
        lines += [f"If that is meant, record it: python tests/recorded/record.py {group}"]
        pytest.fail("\n    ".join(lines), pytrace=False)
