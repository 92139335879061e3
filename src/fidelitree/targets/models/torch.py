"""Models of torch on any device: asked with NumPy's batches like any target, or with tensors that were made there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidelitree.errors import ParameterError, TargetError, check_count, need, show
from fidelitree.targets.models.fromscores import SCORE, Rule, check_rule
from fidelitree.targets.models.model import Model, ModelColumns

Tensor = Any  # of torch, which is not there unless it is used
_WHOLE = 256  # labels that are whole numbers must be below it where they are counted on the device
_ROWS, _CPU_ROWS, _BYTES = 1 << 18, 1 << 14, 1 << 30  # of one batch on the device


def torch(
    model: Any,
    device: Any = None,
    *,
    dtype: Any = None,
    labels: Rule | None = None,
    batch_size: int | None = None,
) -> TorchModel:
    """A target from a module of torch, or any function from a tensor to a tensor, that runs on a device.

    Over a space of bits `certify`, `practical_top_down` and `analyze` draw inputs on the device, ask there and count
    there: only counts come back. `certify` does so over numbers, categories that stand for numbers, and mixtures, too;
    `analyze` does over any product of such features. They draw the same inputs as for any other target, bit for bit, so
    the result is the same as long as the model answers the same. Everywhere else batches are moved to the device, and
    labels back.

    ``device`` and ``dtype`` of the inputs are those of the model's first parameter unless you name them. The module is
    moved to the device, and switched to ``eval()``. What it answers becomes labels: truth values and whole numbers as
    they are, several scores by their largest; one score needs ``labels=0.0`` (1 where it is above 0). ``labels`` may
    also be ``"argmin"``, or ``"score"`` for the number itself. ``batch_size`` is the most inputs of one call on the
    device. torch comes with the extra ``torch``.
    """
    return TorchModel(model, device, dtype=dtype, labels=labels, batch_size=batch_size)


def _features(model: Any, library: Any) -> int | None:
    """How many features a network takes, where its first layer says so."""
    while isinstance(model, library.nn.Sequential) and len(model):
        model = model[0]
    return int(model.in_features) if isinstance(model, library.nn.Linear) else None


class TorchModel(Model):
    """A module of torch, or a function of tensors, as a target; see `torch`."""

    columns = ModelColumns()

    def __init__(
        self,
        model: Any,
        device: Any = None,
        *,
        dtype: Any = None,
        labels: Rule | None = None,
        batch_size: int | None = None,
    ) -> None:
        library = need("torch", "torch", "models on a device")
        if not callable(model):
            raise ParameterError(f"model must be a module of torch, or a function of tensors; got {show(model)}")
        self.rule = None if labels is None else check_rule(labels)
        self.name = getattr(model, "__name__", type(model).__name__)
        self.columns = ModelColumns(count=_features(model, library))
        first = next(model.parameters(), None) if isinstance(model, library.nn.Module) else None
        try:
            self.device = library.device(device or ("cpu" if first is None else first.device))
            self.model = model.to(self.device).eval() if isinstance(model, library.nn.Module) else model
        except (AssertionError, RuntimeError, TypeError) as error:
            raise ParameterError(f"device must be one that torch has here; got {show(device)}: {error}") from None
        usual = first.dtype if first is not None and first.is_floating_point() else library.float32
        self.dtype = usual if dtype is None else dtype
        if not isinstance(self.dtype, library.dtype):
            raise ParameterError(f"dtype must be a type of torch, such as torch.float32; got {show(dtype)}")
        self.batch_size = None if batch_size is None else check_count("batch_size", batch_size)
        self.counts_there = self.device.type != "cpu" and self.rule != SCORE
        """Whether runs that only count draw and count labels there; NumPy is as good as a device that is the CPU."""
        self.width = 0
        """Codes are below it; 0 before the first answer."""
        self._truth = False

    def rows(self, features: int) -> int:
        """Inputs that one call on the device receives."""
        most = _CPU_ROWS if self.device.type == "cpu" else _ROWS
        return self.batch_size or max(1, min(most, _BYTES // (features * self.dtype.itemsize)))

    def labels(self, batch: Any) -> NDArray[Any]:
        library, matrix = need("torch", "torch", "models on a device"), self.columns.matrix(batch)
        if matrix.dtype.kind not in "biuf":
            matrix = self.columns.numbers(batch)
        size, found = self.rows(max(1, matrix.shape[1])), []
        for start in range(0, len(matrix), size):
            part = library.from_numpy(np.require(matrix[start : start + size], requirements=["C", "W"]))
            found.append(self.codes(part.to(self.device, self.dtype)).cpu().numpy())
        answers = np.concatenate(found)
        if self.rule != SCORE and self.width < _WHOLE and len(bad := np.flatnonzero(answers < 0)):
            raise self.refused(len(bad))
        return answers.astype(np.bool_) if self._truth else answers

    def codes(self, inputs: Tensor) -> Tensor:
        """The label of each input on the device, as a whole number; -1 where a score is NaN."""
        library = need("torch", "torch", "models on a device")
        with library.inference_mode():
            scores = self.model(inputs)
            if not isinstance(scores, library.Tensor) or scores.ndim not in (1, 2) or len(scores) != len(inputs):
                what = tuple(scores.shape) if isinstance(scores, library.Tensor) else type(scores).__name__
                raise TargetError(
                    f"a model of torch must answer a tensor with a label, or scores, for each input; got {what} for "
                    f"{len(inputs)} inputs"
                )
            if scores.ndim == 2 and scores.shape[1] == 1:
                scores = scores[:, 0]
            return self._coded(scores)

    def _coded(self, scores: Tensor) -> Tensor:
        if not scores.is_floating_point():
            if scores.ndim != 1 or self.rule is not None:
                raise TargetError(
                    f"whole numbers and truth values must be labels, one for each input, without a rule for scores; "
                    f"the model answered {scores.dtype} of shape {tuple(scores.shape)}, and labels is {self.rule!r}"
                )
            self._truth = "bool" in str(scores.dtype)
            self.width = 2 if self._truth else _WHOLE
            return scores.clone()  # a model may answer in a buffer that it uses again
        rule = ("argmax" if scores.ndim == 2 else None) if self.rule is None else self.rule
        if rule is None or (scores.ndim == 2) != (rule in ("argmax", "argmin")):
            raise ParameterError(
                f"labels must be a number where a model answers one score (1 where it is above), or 'argmax' or "
                f"'argmin' where there are several; got {self.rule!r} for scores of shape {tuple(scores.shape)}"
            )
        if rule == SCORE:
            return scores.double().clone()
        self.width = scores.shape[1] if scores.ndim == 2 else 2
        if scores.ndim == 1:
            return (scores > rule).long().masked_fill_(scores.isnan(), -1)
        top, best = scores.max(1) if rule == "argmax" else scores.min(1)  # the first of equals, and NaN before all
        return best.masked_fill_(top.isnan(), -1)

    def label(self, code: int) -> Any:
        """What a code stands for."""
        return bool(code) if self._truth else code

    def refused(self, rows: int) -> TargetError:
        """What is said of answers that are no labels."""
        if self.width < _WHOLE:
            return TargetError(f"the model answered NaN for {rows} inputs of a batch, and NaN has no label")
        return TargetError(
            f"labels on a device must be whole numbers from 0 to {_WHOLE - 1}; the model answered others for {rows} "
            f"inputs. Answer the number of a class"
        )

    def wait(self) -> None:
        """Until the device has answered all it was asked."""
        if self.device.type == "cuda":
            need("torch", "torch", "models on a device").cuda.synchronize(self.device)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"device": str(self.device)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.device = need("torch", "torch", "models on a device").device(self.device)
