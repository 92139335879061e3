"""Every test of a command may ask for a folder of its own."""

from commandline import folder

__all__ = ["folder"]
