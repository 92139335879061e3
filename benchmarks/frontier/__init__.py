"""Trees of all sizes of real models, ours and the peers' from as many labels: `make bench-frontier`."""
