"""Write ``record.json``: what every recorded run gives today. Only after a change of results that is meant.

    python tests/recorded/record.py [GROUP ...]

Groups that are not named keep what is recorded of them; what differs from the old record is printed.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

RECORD = Path(__file__).with_name("record.json")
_PACKAGES = {"numpy": "numpy", "scipy": "scipy", "sklearn": "scikit-learn", "pystreed": "pystreed"}


def versions() -> dict[str, str]:
    """The libraries that have a say in some result."""
    return {module: version(name) for module, name in _PACKAGES.items()}


def differences(old: Any, new: Any, at: str = "") -> Iterator[str]:
    """What changed between two entries of the record, one line each."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted({*old, *new}):
            yield from differences(old.get(name, "absent"), new.get(name, "absent"), f"{at}.{name}" if at else name)
    elif old != new:
        yield f"{at}: {_shown(old)} -> {_shown(new)}"


def _shown(value: Any) -> str:
    """Short, a float in digits beside its bits."""
    if isinstance(value, str) and value.startswith(("0x", "-0x")):
        return f"{float.fromhex(value):.6g} ({value})"
    return f"{value:.12}" if isinstance(value, str) else f"{value}"


def main(names: list[str]) -> None:
    from recorded.cases import GROUPS

    if unknown := sorted({*names} - {*GROUPS}):
        sys.exit(f"GROUP must be one of {', '.join(GROUPS)}; got {', '.join(unknown)}")
    old = json.loads(RECORD.read_text(encoding="utf-8"))["runs"] if RECORD.exists() else {}
    runs: dict[str, Any] = {}
    for group, cases in GROUPS.items():
        began = time.process_time()
        for case in cases:
            if case.name in runs:
                sys.exit(f"two cases are named {case.name!r}")
            runs[case.name] = old.get(case.name)
            if names and group not in names:
                continue
            with tempfile.TemporaryDirectory() as folder:
                runs[case.name] = json.loads(json.dumps(case.run(Path(folder))))
            for line in differences(old.get(case.name, "absent"), runs[case.name]) if old else ():
                print(f"{case.name}: {line}")
        print(f"{group}: {len(cases)} cases, {time.process_time() - began:.1f} s of processor time", flush=True)
    lines = [f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in runs.items()]
    text = ",\n".join(lines)
    RECORD.write_text(f'{{"versions": {json.dumps(versions())},\n"runs": {{\n{text}\n}}}}\n', encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(RECORD.parents[1]))
    main(sys.argv[1:])
