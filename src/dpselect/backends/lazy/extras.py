"""Libraries that only some tables need, imported when such a table is asked; they come without types."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dpselect.errors import MissingExtraError


def ibis() -> Any:
    """The module ``ibis``."""
    try:
        return import_module("ibis")
    except ImportError:
        raise MissingExtraError("tables on PostgreSQL", "postgres") from None


def spark_functions() -> Any:
    """The module ``pyspark.sql.functions``."""
    return import_module("pyspark.sql.functions")
