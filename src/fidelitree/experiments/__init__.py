"""The paper, run again: `fidelitree experiment NAME`."""
