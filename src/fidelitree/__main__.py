"""The program ``fidelitree``, also as ``python -m fidelitree``: Ctrl-C is in order before the first import is done.

Importing the command line takes most of a second. An interrupt then may come in the middle of somebody else's module,
which may turn it into an error of its own; so that nothing is raised: there is nothing to lose yet, and the program
ends.
"""

from __future__ import annotations

import os
import signal
import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED = 7
"""`cli.ending` has all codes, and is not imported yet."""


def main() -> None:
    """Run the command line."""
    heard = signal.getsignal(signal.SIGINT) == signal.default_int_handler
    if heard:
        signal.signal(signal.SIGINT, _leave)
    run = import_module("fidelitree.cli").main
    if heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _leave(number: int, frame: FrameType | None) -> None:
    sys.stderr.write("fidelitree: interrupted before there was anything to certify\n")
    sys.stderr.flush()
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
