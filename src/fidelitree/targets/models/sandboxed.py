"""What a child process does with a model file: it reads it and asks it once, so that a crash is the child's.

`sandbox` starts this file as a script; it imports nothing of fidelitree, and of the model's library no more than it
must: the Python side of LightGBM and XGBoost takes seconds to import, their compiled side a fraction of one. The answer
is one line of JSON: null where all went well, else what the library said.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

PROBES = (0.0, 1e6, -1e6)
"""One input for each, all of whose features have this value."""


def _loaded(library: str, error: str) -> tuple[Any, Callable[[int], None]]:
    """A compiled library, and what raises the ``error`` that it names when a call did not return 0."""
    c = ctypes.CDLL(library)
    last = getattr(c, error)
    last.restype = ctypes.c_char_p

    def check(code: int) -> None:
        if code:
            raise ValueError(last().decode(errors="replace"))

    return c, check


def read_lightgbm(library: str, path: str) -> Callable[[], None]:
    """Read by the C interface, then one prediction: a damaged tree may show only there."""
    c, check = _loaded(library, "LGBM_GetLastError")

    def work() -> None:
        booster, trees, width, length = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_int(), ctypes.c_int64()
        check(c.LGBM_BoosterCreateFromModelfile(os.fsencode(path), ctypes.byref(trees), ctypes.byref(booster)))
        check(c.LGBM_BoosterGetNumFeature(booster, ctypes.byref(width)))
        text, room = ctypes.create_string_buffer(1), ctypes.c_int64(1)  # too little room: only the length is told
        check(c.LGBM_BoosterGetLoadedParam(booster, room, ctypes.byref(length), text))
        check(c.LGBM_BoosterSaveModelToString(booster, 0, 1, 0, room, ctypes.byref(length), text))
        data, rows = _probes(width.value, ctypes.c_double), len(PROBES)
        check(c.LGBM_BoosterCalcNumPredict(booster, rows, 0, 0, -1, ctypes.byref(length)))
        out = (ctypes.c_double * max(1, length.value))()
        whole, no_options = (data, 1, rows, width.value, 1, 0, 0, -1), b""
        check(c.LGBM_BoosterPredictForMat(booster, *whole, no_options, ctypes.byref(length), out))

    return work


def read_xgboost(library: str, path: str) -> Callable[[], None]:
    """The same for XGBoost, whose models are read from memory."""
    c, check = _loaded(library, "XGBGetLastError")

    def work() -> None:
        booster, inputs, width = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
        content = Path(path).read_bytes()
        check(c.XGBoosterCreate(None, ctypes.c_uint64(0), ctypes.byref(booster)))
        check(c.XGBoosterLoadModelFromBuffer(booster, content, ctypes.c_uint64(len(content))))
        check(c.XGBoosterGetNumFeature(booster, ctypes.byref(width)))
        data, shape = _probes(width.value, ctypes.c_float), (ctypes.c_uint64(len(PROBES)), width)
        check(c.XGDMatrixCreateFromMat(data, *shape, ctypes.c_float(float("nan")), ctypes.byref(inputs)))
        how = b'{"type": 0, "training": false, "iteration_begin": 0, "iteration_end": 0, "strict_shape": false}'
        out, sizes, axes = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
        found = ctypes.byref(sizes), ctypes.byref(axes), ctypes.byref(out)
        check(c.XGBoosterPredictFromDMatrix(booster, inputs, how, *found))

    return work


def read_onnx(library: str, path: str) -> Callable[[], None]:
    """onnxruntime is imported quickly as it is."""
    runtime: Any = import_module(library)
    numpy: Any = import_module("numpy")

    def work() -> None:
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        session = runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        feed = {}
        for tensor in session.get_inputs():
            shape = [size if isinstance(size, int) else 1 for size in tensor.shape]
            if tensor.type not in TYPES or len(shape) > 2:
                return  # it takes no rows of numbers or text, and will be refused
            feed[tensor.name] = numpy.zeros(shape, TYPES[tensor.type])
        with suppress(Exception):  # zeros may be no input of this model: only a crash tells something
            session.run(None, feed)

    return work


TYPES = {
    "tensor(float)": "float32",
    "tensor(double)": "float64",
    "tensor(int64)": "int64",
    "tensor(int32)": "int32",
    "tensor(uint8)": "uint8",
    "tensor(bool)": "bool",
    "tensor(string)": "object",
}
READERS = {"lightgbm": read_lightgbm, "xgboost": read_xgboost, "onnx": read_onnx}


def _probes(width: int, kind: Any) -> Any:
    return (kind * (width * len(PROBES)))(*(value for value in PROBES for _ in range(width)))


def _limit(megabytes: int, seconds: int) -> None:
    """Memory from here on, processor time, no dump of a crash; as far as the system has such limits."""
    try:
        resource: Any = import_module("resource")
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.alarm(2 * seconds)  # should nobody be left to end it
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize() + (megabytes << 20)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    except (AttributeError, ImportError, OSError, ValueError):
        return


def main(kind: str, library: str, path: str, limits: str, folders: str) -> None:
    """Read and ask; libraries print what they like, so that nothing of it is shown."""
    answer, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    sys.path[:] = json.loads(folders)
    work = READERS[kind](library, path)
    _limit(*json.loads(limits))
    said = None
    try:
        work()
    except MemoryError:
        said = "memory"
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent is told
        said = "memory" if "alloc" in str(error).lower() else str(error)[:500]
    os.write(answer, json.dumps(said).encode())
    os._exit(0)  # without the library's own way of ending, which a damaged model may upset too


if __name__ == "__main__":
    main(*sys.argv[1:])
