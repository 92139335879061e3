"""The paper, run again: `fidelitree experiment NAME`."""

from fidelitree.experiments.catalogue import EXPERIMENTS, Report, Settings, run

__all__ = ["EXPERIMENTS", "Report", "Settings", "run"]
