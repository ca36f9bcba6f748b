"""Opens the table behind a source. Its type tells which table it is; no unused engine is imported."""

from __future__ import annotations

import os
import re
from pathlib import Path

from dpselect.errors import InvalidDataError, InvalidParameterError, Shown, describe, typed
from dpselect.formats import Format
from dpselect.rows import frames
from dpselect.rows.duckdb import Catalogued, Embedded, Source
from dpselect.rows.failures import cut_off
from dpselect.rows.files import FileSource
from dpselect.rows.files.finding import is_named, several
from dpselect.rows.table import EngineTable

_SCHEME = re.compile(r"(?!s3|gs|gcs|az|abfss?|hdfs|https?|ftp|file)[a-z][a-z0-9+.-]{1,19}://", re.IGNORECASE)
"""The scheme of a database's URL. The rest of it may hold a password."""


def open_table(
    source: object, *, table: object = None, memory_limit: int | None = None, format: Format | None = None
) -> EngineTable:
    """The table behind `source`; only headers, footers and schemas are read.

    Args:
        source: a path, a glob, a list of paths, a folder of partitions or of a Delta table; a frame of pandas, Polars
            or PyArrow, a table of deltalake or pyiceberg, or anything with ``__arrow_c_stream__``; a lazy frame of
            Polars, a DuckDB relation, a PySpark ``DataFrame`` or an Ibis table; the URL of a PostgreSQL server,
            ``postgresql://...``.
        table: name of the table on the server; None for other sources.
        memory_limit: bytes that may be used here before rows spill to disk. None: most of the machine's memory, and for
            engines that hold their own rows and have limits of their own.
        format: how cells of text are written; None where another engine reads them.

    Raises:
        InvalidDataError: there is no such table, `source` is not a table, or the `format` does not fit it.
        InvalidParameterError: `memory_limit` could not be enforced.
        TableUnavailableError: the server cannot be reached.
        MissingExtraError: the extra that the source needs is not installed.
    """
    if is_server(source):
        _check_undeclared(format, "tables on a server")
        _check_unlimited(memory_limit)
        from dpselect.rows.postgres import PostgresTable

        return EngineTable(PostgresTable.at(str(source), _checked_name(table)))
    is_path = _is_path(source)
    if is_path and (scheme := _SCHEME.match(_single(source))) and not os.path.exists(_single(source)):
        expected = "the path of a file, or a URL postgresql://user@host/database"
        hint = "For other databases give an Ibis table; docs/engines.md lists the engines."
        raise InvalidDataError("source", Shown(f"<URL {scheme[0]}...>"), expected, hint)
    if table is not None:
        raise InvalidDataError("table", typed(table), "nothing, because the source is a table itself")
    if is_path and _is_delta_folder(_single(source)):
        return _typed(frames.DeltaSource.of(_single(source)), memory_limit, format)
    if is_path:
        with cut_off:
            return EngineTable(Embedded(FileSource.at(source, format), memory_limit, format))
    if type(source).__module__.startswith("pyspark."):
        _check_undeclared(format, "frames of Spark")
        _check_unlimited(memory_limit)
        from dpselect.rows.spark import SparkFrame

        return EngineTable(SparkFrame.of(source))
    with cut_off:
        frame = frames.frame_source(source)
    if frame is not None:
        return _typed(frame, memory_limit, format)
    expected = "the path of a file, a glob, a frame, a lazy frame or the URL of a PostgreSQL server"
    hint = "Of a connection or an engine of SQLAlchemy, give the URL." if _is_connection(source) else ""
    raise InvalidDataError("source", Shown(describe(source)), expected, hint)


def _is_connection(source: object) -> bool:
    return type(source).__module__.partition(".")[0] in ("psycopg", "psycopg2", "sqlalchemy")


def origin_of(source: object, *, table: object = None) -> str:
    """The identity of a table, as far as it is known without reading it.

    The real path of a file or a glob; a server's URL without its password, and the name of the table; the id and the
    version of a table of deltalake or pyiceberg; otherwise the kind of table. A ledger compares it to recognise a
    question that was asked before.
    """
    if is_server(source):
        from dpselect.rows.postgres import table_name

        return table_name(str(source), _checked_name(table))
    if (paths := several(source)) is not None:
        return repr(sorted(os.path.realpath(path) for path in paths))
    if _is_path(source):
        return os.path.realpath(str(source))
    opened = open_table(source)
    held = opened.engine.source if isinstance(opened.engine, Embedded) else None
    return held.origin if isinstance(held, Catalogued) else opened.shown


def _checked_name(table: object) -> str:
    if isinstance(table, str) and table and "\0" not in table:
        return table
    hint = "Name the table on the server: table='clicks', or 'schema.clicks'."
    raise InvalidDataError("table", typed(table), "the name of a table", hint)


def is_server(source: object) -> bool:
    """Whether it is the URL of a server."""
    return isinstance(source, str) and source.startswith(("postgresql://", "postgres://"))


def _single(source: object) -> str:
    """The path, if it is not a list of several."""
    return str(source) if isinstance(source, str | Path) else ""


def _is_path(source: object) -> bool:
    return is_named(source) and not is_server(source)


def _is_delta_folder(path: str) -> bool:
    """Whether it is the folder of a Delta table itself; not one inside it."""
    return os.path.isdir(os.path.join(path, "_delta_log"))


def _typed(source: Source, memory_limit: int | None, format: Format | None) -> EngineTable:
    if format is not None:
        format.check(("ignore_case", "trim", "as_date"), "frames, whose columns have types")
    return EngineTable(Embedded(source, memory_limit, format))


def _check_undeclared(format: Format | None, source: str) -> None:
    if format is not None:
        format.check((), source)


def _check_unlimited(memory_limit: int | None) -> None:
    """Refuse a limit for an engine that would not respect it."""
    if memory_limit is not None:
        expected = "nothing, because Spark and servers hold their own rows and have limits of their own"
        hint = "It applies to files, to frames in memory, and to what is counted here of lazy frames."
        raise InvalidParameterError("memory_limit", Shown(f"<{memory_limit} bytes>"), expected, hint)
