"""Surrogate methods that people use, audited: what each says about itself, and what holds on fresh inputs."""
