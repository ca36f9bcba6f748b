"""Suppresses PySpark's log on the driver during a question."""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager

_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""The loggers to which PySpark writes its errors."""


@contextmanager
def unlogged() -> Generator[None]:
    """Suppress PySpark's log of its errors on the driver: their messages quote values."""
    from pyspark.logger import PySparkLogger

    # Made by PySpark: plain loggers of these names would stay, and would fail when PySpark logs.
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
    """Blocks all records. Each question has its own filter, because the first to end would remove a shared one."""

    def filter(self, record: logging.LogRecord) -> bool:
        return False
