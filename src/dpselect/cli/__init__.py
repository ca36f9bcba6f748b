"""The command line: the same questions and words as `dpselect.Dataset`, one line per mistake, no traceback."""

from dpselect.cli.process import main

__all__ = ["main"]
