"""What a journal belongs to: one target, one space, one seed, one call; a run that differs is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fidelitree import __version__
from fidelitree.errors import FormatError, OtherRunError, is_entropy, is_json, json_kinds

LIMITS = ("max_queries", "max_leaves", "max_seconds", "max_cost")
"""Arguments that may differ: a run that a limit ended goes on with a larger one."""


def versions() -> dict[str, str]:
    """What the inputs of a run depend on besides its seed."""
    return {"fidelitree": __version__, "numpy": np.__version__}


@dataclass(frozen=True)
class Run:
    """Everything that decides which inputs a run asks about, as far as it may be written down.

    ``target`` is a name only: what a target was made with may hold keys and passwords. ``features`` describe inputs
    well enough to export them. ``arguments`` are those of the call, limits included.
    """

    door: str
    target: str
    space: str
    features: Sequence[Mapping[str, Any]]
    seed: int
    seed_chosen: bool
    arguments: Mapping[str, Any]
    versions: Mapping[str, str] = field(default_factory=versions)
    lists_answers: bool = False
    """Whether the target is a tree, a table or a circuit, of which a run may know more than it asked."""
    entropy: str | None = None
    """What makes the inputs of an audit unforeseeable; a run that is resumed takes the journal's."""
    replayed: bool = False
    """Whether the entropy was given, because an earlier audit recorded it."""

    def entries(self) -> dict[str, str]:
        """One line of JSON for each field."""
        return {name: json.dumps(value, sort_keys=True) for name, value in vars(self).items()}

    @classmethod
    def of(cls, entries: Mapping[str, str]) -> Run:
        """The inverse of `entries`; FormatError for anything else."""
        try:
            names = [name for name in cls.__dataclass_fields__ if name in entries or name not in _YOUNGER]
            found = {name: json.loads(entries[name]) for name in names}
            json.dumps(found, ensure_ascii=False).encode()
        except KeyError as error:
            raise FormatError(f"its entry {error.args[0]!r} is missing") from None
        except UnicodeEncodeError:  # JSON can write what UTF-8 cannot
            raise FormatError("its text is not UTF-8") from None
        except (ValueError, RecursionError) as error:
            raise FormatError(f"an entry is not JSON: {error}") from None
        for name, kinds in json_kinds(cls).items():
            if name in found and name != "entropy" and not is_json(found[name], kinds):
                raise FormatError(f"its entry {name!r} must be {kinds[0].__name__}; got {found[name]!r:.60}")
        if found.get("entropy") is not None and not is_entropy(found["entropy"]):
            raise FormatError(f"its entry 'entropy' must be 32 hexadecimal digits; got {found['entropy']!r:.60}")
        _check_features(found["features"])
        return cls(**found)

    @property
    def limits(self) -> dict[str, Any]:
        """Those of the arguments that may differ."""
        return {name: self.arguments[name] for name in LIMITS if name in self.arguments}

    @property
    def bits(self) -> bool:
        """Whether all features are bits."""
        return all(feature["kind"] == "boolean" for feature in self.features)

    def check(self, now: Run, replaying: bool) -> None:
        """Refuse to go on with another run, saying what differs."""
        pairs: list[tuple[str, Any, Any]] = [("call", self.door, now.door), ("space", self.space, now.space)]
        if now.seed_chosen:  # else the run takes the journal's
            pairs.append(("seed", self.seed, now.seed))
        if now.replayed or self.entropy is None:  # else the run takes the journal's
            pairs += [("entropy", self.entropy, now.entropy), ("replayed", self.replayed, now.replayed)]
        if not replaying:
            pairs.append(("target", self.target, now.target))
        names = [name for name in {**self.arguments, **now.arguments} if name not in LIMITS]
        pairs += [(name, self.arguments.get(name), now.arguments.get(name)) for name in names]
        names = list({**self.versions, **now.versions})
        pairs += [(f"{name} version", _minor(self.versions, name), _minor(now.versions, name)) for name in names]
        differ = [f"{name} was {_short(was)} and is {_short(new)} now" for name, was, new in pairs if was != new]
        ours, theirs = (run.versions.get("fidelitree", "?") for run in (now, self))
        older = "" if ours == theirs else f", or go on with fidelitree {theirs!s:.20}, which wrote this one"
        if differ:
            raise OtherRunError(
                f"journal must belong to the same run, and this one does not: {'; '.join(differ)} - give the same "
                f"arguments again, or another journal{older}"
            )


_YOUNGER = ("entropy", "replayed")  # than the first journals, which do without


def _check_features(features: Any) -> None:
    for feature in features:
        if not isinstance(feature, dict) or not isinstance(feature.get("name"), str):
            raise FormatError(f"a feature must have a name; got {feature!r:.60}")
        if feature.get("kind") not in ("boolean", "numeric", "categorical"):
            raise FormatError(f"the kind of feature {feature['name']!r:.60} is not known")
        if not isinstance(feature.get("values", None if feature["kind"] == "categorical" else []), list):
            raise FormatError(f"the values of feature {feature['name']!r:.60} must be a list")
    if not features:
        raise FormatError("there must be at least one feature")


def _minor(found: Mapping[str, Any], name: str) -> str:
    """Inputs stay the same within a minor version."""
    return ".".join(str(found.get(name)).split(".")[:2])


def _short(value: Any) -> str:
    return f"{value[:12]}..." if isinstance(value, str) and len(value) == 64 else f"{value!r:.60}"


def check_complete(entries: Mapping[str, str]) -> None:
    """Refuse entries that a journal of today does without; older ones have fewer."""
    missing = [name for name in _YOUNGER if name not in entries]
    if missing:
        raise FormatError(f"its entry {missing[0]!r} is missing")
