"""How a result stands, in words: the goal is met, it is missed, or nothing is certified. Whoever tells it asks here."""

from __future__ import annotations

from dataclasses import dataclass

from fidelitree.display.numbers import at_least


@dataclass(frozen=True)
class Standing:
    """``state`` is ``met``, ``missed`` or ``nothing``; ``words`` say it."""

    state: str
    words: str

    @property
    def badge(self) -> str:
        """The words with a sign before them, beginning with a capital."""
        sign = {"met": "✓", "missed": "✗", "nothing": "✗"}[self.state]
        return f"{sign} {self.words[0].upper()}{self.words[1:]}"


def standing(epsilon: float | None, error_bound: float, exact: bool) -> Standing:
    """Where no error was named, any certified one meets the goal.

    >>> [standing(0.1, bound, False).words for bound in (0.08, 0.108, 1.0)]
    ['certified, goal met', 'certified at 89.2% agreement, goal missed', 'nothing certified']
    >>> standing(None, 0.108, False).words
    'certified at 89.2% agreement'
    """
    if error_bound >= 1 and (epsilon is None or not exact):
        return Standing("nothing", "nothing certified")
    certified = f"certified at {at_least(error_bound, 4 if exact else 3)} agreement"
    if epsilon is None:
        return Standing("met", certified)
    if error_bound > epsilon:
        return Standing("missed", f"{certified}, goal missed")
    return Standing("met", "certified, goal met")
