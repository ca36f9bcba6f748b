"""Opens the table behind a source. Its type tells which table it is; no unused engine is imported."""

from __future__ import annotations

import os
import re
from pathlib import Path

from dpselect.backends import frames, lazy
from dpselect.backends.contract import Table
from dpselect.backends.failures import cut_off
from dpselect.backends.files import FileSource
from dpselect.backends.files.finding import is_named, several
from dpselect.backends.files.formats import FileKind
from dpselect.backends.rows import Catalogued, Source, StreamTable
from dpselect.checks import one_of
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown, describe, typed
from dpselect.formats import Format

_SCHEME = re.compile(r"(?!s3|gs|gcs|az|abfss?|hdfs|https?|ftp|file)[a-z][a-z0-9+.-]{1,19}://", re.IGNORECASE)
"""The scheme of a database's URL. The rest of it may hold a password."""

ENGINES = ("duckdb", "polars", "spark")
"""Engines that read files: the first reads all formats, the others only Parquet."""


def open_table(
    source: object,
    *,
    table: object = None,
    engine: object = None,
    memory_limit: int | None = None,
    format: Format | None = None,
) -> Table:
    """The table behind `source`; only headers, footers and schemas are read.

    Args:
        source: a path, a glob, a list of paths, a folder of partitions or of a Delta table; a frame of pandas, Polars
            or PyArrow, a table of deltalake or pyiceberg, or anything with ``__arrow_c_stream__``; a lazy frame of
            Polars, a DuckDB relation, a PySpark ``DataFrame`` or an Ibis table; the URL of a PostgreSQL server,
            ``postgresql://...``.
        table: name of the table on the server; None for other sources.
        engine: one of `ENGINES`, which reads the files; None for other sources.
        memory_limit: bytes that may be used here before rows spill to disk. None: most of the machine's memory, and for
            engines that hold their own rows and have limits of their own.
        format: how cells of text are written; None where another engine reads them.

    Raises:
        InvalidDataError: there is no such table, `source` is not a table, or the `format` does not fit it.
        InvalidParameterError: the engine is unknown or not for this source, or `memory_limit` could not be enforced.
        TableUnavailableError: the server cannot be reached.
        MissingExtraError: the extra that the source needs is not installed.
    """
    on_server, is_path = is_server(source), _is_path(source)
    if engine is not None:
        one_of(engine, "engine", ENGINES, note=", for files")
    if engine is not None and not is_path:
        expected = "nothing, because frames and servers use their own engine"
        raise InvalidParameterError("engine", typed(engine), expected, "It selects the engine that reads files.")
    if on_server:
        _check_undeclared(format, "tables on a server")
        _check_unlimited(memory_limit)
        return lazy.postgres_table(str(source), _checked_name(table))
    if is_path and (scheme := _SCHEME.match(_single(source))) and not os.path.exists(_single(source)):
        expected = "the path of a file, or a URL postgresql://user@host/database"
        hint = "For other databases give an Ibis table; docs/engines.md lists the engines."
        raise InvalidDataError("source", Shown(f"<URL {scheme[0]}...>"), expected, hint)
    if table is not None:
        raise InvalidDataError("table", typed(table), "nothing, because the source is a table itself")
    if is_path and _is_delta_folder(_single(source)):
        return _of_delta(_single(source), engine, memory_limit, format)
    if is_path:
        with cut_off:
            files = FileSource.at(source, format)
        return _of_files(files, engine, memory_limit, format)
    found = lazy.lazy_table(source, memory_limit=memory_limit)
    if found is not None:
        _check_undeclared(format, "lazy frames and relations")
        if isinstance(found, lazy.LazyTable):
            _check_unlimited(memory_limit)
        return found
    frame = frames.frame_source(source)
    if frame is not None:
        return _typed(frame, memory_limit, format)
    expected = "the path of a file, a glob, a frame, a lazy frame or the URL of a PostgreSQL server"
    raise InvalidDataError("source", Shown(describe(source)), expected)


def origin_of(source: object, *, table: object = None) -> str:
    """The identity of a table, as far as it is known without reading it.

    The real path of a file or a glob; a server's URL without its password, and the name of the table; the id and the
    version of a table of deltalake or pyiceberg; otherwise the kind of table. A ledger compares it to recognise a
    question that was asked before.
    """
    if is_server(source):
        return lazy.postgres_table_name(str(source), _checked_name(table))
    if (paths := several(source)) is not None:
        return repr(sorted(os.path.realpath(path) for path in paths))
    if _is_path(source):
        return os.path.realpath(str(source))
    opened = open_table(source)
    held = opened.source if isinstance(opened, StreamTable) else None
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


def _of_files(files: FileSource, engine: object, memory_limit: int | None, format: Format | None) -> Table:
    if engine in (None, "duckdb"):
        return StreamTable(files, memory_limit, format)
    _check_undeclared(format, f"the engine {engine!r}")
    if files.partition:
        hint = "Folders such as year=2026 are columns only for DuckDB."
        raise InvalidParameterError("engine", typed(engine), "'duckdb' for a folder of partitions", hint)
    if files.kind is not FileKind.PARQUET:
        hint = "Only Parquet states the types of its columns; another engine would guess them from the rows."
        raise InvalidParameterError("engine", typed(engine), "'duckdb' for files that are not Parquet", hint)
    if not files.alike:
        hint = "Only it reads files with different columns."
        raise InvalidParameterError("engine", typed(engine), "'duckdb' for these files", hint)
    _check_unlimited(memory_limit)
    return lazy.scanned_parquet(files, files.paths, str(engine))


def _of_delta(folder: str, engine: object, memory_limit: int | None, format: Format | None) -> Table:
    if engine not in (None, "duckdb"):
        raise InvalidParameterError("engine", typed(engine), "nothing, because deltalake reads Delta tables")
    return _typed(frames.DeltaSource.of(folder), memory_limit, format)


def _typed(source: Source, memory_limit: int | None, format: Format | None) -> Table:
    if format is not None:
        format.check(("ignore_case", "trim", "as_date"), "frames, whose columns have types")
    return StreamTable(source, memory_limit, format)


def _check_undeclared(format: Format | None, source: str) -> None:
    if format is not None:
        format.check((), source)


def _check_unlimited(memory_limit: int | None) -> None:
    """Refuse a limit for an engine that would not respect it."""
    if memory_limit is not None:
        expected = "nothing, because Polars, Spark and servers hold their own rows and have limits of their own"
        hint = "It applies to files that DuckDB reads, frames in memory, and what is counted here for DuckDB relations."
        raise InvalidParameterError("memory_limit", Shown(f"<{memory_limit} bytes>"), expected, hint)
