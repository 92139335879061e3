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
    delta: float = 0.05,
    seed: int = 0,
    max_queries: int | None = None,
) -> Certificate:
    """Fail unless a model agrees with the approved tree of a folder on at least 1 - epsilon of inputs.

    ``model`` is a callable, or anything with a ``predict`` method. ``epsilon`` is the error that the approved
    certificate promises unless given, ``space`` the stored one. The failure says how often the two differ, and where. A
    wrong verdict has probability at most ``delta`` either way. Returns the certificate of this test.
    """
    __tracebackhide__ = True
    from fidelitree.runs.agree.audit import certify  # noqa: PLC0415 - pytest loads this file whether or not it is used
    from fidelitree.runs.agree.diff import diff  # noqa: PLC0415

    target = getattr(model, "predict", model)
    if _update:
        _approve(target, Path(folder), space, epsilon)
    tree, inputs, promised, near = _approved(Path(folder), space)
    allowed = promised if epsilon is None else epsilon
    found = certify(tree, target, inputs, allowed, delta, seed=seed, max_queries=max_queries, tolerance=near)
    if found.holds:
        return found
    if found.interval[0] <= allowed and found.errors is not None:
        raise AssertionError(
            f"undecided after {found.samples:,} inputs: the model differs from the approved tree on "
            f"{found.interval[0]:.4g} to {found.interval[1]:.4g} of inputs, and {allowed:.4g} is allowed - raise "
            f"max_queries or epsilon"
        )
    if tree.defers:  # where they differ is known of trees that answer
        raise AssertionError(f"the model no longer agrees with {folder}: {allowed:.4g} is allowed.\n\n{found}")
    change = diff(tree.predict, target, inputs, delta, epsilon=allowed, seed=seed, max_queries=20_000, tolerance=near)
    raise AssertionError(
        f"the model no longer agrees with {folder}: {allowed:.4g} is allowed. What changed, and where:\n\n{change}\n\n"
        f"If that is meant, approve it: pytest {OPTION}"
    )


def _approved(folder: Path, space: World | None) -> tuple[Any, Any, float, float | None]:
    from fidelitree.certificates.store import load  # noqa: PLC0415

    if not (folder / "certificate.json").is_file():
        raise AssertionError(f"there is no approved result in {folder}: approve one with pytest {OPTION}")
    kept = load(folder)
    inputs = kept.space if space is None else space
    if inputs is None:
        raise AssertionError(f"no space is stored in {folder}: give space")
    told = kept.certificate
    promised = told.epsilon if told.holds and told.epsilon is not None else told.error_bound
    return kept.tree, inputs, promised, told.tolerance


def _approve(target: Any, folder: Path, space: World | None, epsilon: float | None) -> None:
    from fidelitree.certificates.store import load  # noqa: PLC0415
    from fidelitree.runs.distill import distill  # noqa: PLC0415

    kept = load(folder) if (folder / "certificate.json").is_file() else None
    inputs = space if space is not None or kept is None else kept.space
    if inputs is None:
        raise AssertionError(f"give space, to approve a model in {folder} for the first time")
    asked = epsilon if epsilon is not None or kept is None else kept.certificate.epsilon
    told: dict[str, Any] = {} if kept is None else {"tolerance": kept.certificate.tolerance, "defer": kept.tree.defers}
    distill(target, inputs, 0.05 if asked is None else asked, **told).save(folder)
