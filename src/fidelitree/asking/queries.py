"""What a run cost: labels and rows, by purpose."""

from __future__ import annotations

from collections.abc import Iterator, KeysView, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from fidelitree.asking.repeats import CHECK
from fidelitree.display.wording import counted as numbered
from fidelitree.display.wording import table


class Tally(int):
    """A total that knows its parts: a whole number, and a mapping from purpose to number.

    >>> tally = Tally.of({"grow": 30, "certify": 12})
    >>> tally + 0, tally["grow"], dict(tally)
    (42, 30, {'grow': 30, 'certify': 12})
    """

    by_purpose: Mapping[str, int]

    @classmethod
    def of(cls, by_purpose: Mapping[str, int]) -> Tally:
        """The total of the parts."""
        tally = cls(sum(by_purpose.values()))
        tally.by_purpose = MappingProxyType(dict(by_purpose))
        return tally

    def __getitem__(self, purpose: str) -> int:
        return self.by_purpose.get(purpose, 0)

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_purpose)

    def keys(self) -> KeysView[str]:
        """The purposes."""
        return self.by_purpose.keys()

    def __reduce__(self) -> tuple[Any, ...]:
        return Tally.of, (dict(self.by_purpose),)  # a read-only view of a mapping cannot be pickled


@dataclass(frozen=True)
class Queries:
    """What a run cost."""

    asked: Tally
    """Labels used, repeats included; where all inputs could be asked about (2^20 at most), each counts once."""
    paid: Tally
    """Rows that the target answered. It receives more where calls fail and are made again, or where a run resumes and
    checks that the target is the same: what a run cost is the same for every course it takes."""
    rounds: int = field(default=0, compare=False)
    """Batches that had to be answered one after the other."""
    cost: float | None = None
    """What the answers cost, where the target has a price: rows times their price, and calls times theirs. As in
    ``paid``, what was not answered does not count: calls that failed, and those that the clock or Ctrl-C gave up. Whose
    server charges for them too pays for ``retries`` and for ``concurrency`` calls more at most."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as the command line prints it."""
        told: dict[str, Any] = {"asked": dict(self.asked), "paid": dict(self.paid), "rounds": self.rounds}
        return told if self.cost is None else {**told, "cost": self.cost}

    def __str__(self) -> str:
        parts = ", ".join(f"{purpose} {count:,}" for purpose, count in self.asked.by_purpose.items())
        again = self.paid.by_purpose.get(CHECK, 0)
        checked = f", {again:,} of them to check that answers repeat" if again else ""
        told = f"{self.asked:,} labels asked ({parts or 'none'}), {self.paid:,} rows paid{checked}"
        waited = numbered(self.rounds, "round")
        return told if self.cost is None else f"{told} in {waited}, at a cost of {self.cost:,.6g}"

    def _repr_html_(self) -> str:
        asked, paid = self.asked.by_purpose, self.paid.by_purpose
        counts = [(name, asked.get(name, 0), paid.get(name, 0)) for name in {**asked, **paid}]
        every = (*counts, ("all", int(self.asked), int(self.paid)))
        rows = ((name, f"{labels:,}", f"{rows:,}") for name, labels, rows in every)
        return table(("purpose", "labels asked", "rows paid"), rows)
