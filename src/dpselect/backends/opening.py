"""Which table a source is: told by its type, without importing an engine that is not in use."""

from __future__ import annotations

import os
import re
from pathlib import Path

from dpselect.backends.contract import Table
from dpselect.backends.failures import cut_off
from dpselect.backends.files import FileSource
from dpselect.backends.files.formats import Format
from dpselect.backends.frames import frame_source
from dpselect.backends.lazy import LazyTable, lazy_table, postgres_table, postgres_table_name
from dpselect.backends.lazy.scanning import scanned_parquet
from dpselect.backends.rows import StreamTable
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown, describe, typed

_SCHEME = re.compile(r"(?!s3|gs|gcs|az|abfss?|hdfs|https?|ftp|file)[a-z][a-z0-9+.-]{1,19}://", re.IGNORECASE)
"""Of the URL of a database, whose rest may hold a password."""

ENGINES = ("duckdb", "polars", "spark")
"""What can read files: the first one all of them, the others Parquet."""


def open_table(
    source: object, *, table: object = None, engine: object = None, memory_limit: int | None = None
) -> Table:
    """The table behind `source`; nothing but headers, footers and schemas is read.

    Args:
        source: a path or a glob; a frame of pandas, Polars or PyArrow, or anything with ``__arrow_c_stream__``; a lazy
            frame of Polars, a DuckDB relation, a PySpark ``DataFrame`` or an Ibis table; the URL of a PostgreSQL
            server, ``postgresql://...``.
        table: which table of the server; nothing for other sources.
        engine: what reads files, of `ENGINES`; nothing for other sources.
        memory_limit: bytes that may be used here before rows spill to disk; None: most of the machine's. Nothing for
            engines that hold their own rows, and have limits of their own.

    Raises:
        InvalidDataError: no such table, or nothing that a table can be read from.
        InvalidParameterError: no such engine, or not for this source; a `memory_limit` that it would not keep.
        TableUnavailableError: the server cannot be reached.
        MissingExtraError: the extra that the source needs is not installed.
    """
    is_server, is_path = _is_server(source), _is_path(source)
    if engine is not None and engine not in ENGINES:
        raise InvalidParameterError("engine", typed(engine), f"one of {', '.join(map(repr, ENGINES))}, for files")
    if engine is not None and not is_path:
        expected = "nothing, as frames and servers are asked where they are"
        raise InvalidParameterError("engine", typed(engine), expected, "It says what reads a file.")
    if is_server:
        _check_unlimited(memory_limit)
        return postgres_table(str(source), _checked_name(table))
    if is_path and (scheme := _SCHEME.match(str(source))) and not os.path.exists(str(source)):
        expected = "the path of a file, or a URL postgresql://user@host/database"
        hint = "Other databases are asked as tables of Ibis, on the engines that docs/engines.md lists."
        raise InvalidDataError("source", Shown(f"<URL {scheme[0]}...>"), expected, hint)
    if table is not None:
        raise InvalidDataError("table", typed(table), "no table, as the source is one itself")
    if is_path:
        with cut_off:
            files = FileSource.at(source)
        return _of_files(files, engine, memory_limit)
    lazy = lazy_table(source, memory_limit=memory_limit)
    if lazy is not None:
        if isinstance(lazy, LazyTable):
            _check_unlimited(memory_limit)
        return lazy
    frame = frame_source(source)
    if frame is not None:
        return StreamTable(frame, memory_limit)
    expected = "the path of a file, a glob, a frame, a lazy frame or the URL of a PostgreSQL server"
    raise InvalidDataError("source", Shown(describe(source)), expected)


def origin_of(source: object, *, table: object = None) -> str:
    """Which table a question is asked of, as far as can be said without reading it.

    The real path of a file or a glob, a server's URL without its password and the name of the table, else what kind of
    table it is. A ledger tells by it whether the same was asked before.
    """
    if _is_server(source):
        return postgres_table_name(str(source), _checked_name(table))
    return os.path.realpath(str(source)) if _is_path(source) else open_table(source).shown


def _checked_name(table: object) -> str:
    if isinstance(table, str) and table and "\0" not in table:
        return table
    hint = "Say which table of the server: table='clicks', or 'schema.clicks'."
    raise InvalidDataError("table", typed(table), "the name of a table", hint)


def _is_server(source: object) -> bool:
    return isinstance(source, str) and source.startswith(("postgresql://", "postgres://"))


def _is_path(source: object) -> bool:
    return isinstance(source, str | Path) and not _is_server(source)


def _of_files(files: FileSource, engine: object, memory_limit: int | None) -> Table:
    if engine in (None, "duckdb"):
        return StreamTable(files, memory_limit)
    if files.format is not Format.PARQUET:
        hint = "Only Parquet says which types its columns have; another engine would guess them from the rows."
        raise InvalidParameterError("engine", typed(engine), "'duckdb' for files that are not Parquet", hint)
    _check_unlimited(memory_limit)
    return scanned_parquet(files, files.paths, str(engine))


def _check_unlimited(memory_limit: int | None) -> None:
    """Refuse a limit for an engine that would not keep it."""
    if memory_limit is not None:
        expected = "nothing, as Polars, Spark and servers hold their own rows and have limits of their own"
        hint = "It is for files that DuckDB reads, frames in memory and what is counted here of relations of DuckDB."
        raise InvalidParameterError("memory_limit", Shown(f"<{memory_limit} bytes>"), expected, hint)
