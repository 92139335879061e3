"""The version, in its one place: the build reads it here too, so that nobody needs the metadata of an installation."""

__version__ = "0.1.0"
