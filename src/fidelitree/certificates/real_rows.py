"""The error on real rows that were kept aside: what a certificate over a fitted world cannot tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fidelitree.certificates.confusion import CONFIDENCE
from fidelitree.display.wording import at_least, counted, percent, span
from fidelitree.errors import check_stored
from fidelitree.spaces.rows import ASSUMES_NEW, ASSUMES_NOT_FITTED, INDEPENDENCE
from fidelitree.theory.sequential import lower_bound, upper_bound


@dataclass(frozen=True)
class RealRows:
    """So many rows of a table, and on how many of them tree and target disagree; no part of delta.

    ``counted`` is what counts once: "rows", or one row each of "groups" that the user named or of "equal" rows.

    >>> [round(end, 3) for end in RealRows(500, 20).interval]
    [0.025, 0.061]
    """

    rows: int
    errors: int
    counted: str = "rows"

    @property
    def share(self) -> float:
        """The share of rows on which they disagree."""
        return self.errors / self.rows

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends of the error on rows like these, with a confidence of their own (Clopper and Pearson)."""
        level = (1 - CONFIDENCE) / 2
        return lower_bound(self.errors, self.rows, level), upper_bound(self.errors, self.rows, level)

    def refutes(self, error_bound: float) -> bool:
        """Whether the error on rows like these is above a bound that is certified over draws, at their confidence.

        >>> RealRows(500, 271).refutes(0.05), RealRows(500, 30).refutes(0.05)
        (True, False)
        """
        return self.interval[0] > error_bound

    def sentences(self, certified: tuple[float, float], agreement: str = "") -> list[str]:
        """What these rows say beside both ends of the error that is certified over draws.

        ``agreement`` is what the certificate prints for the second of them.
        """
        agreement = agreement or at_least(certified[1])
        low, high = self.interval
        ends = f"{span(1 - high, 1 - low)} with {percent(CONFIDENCE)} confidence"
        kept = f"{counted(self.rows, 'real row')} that {'was' if self.rows == 1 else 'were'} kept aside"
        lines = [
            f"On {kept}, it agrees on {percent(1 - self.share)} ({ends}){_beside(certified, low, high, agreement)}."
        ]
        if self.refutes(certified[1]):
            lines.append("So draws are not like the rows of this table, or these rows are not new to the model.")
        lines[-1] += f" Assumes: {INDEPENDENCE[self.counted]}; {ASSUMES_NOT_FITTED}; {ASSUMES_NEW}."
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Plain data; what counts once is named where it is no row."""
        told: dict[str, Any] = {"rows": self.rows, "errors": self.errors}
        return told if self.counted == "rows" else {**told, "counted": self.counted}

    @classmethod
    def from_dict(cls, data: Any) -> RealRows:
        """Read from a file."""
        known = isinstance(data, dict) and set(data) - {"refutes", "counted"} == {"rows", "errors"}
        check_stored("certificate", known, f"real_rows must hold rows and errors; got {data!r:.80}")
        flag = isinstance(data.get("refutes", False), bool)
        check_stored("certificate", flag, f"real_rows: refutes must be true or false; got {data!r:.80}")
        kind = data.get("counted", "rows")
        named = isinstance(kind, str) and kind in INDEPENDENCE
        check_stored("certificate", named, f"real_rows: counted must be {' or '.join(INDEPENDENCE)}; got {data!r:.80}")
        data = {name: data[name] for name in ("rows", "errors")}
        whole = all(type(value) is int for value in data.values())
        inside = whole and 0 <= data["errors"] <= data["rows"] < 1 << 63
        check_stored("certificate", inside, f"real_rows must hold errors between 0 and the rows; got {data!r:.80}")
        check_stored("certificate", data["rows"], "real_rows must hold at least one row; got 0")
        return cls(**data, counted=kind)


def _beside(certified: tuple[float, float], low: float, high: float, agreement: str) -> str:
    """What an error on real rows, between two ends, says of the error that is certified over draws."""
    least, most = certified
    if most >= 1:
        return ""
    if high < least:
        return f", more than the {span(1 - most, 1 - least)} that is certified over draws"
    how, rest = ("less than", "") if low > most else ("in line with", " or more")
    return f", {how} the {agreement}{rest} that is certified over draws"
