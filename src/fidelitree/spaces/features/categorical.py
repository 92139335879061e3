"""Categories: values without an order, each with its probability."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import RAISED, ParameterError, check_list, check_number, check_probability, check_text, show
from fidelitree.spaces.features.feature import Floats, IsIn, Test, json_value, pick, uniforms

_ROUNDING = 1e-9
Codes = frozenset[int]


class Categorical:
    """A feature with any hashable values.

    The inner value of a category is its code: its position in ``values``.

    Args:
        name: What the feature is called.
        values: A mapping of each value to its probability, or a list of values equally likely.

    Raises:
        ParameterError: An argument breaks its rule.

    Examples:
        >>> job = Categorical("job", {"clerk": 0.5, "nurse": 0.3, "pilot": 0.2})
        >>> job.values, job.mass(job.restriction({"nurse", "pilot"}))
        (('clerk', 'nurse', 'pilot'), 0.5)
    """

    kind = "categorical"

    def __init__(self, name: str, values: Mapping[Hashable, float] | Iterable[Hashable]) -> None:
        check_text("name of a feature", name)
        self.name = name
        if isinstance(values, Mapping):
            weights = [check_probability(f"probability of {show(v)} of feature {name!r}", p) for v, p in values.items()]
            total = math.fsum(weights)
            if weights and abs(total - 1) > _ROUNDING:
                raise ParameterError(
                    f"probabilities of feature {name!r} must add up to 1; got {total:.12g} - "
                    f"Categorical.from_counts takes counts"
                )
        else:
            values = _listed(name, values)
            weights = [1.0] * len(values)
        self._fill(values, weights)

    @classmethod
    def from_counts(cls, name: str, counts: Mapping[Hashable, float]) -> Categorical:
        """Values as often as they were counted."""
        made = cls.__new__(cls)
        check_text("name of a feature", name)
        made.name = name
        if not isinstance(counts, Mapping):
            raise ParameterError(f"counts of feature {name!r} must map values to counts; got {show(counts)}")
        weights = [check_number(f"count of {show(v)} of feature {name!r}", count) for v, count in counts.items()]
        for value, weight in zip(counts, weights, strict=True):
            if not 0 <= weight < math.inf:
                raise ParameterError(
                    f"count of {show(value)} of feature {name!r} must be finite and at least 0; got {weight}"
                )
        made._fill(counts, weights)
        return made

    def _fill(self, values: Iterable[Hashable], weights: Sequence[float]) -> None:
        self.values: tuple[Any, ...] = tuple(map(_own, values))
        for value in self.values:
            if isinstance(value, str):
                check_text(f"value of feature {self.name!r}", value)
        self._weights, self._total = np.array(weights, np.float64), math.fsum(weights)
        if not self._total > 0:
            raise ParameterError(f"feature {self.name!r} must have at least one value that can be drawn; got none")
        try:
            self._codes = {value: code for code, value in enumerate(self.values)}
        except RAISED:
            odd = next((value for value in self.values if not isinstance(value, Hashable)), self.values[0])
            raise ParameterError(f"values of feature {self.name!r} must be hashable; got {show(odd)}") from None
        if len(self._codes) < len(self.values):
            twice = next(v for code, v in enumerate(self.values) if self._codes[v] != code)
            raise ParameterError(f"values of feature {self.name!r} must be different; got {twice!r} more than once")

    @property
    def points(self) -> int:
        """How many values there are."""
        return len(self.values)

    @property
    def probabilities(self) -> Floats:
        """Probability of each value."""
        return self._weights / self._total

    @property
    def weights(self) -> Floats:
        """What each value weighs: its probability up to a common factor."""
        return self._weights.copy()

    def mass(self, restriction: Codes | None) -> float:
        """Probability of the values that are left."""
        if restriction is None:
            return 1.0
        return math.fsum(self._weights[list(restriction)]) / self._total

    def draw(self, bits: np.random.BitGenerator, rows: int, restriction: Codes | None) -> Floats:
        """Codes from the marginal given the restriction; evenly where all that is left has probability 0."""
        codes, shares = self.listed(restriction)
        return codes[pick(uniforms(bits, rows), shares)]

    def parts(self, test: Test, restriction: Codes | None) -> tuple[Codes | None, Codes | None]:
        """The codes outside and inside the test's set."""
        if not isinstance(test, IsIn):
            raise ParameterError(f"feature {self.name!r} is categorical, which only x in A tests; got {test!r}")
        left = frozenset(range(len(self.values))) if restriction is None else restriction
        return left - test.codes or None, left & test.codes or None

    def split(self, test: Test, restriction: Codes | None) -> tuple[Codes, Codes]:
        """A set that is neither empty nor everything that is left."""
        no, yes = self.parts(test, restriction)
        if no is None or yes is None:
            shown = test.text(self.name, True, self.values)
            left = self.text(restriction) if restriction is not None else f"{self.name} is any value"
            raise ParameterError(f"the test {shown} splits nothing of feature {self.name!r} here, where {left}")
        return no, yes

    def listed(self, restriction: Codes | None) -> tuple[Floats, Floats]:
        """The codes that are left."""
        codes = np.arange(len(self.values)) if restriction is None else np.array(sorted(restriction), np.intp)
        weights = self._weights[codes]
        total = math.fsum(weights)
        shares = weights / total if total > 0 else np.full(len(codes), 1 / max(1, len(codes)))
        return codes.astype(np.float64), shares

    def restriction(self, wanted: Any) -> Codes:
        """One value, or several in a set or list."""
        if isinstance(wanted, Hashable) and wanted in self._codes:
            return frozenset({self._codes[wanted]})
        several = list(wanted) if isinstance(wanted, (Set, list, tuple)) else [wanted]
        for value in several:
            if not isinstance(value, Hashable) or value not in self._codes:
                known = ", ".join(repr(v) for v in self.values[:8]) + (", ..." if len(self.values) > 8 else "")
                raise ParameterError(f"given[{self.name!r}] must hold values of the feature ({known}); got {value!r}")
        if not several:
            raise ParameterError(f"given[{self.name!r}] must hold at least one value; got none")
        return frozenset(self._codes[value] for value in several)

    def text(self, restriction: Codes) -> str:
        """``job in {clerk, nurse}``."""
        return IsIn(0, restriction).text(self.name, True, self.values)

    def column(self, inner: Floats) -> NDArray[Any]:
        """The values themselves, in an array of their own type where they share one."""
        return value_array(self.values)[inner.astype(np.intp)]

    def describe(self) -> dict[str, Any]:
        """Kind, name, values and probabilities in hexadecimal."""
        chances = [p.hex() for p in self.probabilities.tolist()]
        return {"kind": self.kind, "name": self.name, "values": [json_value(v) for v in self.values], "p": chances}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Categorical) and self.describe() == other.describe()

    def __hash__(self) -> int:
        return hash((self.name, self.values))

    def __repr__(self) -> str:
        shown = [f"{v!r}: {p:.4g}" for v, p in zip(self.values[:4], self.probabilities[:4], strict=True)]
        return f"Categorical({self.name!r}, {{{', '.join(shown)}{', ...' if len(self.values) > 4 else ''}}})"


def _own(value: Any) -> Any:
    """A value as Python writes it: no NumPy scalar, and None for NaN, which would not equal itself."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and math.isnan(value) else value


def value_array(values: Sequence[Any]) -> NDArray[Any]:
    """Values in an array of str, bool, int or float where all are of that kind, of objects otherwise."""
    kinds = {type(value) for value in values}
    if len(kinds) == 1 and kinds <= {str, bool, float, int}:
        array = np.array(values)
        if array.dtype.kind in "Ubif":
            return array
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _listed(name: str, values: Iterable[Hashable]) -> list[Hashable]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ParameterError(
            f"values of feature {name!r} must be a mapping of value to probability, or list the values; got "
            f"{show(values)}"
        )
    return check_list(f"values of feature {name!r}", values, "values")
