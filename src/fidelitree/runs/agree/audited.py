"""What is audited, how it is asked about inner values, and the inputs that test it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.asking.call import MOST_BYTES
from fidelitree.asking.guarded import GuardedTarget
from fidelitree.certificates.certificate import OF_ANSWERS
from fidelitree.errors import ParameterError, TargetError, show
from fidelitree.runs.agree.claim import FEW, AuditGoal, Claim
from fidelitree.spaces.draw import Stream
from fidelitree.spaces.product import ProductSpace, product_of
from fidelitree.spaces.rows import check_test_rows
from fidelitree.trees.tree import Tree

if TYPE_CHECKING:
    from fidelitree.runs.agree.device_tests import DeviceTests
    from fidelitree.spaces.world import World
    from fidelitree.targets.labels import Target


def _product(space: World, rule: AuditGoal) -> ProductSpace:
    """The features; of a table, which must have rows enough for a claim."""
    product = product_of(space)
    if space.table is not None and isinstance(rule, Claim):
        check_test_rows(space.table.tests, rule.epsilon, rule.delta, rule.level)
    return product


def prediction_of(predictor: Any, space: World, rule: AuditGoal, numbers: bool) -> tuple[Target, str]:
    """How to ask a predictor about inner values, and its digest."""
    product = _product(space, rule)
    if isinstance(predictor, Tree):
        predictor.check_space(product)
        return predictor.predict_inner, predictor.digest
    found = getattr(predictor, "predict", predictor)
    if not callable(found):
        raise ParameterError(f"predictor must be a tree, a callable, or have a predict method; got {show(predictor)}")
    door = GuardedTarget(found, product, numbers)
    return door, _fingerprint(door, space)


@dataclass(frozen=True)
class TestInputs:
    """Test inputs: ``take`` gives some of a numbered block, after those taken before; ``device`` counts the same."""

    take: Callable[[int, int, int], NDArray[Any]]
    most: float
    device: DeviceTests | None = None


def source_of(space: World, stream: Stream) -> TestInputs:
    """Fresh draws of a world, or all rows of a table, or one of each group, in an order of their own."""
    if space.table is not None:
        order = space.table.shuffled(stream)
        return TestInputs(lambda block, taken, rows: order[taken : taken + rows], len(order))
    return TestInputs(lambda block, taken, rows: space.inputs(stream, block, rows), math.inf)


def labels_of(predict: Target, batch: NDArray[Any]) -> NDArray[Any]:
    """The predictor's labels, one for each input."""
    try:
        return np.asarray(predict(batch))
    except TargetError as error:
        said = str(error).replace("the target", "it")
        raise ParameterError(f"predictor must label every batch: {said}") from error.__cause__


def _fingerprint(predict: Target, space: World) -> str:
    """A digest of a predictor that has none: what it says about a few inputs that anybody can draw."""
    product = space.product
    rows = min(FEW, max(64, MOST_BYTES // (len(product) * product.dtype.itemsize)))
    labels = labels_of(predict, source_of(space, Stream("fingerprint")).take(0, 0, rows))
    return OF_ANSWERS + hashlib.sha256(repr(labels.tolist()).encode()).hexdigest()
