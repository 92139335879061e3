"""Do certificates keep their word? Thousands of runs with known true errors, and planted faults: `make campaign`."""
