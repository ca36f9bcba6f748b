"""Parquet files as a lazy frame of an engine of the caller's choice."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from dpselect.backends.contract import Table
from dpselect.backends.lazy import lazy_table
from dpselect.errors import MissingExtraError


def scanned_parquet(paths: Sequence[str], engine: str) -> Table:
    """The files, as ``polars`` or ``spark`` reads them.

    With Spark it takes the session that is there, or starts a local one.

    Raises:
        MissingExtraError: the engine is not installed.
    """
    try:
        if engine == "polars":
            frame: Any = import_module("polars").scan_parquet(list(paths), glob=False)
        else:
            frame = import_module("pyspark.sql").SparkSession.builder.getOrCreate().read.parquet(*paths)
    except ModuleNotFoundError:
        raise MissingExtraError(f"reading files with {engine}", engine) from None
    table = lazy_table(frame)
    assert table is not None
    return table
