"""Asking a target, in a straight line: counted, remembered, written down, spread over workers, called."""
