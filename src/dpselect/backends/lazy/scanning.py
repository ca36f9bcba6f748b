"""Parquet files as a lazy frame of the engine that the caller chose."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from dpselect.backends.contract import Table
from dpselect.backends.failures import TranslatedErrors
from dpselect.backends.lazy.table import LazyTable
from dpselect.backends.rows import Source
from dpselect.errors import MissingExtraError


def scanned_parquet(files: Source, paths: Sequence[str], engine: str) -> Table:
    """The files, as ``polars`` or ``spark`` reads them.

    Spark uses the existing session, or starts a local one.

    Args:
        files: the same rows as a stream.
        paths: paths of the files.
        engine: name of the engine.

    Raises:
        InvalidParameterError: the engine would read other files under these names, or Spark cannot start.
        InvalidDataError: the engine cannot read the files.
        MissingExtraError: the engine is not installed.
    """
    with TranslatedErrors(lambda _: MissingExtraError(f"reading files with {engine}", engine), ModuleNotFoundError):
        import_module("polars" if engine == "polars" else "pyspark.sql")
    if engine == "polars":
        from dpselect.backends.lazy.polars_frame import polars_files

        return LazyTable(polars_files(files, paths))
    from dpselect.backends.lazy.spark_files import spark_files

    return LazyTable(spark_files(files, paths))
