"""What a certificate says of a table: enough to know what was asked, and nothing of where it is or who keeps it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from dpselect.errors import InvalidParameterError, Shown
from dpselect.rows.columns import Column
from dpselect.rows.duckdb import Catalogued, Embedded
from dpselect.rows.files import FileSource
from dpselect.rows.files.finding import several
from dpselect.rows.opening import is_server
from dpselect.rows.table import EngineTable
from dpselect.server_urls import may_tell_password

_LONGEST_NAME = 200


def what_was_opened(
    source: object, opened: EngineTable, *, table: object = None, name: object = None
) -> dict[str, Any]:
    """The names of files without folders, or the name of a table, or the kind of a frame; and the columns' hash.

    Of a glob it is the last part of the pattern, because the name of a file that only a glob found might be a person's.
    JSON lines have no hash: their columns are the keys of the first person's line.

    Args:
        source: as the caller gave it.
        opened: the table behind it.
        table: its name on a server.
        name: what the caller wants it to be called.

    Raises:
        InvalidParameterError: `name` is not a short text.
    """
    named: dict[str, Any]
    if is_server(source):
        named = {"table": str(table)}
    elif (paths := [source] if isinstance(source, str | Path) else several(source)) is not None:
        named = {"files": [_valid(os.path.basename(os.path.normpath(path))) for path in paths]}
    elif (called := _table_name(opened)) is not None:
        named = {"table": called}
    else:
        named = {"frame": opened.shown.strip("<>")}
    columns = _public_columns(opened)
    if columns is not None:
        named["schema"] = schema_hash(columns)
    return named if name is None else {**named, "name": _checked(name)}


def schema_hash(columns: Sequence[Column]) -> str:
    """SHA-256 of the columns' names and of what they hold, in their order.

    Of this text: a JSON list with a pair of texts for each column, without blanks and in ASCII.
    """
    held = [[column.name, column.holds.name.lower()] for column in columns]
    return sha256(json.dumps(held, separators=(",", ":")).encode()).hexdigest()


def _table_name(opened: EngineTable) -> str | None:
    held = opened.engine.source if isinstance(opened.engine, Embedded) else None
    return _valid(held.table_name) if isinstance(held, Catalogued) and held.table_name else None


def _public_columns(opened: EngineTable) -> Sequence[Column] | None:
    source = opened.engine.source if isinstance(opened.engine, Embedded) else None
    return opened.engine.columns if not isinstance(source, FileSource) or source.has_header else None


def _valid(name: str) -> str:
    """A name that UTF-8 can hold; file systems have others."""
    return name.encode("utf-8", "replace").decode()


def _checked(name: object) -> str:
    if not isinstance(name, str):
        raise InvalidParameterError("source_name", name, "text")
    if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable() or may_tell_password(name):
        expected = f"printable text of at most {_LONGEST_NAME} characters, and no address of a server"
        raise InvalidParameterError("source_name", Shown("<text>"), expected)
    return name
