"""The sections of a report, each a function from contents to HTML."""
