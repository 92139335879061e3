"""Binomial tails for statistical tests: how improbable a count is if the code keeps its promise."""

from __future__ import annotations

from scipy import special


def at_least(hits: int, trials: int, p: float) -> float:
    """Pr[at least so many hits], exactly."""
    return 1.0 if hits <= 0 else float(special.bdtrc(hits - 1, trials, p))


def at_most(hits: int, trials: int, p: float) -> float:
    """Pr[at most so many hits], exactly."""
    return float(special.bdtr(hits, trials, p))


def plausible(hits: int, trials: int, p: float, alarm: float) -> bool:
    """Whether a count fits a probability; it does not with probability at most ``alarm`` where it is the true one."""
    if p in (0, 1):
        return hits == p * trials
    return min(at_least(hits, trials, p), at_most(hits, trials, p)) > alarm / 2


def too_many(hits: int, trials: int, p: float, alarm: float) -> bool:
    """Whether hits that should have probability at most ``p`` are more than chance explains."""
    return at_least(hits, trials, p) <= alarm
