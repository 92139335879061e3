"""In a test suite: a model must agree with an approved result, or the test says where it does not.

``assert_agrees`` is for any test runner. pytest finds this file as a plugin: ``pytest --fidelitree-update`` approves
the models as they are now.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fidelitree.certificates.certificate import Certificate
    from fidelitree.spaces.world import World

__all__ = ["assert_agrees"]

OPTION = "--fidelitree-update"
_update = False


def pytest_addoption(parser: Any) -> None:
    """The option that approves."""
    parser.getgroup("fidelitree").addoption(
        OPTION, action="store_true", help="approve models as they are: distil them again into their folders"
    )


def pytest_configure(config: Any) -> None:
    """Whether it was given."""
    global _update  # noqa: PLW0603 - a run of pytest has one answer
    _update = bool(config.getoption(OPTION, default=False))


def assert_agrees(
    model: Any,
    folder: str | os.PathLike[str],
    space: World | None = None,
    epsilon: float | None = None,
    *,
    groups: Any = None,
    margin: float = 0.02,
    delta: float = 0.01,
    threshold: float | None = None,
    max_queries: int | None = None,
) -> Certificate:
    """Fail if a model is worse than the approved result of a folder, and say how often the two differ, and where.

    The approved error is the bound of the stored certificate. The test draws fresh inputs, with fresh entropy in every
    call. It passes on evidence that the model differs from the approved tree on less than the approved error plus
    ``margin``, and fails on evidence that it differs on more than the approved error (or than half of what is allowed,
    if that is more). If the answers show neither, it fails as undecided.

    Args:
        model: The model: a callable, or anything with a ``predict`` method.
        folder: The folder of the approved result, of `distill` or `frontier`.
        space: Where inputs come from; the stored space unless given.
        epsilon: Replaces the approved error and the margin: pass below it, fail above it.
        groups: The column of a table that says which rows belong together, or an entry for each row.
        margin: How far above the approved error a model may be.
        delta: The chance that a model fails whose error is the approved one, and that a model passes whose error is
            above what is allowed.
        threshold: Turns scores into labels: 1 above this value, otherwise 0; of a classifier, by its second class.
        max_queries: The most labels to ask for, those that show where the two differ included; 10,000 unless given.

    Returns:
        The certificate of this test; its ``interval`` has both ends of the error.

    Raises:
        AssertionError: The model is worse, the test is undecided, or nothing is approved.
        ParameterError: An argument breaks its rule.
    """
    __tracebackhide__ = True
    from fidelitree.runs.agree.approval import approve, checked  # noqa: PLC0415 - pytest loads this file in any case

    if _update:
        return approve(model, Path(folder), (space, groups), epsilon, threshold)
    limits = {"epsilon": epsilon, "margin": margin, "delta": delta, "max_queries": max_queries}
    found, failure = checked(model, Path(folder), (space, groups), threshold, limits)
    if failure:
        raise AssertionError(f"{failure}\n\nIf that is meant, approve it: pytest {OPTION}")
    return found
