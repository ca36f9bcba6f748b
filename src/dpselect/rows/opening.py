"""Opens the table behind a source, and names it. Its type tells which table it is; no unused engine is imported."""

from __future__ import annotations

import json
import os
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

from dpselect.errors import InvalidDataError, InvalidParameterError, Shown, describe, typed
from dpselect.formats import Format
from dpselect.rows.duckdb.engine import Embedded
from dpselect.rows.duckdb.scan import Source
from dpselect.rows.failures import cut_off
from dpselect.rows.files.source import FileSource, paths_of
from dpselect.rows.frames.frame import frame_source, of_delta
from dpselect.rows.statements import Engine
from dpselect.rows.table import Table
from dpselect.server_urls import may_tell_password

_SCHEME = re.compile(r"(?!s3|gs|gcs|az|abfss?|hdfs|https?|ftp|file)[a-z][a-z0-9+.-]{1,19}://", re.IGNORECASE)
"""The scheme of a database's URL. The rest of it may hold a password."""
_LONGEST_NAME = 200


def open_table(
    source: object, *, table: object = None, memory_limit: int | None = None, format: Format | None = None
) -> Table:
    """The table behind `source`; only headers, footers and schemas are read.

    Args:
        source: as `dpselect.Dataset` takes it.
        table: name of the table on the server; None for other sources.
        memory_limit: bytes that may be used here before rows spill to disk. None: most of the machine's memory, and for
            engines that hold their own rows and have limits of their own.
        format: how cells of text are written; None where another engine reads them.
    """
    library = type(source).__module__.partition(".")[0]
    if is_server(source) or library == "pyspark":
        return Table(_elsewhere(source, table, memory_limit, format))
    are_files = paths_of(source) is not None
    if are_files and (scheme := _SCHEME.match(str(source))) and not os.path.exists(str(source)):
        expected = "the path of a file, or a URL postgresql://user@host/database"
        hint = "For other databases give an Ibis table; docs/engines.md lists the engines."
        raise InvalidDataError("source", Shown(f"<URL {scheme[0]}...>"), expected, hint)
    _refuse_name(table)
    with cut_off:
        if isinstance(source, str | Path) and os.path.isdir(os.path.join(source, "_delta_log")):  # not one inside it
            found: Source | None = of_delta(str(source))
        else:
            found = FileSource.at(source, format) if are_files else frame_source(source)
    if found is not None:
        if format is not None and not isinstance(found, FileSource):
            format.check(("ignore_case", "trim", "as_date"), "frames, whose columns have types")
        return Table(Embedded(found, memory_limit, format))
    expected = "the path of a file, a glob, a frame, a lazy frame or the URL of a PostgreSQL server"
    is_connection = library in ("psycopg", "psycopg2", "sqlalchemy")
    hint = "Of a connection or an engine of SQLAlchemy, give the URL." if is_connection else ""
    raise InvalidDataError("source", Shown(describe(source)), expected, hint)


def _elsewhere(source: object, table: object, memory_limit: int | None, format: Format | None) -> Engine:
    """A server or Spark, which would respect no limit and read no text in a format."""
    if format is not None:
        format.check((), "tables on a server" if is_server(source) else "frames of Spark")
    if memory_limit is not None:
        expected = "nothing, because Spark and servers hold their own rows and have limits of their own"
        hint = "It applies to files, to frames in memory, and to what is counted here of lazy frames."
        raise InvalidParameterError("memory_limit", Shown(f"<{memory_limit} bytes>"), expected, hint)
    if is_server(source):
        from dpselect.rows.postgres import PostgresTable

        return PostgresTable(str(source), _checked_name(table))
    _refuse_name(table)
    from dpselect.rows.spark import SparkFrame

    return SparkFrame(source)


def origin_of(source: object, opened: Table | None, *, table: object = None) -> str:
    """The identity of a table, as far as it is known without reading it; None was opened if there is no such file yet.

    The real path of a file or a glob; a server's URL without its password, and the name of the table; the id and the
    version of a table of deltalake or pyiceberg; otherwise the kind of table. A ledger compares it to recognise a
    question that was asked before.
    """
    if is_server(source):
        from dpselect.rows.postgres import table_name

        return table_name(str(source), _checked_name(table))
    if (paths := paths_of(source)) is not None:
        real = sorted(os.path.realpath(path) for path in paths)
        return real[0] if isinstance(source, str | Path) else repr(real)
    if opened is None:
        return ""
    return opened.engine.source.origin if isinstance(opened.engine, Embedded) else opened.shown


def _checked_name(table: object) -> str:
    if isinstance(table, str) and table and "\0" not in table:
        return table
    hint = "Name the table on the server: `table='clicks'`, or 'schema.clicks'."
    raise InvalidDataError("table", typed(table), "the name of a table", hint)


def _refuse_name(table: object) -> None:
    if table is not None:
        raise InvalidDataError("table", typed(table), "nothing, because the source is a table itself")


def is_server(source: object) -> bool:
    """Whether it is the URL of a server."""
    return isinstance(source, str) and source.startswith(("postgresql://", "postgres://"))


def what_was_opened(source: object, opened: Table, *, table: object = None, name: object = None) -> dict[str, Any]:
    """The names of files without folders, or the name of a table, or the kind of a frame; and the columns' hash.

    Of a glob it is the last part of the pattern, because the name of a file that only a glob found might be a person's.
    JSON lines have no hash: their columns are the keys of the first person's line. Else it is the SHA-256 of a JSON
    list with the name of each column, and what it holds, as a pair of texts: without blanks and in ASCII. The caller
    may want it to be called by another `name`.
    """
    named: dict[str, Any]
    held = opened.engine.source if isinstance(opened.engine, Embedded) else None
    if is_server(source):
        named = {"table": str(table)}
    elif (paths := paths_of(source)) is not None:
        named = {"files": [_valid(os.path.basename(os.path.normpath(path))) for path in paths]}
    elif held is not None and held.table_name:
        named = {"table": _valid(held.table_name)}
    else:
        named = {"frame": opened.shown.strip("<>")}
    if held is None or held.has_header:
        columns = [[column.name, column.holds.name.lower()] for column in opened.engine.columns]
        named["schema"] = sha256(json.dumps(columns, separators=(",", ":")).encode()).hexdigest()
    if name is None:
        return named
    if not isinstance(name, str):
        raise InvalidParameterError("source_name", name, "text")
    if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable() or may_tell_password(name):
        expected = f"printable text of at most {_LONGEST_NAME} characters, and no address of a server"
        raise InvalidParameterError("source_name", Shown("<text>"), expected)
    return {**named, "name": name}


def _valid(name: str) -> str:
    """A name that UTF-8 can hold; file systems have others."""
    return name.encode("utf-8", "replace").decode()
