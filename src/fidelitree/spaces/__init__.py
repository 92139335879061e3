"""Where inputs come from: features, spaces and rows, and the batches that a target receives."""
