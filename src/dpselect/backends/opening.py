"""Which table a source is: told by its type, without importing an engine that is not in use."""

from __future__ import annotations

from pathlib import Path

from dpselect.backends.contract import Table
from dpselect.backends.files import FileSource
from dpselect.backends.frames import frame_source
from dpselect.backends.lazy import lazy_table, postgres_table
from dpselect.backends.rows import StreamTable
from dpselect.errors import InvalidDataError, Shown, describe


def open_table(source: object, *, table: object = None, memory_limit: int | None = None) -> Table:
    """The table behind `source`; nothing but headers, footers and schemas is read.

    Args:
        source: a path or a glob; a frame of pandas, Polars or PyArrow, or anything with ``__arrow_c_stream__``; a lazy
            frame of Polars, a DuckDB relation, a PySpark ``DataFrame`` or an Ibis table; the URL of a PostgreSQL
            server, ``postgresql://...``.
        table: which table of the server; nothing for other sources.
        memory_limit: bytes that may be used here before rows spill to disk; None: most of the machine's. Engines
            that are asked themselves keep to limits of their own.

    Raises:
        InvalidDataError: no such table, or nothing that a table can be read from.
        TableUnavailableError: the server cannot be reached.
        MissingExtraError: the extra that the source needs is not installed.
    """
    if isinstance(source, str) and source.startswith(("postgresql://", "postgres://")):
        if not isinstance(table, str) or not table or "\0" in table:
            hint = "Say which table of the server: table='clicks', or 'schema.clicks'."
            raise InvalidDataError("table", table, "the name of a table", hint)
        return postgres_table(source, table)
    if table is not None:
        raise InvalidDataError("table", Shown(describe(table)), "no table, as the source is one itself")
    if isinstance(source, str | Path):
        return StreamTable(FileSource.at(source), memory_limit)
    lazy = lazy_table(source, memory_limit=memory_limit)
    if lazy is not None:
        return lazy
    frame = frame_source(source)
    if frame is not None:
        return StreamTable(frame, memory_limit)
    expected = "the path of a file, a glob, a frame, a lazy frame or the URL of a PostgreSQL server"
    raise InvalidDataError("source", Shown(describe(source)), expected)
