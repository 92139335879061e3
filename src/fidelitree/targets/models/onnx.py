"""ONNX files, run by onnxruntime with one thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import FidelitreeError, FormatError, ParameterError, need
from fidelitree.targets.models.fromscores import Rule, check_rule, classes_of, labels_of
from fidelitree.targets.models.model import Model, ModelColumns, converted, count_rows
from fidelitree.targets.models.sandbox import try_first
from fidelitree.targets.models.sandboxed import TYPES

_KINDS = {name: np.dtype(kind) for name, kind in TYPES.items()}
_SCORES = ("tensor(float)", "tensor(double)")
_LABELS = tuple(name for name in TYPES if name not in _SCORES)


class OnnxModel(Model):
    """Labels of an ONNX model: its label output, or a rule applied to its score output.

    ``labels=None`` takes the one output that holds labels (whole numbers, truth values or text), as converters of
    classifiers write it. ``labels="argmax"``, ``"argmin"`` or a number (1 where the score is above it) takes the one
    output of floats. ``output`` names another.

    The model has one input of rows by features, or one input for each feature, found by name. Numbers are rounded to
    the model's own type, mostly 32 bits. An input of a fixed number of rows is fed in pieces, the last one filled up;
    one without rows is fed input by input. ``model`` is a path or the bytes of a file, and it is pickled as that.
    """

    def __init__(self, model: str | Path | bytes, *, labels: Rule | None = None, output: str | None = None) -> None:
        self.source = model if isinstance(model, bytes) else Path(model)
        self.name = self.source.name if isinstance(self.source, Path) else "model"
        self.output = output
        self.rule = None if labels is None else check_rule(labels)
        self._session = _open(self.source, self.name)
        self._inputs = self._session.get_inputs()
        self._layout = _layout(self._inputs)
        self.columns = self._layout.columns
        self._answer = _choose(self._session.get_outputs(), self.rule, output)
        if self.rule is not None:
            width = self._answer.shape[-1] if self._answer.shape else None
            self.classes = classes_of(self.rule, width if isinstance(width, int) else 0)

    def labels(self, batch: Any) -> NDArray[Any]:
        feed = self._feed(batch)
        total = count_rows(feed)
        size = self._layout.rows or total
        pieces = [self._run(feed, start, size)[: total - start] for start in range(0, total, size)]
        answers = np.concatenate(pieces)
        if self.rule is not None:
            return labels_of(answers, self.rule)
        return answers.astype(str) if answers.dtype == object else answers

    def _feed(self, batch: Any) -> dict[str, NDArray[Any]]:
        if len(self._inputs) == 1:
            tensor = self._inputs[0]
            matrix = self.columns.matrix(batch) if tensor.type == "tensor(string)" else self.columns.numbers(batch)
            return {tensor.name: matrix.astype(_KINDS[tensor.type])}
        arrays = self.columns.arrays(batch)
        return {
            tensor.name: converted(tensor.name, arrays[tensor.name], _KINDS[tensor.type]).reshape(
                -1, *[1] * (len(tensor.shape) - 1)
            )
            for tensor in self._inputs
        }

    def _run(self, feed: dict[str, NDArray[Any]], start: int, size: int) -> NDArray[Any]:
        """Answers to ``size`` inputs from ``start``; past the end the last input is repeated."""
        piece = {name: values[start : start + size] for name, values in feed.items()}
        if (short := size - count_rows(piece)) > 0:
            piece = {
                name: np.concatenate([values, values[-1:].repeat(short, axis=0)]) for name, values in piece.items()
            }
        if self._layout.flat:
            piece = {name: values[0] for name, values in piece.items()}
        answer = np.asarray(self._session.run([self._answer.name], piece)[0])
        return answer[None] if self._layout.flat else answer

    def __reduce__(self) -> Any:
        return partial(OnnxModel, labels=self.rule, output=self.output), (self.source,)


@dataclass(frozen=True)
class _InputLayout:
    """How a model takes inputs: its features, how many rows at once (0: any number), or one without rows (flat)."""

    columns: ModelColumns
    rows: int
    flat: bool


def _layout(inputs: Sequence[Any]) -> _InputLayout:
    for tensor in inputs:
        if tensor.type not in _KINDS or len(tensor.shape) not in (1, 2):
            raise ParameterError(
                f"an ONNX model must take rows of numbers or text; its input {tensor.name!r} is a {tensor.type} of "
                f"shape {tensor.shape}"
            )
    first = inputs[0].shape
    rows = first[0] if isinstance(first[0], int) else 0
    if len(inputs) > 1:
        return _InputLayout(ModelColumns(tuple(tensor.name for tensor in inputs), len(inputs)), rows, flat=False)
    width = first[-1] if isinstance(first[-1], int) else None
    flat = len(first) == 1
    return _InputLayout(ModelColumns(None, width), 1 if flat else rows, flat)


def _choose(outputs: Sequence[Any], rule: Rule | None, name: str | None) -> Any:
    """The output that holds the labels, or the scores when there is a rule for them."""
    kinds = _LABELS if rule is None else _SCORES
    found = [tensor for tensor in outputs if tensor.type in kinds and name in (None, tensor.name)]
    if len(found) == 1:
        return found[0]
    wanted = "whole numbers, truth values or text" if rule is None else "floats"
    way_out = (
        "Give labels='argmax', 'argmin' or a number, to make labels of a score output"
        if rule is None and not found
        else "Name one with output=..."
    )
    listed = ", ".join(f"{tensor.name!r} ({tensor.type})" for tensor in outputs)
    raise ParameterError(
        f"labels={rule!r} needs one output of {wanted}{'' if name is None else f' called {name!r}'}; "
        f"the model has {listed}. {way_out}"
    )


def _open(source: Path | bytes, name: str) -> Any:
    library = need("onnxruntime", "onnx", "ONNX models")
    options = library.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # declared shapes are often wrong, and what fails is raised anyway
    try:
        if isinstance(source, Path):
            try_first("onnx", library.__name__, source)
        return library.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except FidelitreeError:
        raise
    except Exception as error:
        reason = str(error).splitlines()[0]
        raise FormatError(f"{name} is not an ONNX model that onnxruntime can run: {reason}") from error
