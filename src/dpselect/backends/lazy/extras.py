"""Optional libraries, imported only for the tables that need them. They have no type stubs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import narwhals.stable.v2 as nw

from dpselect.errors import MissingExtraError


def ibis() -> Any:
    """The module ``ibis``."""
    try:
        return import_module("ibis")
    except ImportError:
        raise MissingExtraError("tables on PostgreSQL", "postgres") from None


def spark_functions(frame: Any) -> Any:
    """The functions for columns of `frame`. Spark Connect has its own, and one process may use both."""
    is_remote = nw.dependencies.is_pyspark_connect_dataframe(frame)
    return import_module("pyspark.sql.connect.functions" if is_remote else "pyspark.sql.functions")
