"""What PySpark would write to the log on this side while it works for us."""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager

_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Where PySpark writes what its errors say."""


@contextmanager
def unlogged() -> Generator[None]:
    """PySpark logs on this side what its errors say, and they quote values; not those that we answer for."""
    from pyspark.logger import PySparkLogger

    # Made as PySpark makes them, and not as plain ones, which would stay in their place and fail when it logs.
    loggers = [PySparkLogger.getLogger(name) for name in _LOGGERS]
    nothing = _Nothing()
    for logger in loggers:
        logger.addFilter(nothing)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(nothing)


class _Nothing(logging.Filter):
    """Lets no record pass. One for each question: a logger has a filter once, and who ends first would take it away."""

    def filter(self, record: logging.LogRecord) -> bool:
        return False
