"""Which table a source is: told by its type, without importing an engine that is not in use."""

from __future__ import annotations

from pathlib import Path

from dpselect.backends.contract import Table
from dpselect.backends.files import FileSource
from dpselect.backends.frames import frame_source
from dpselect.backends.rows import StreamTable
from dpselect.errors import InvalidDataError, Shown


def open_table(source: object, *, memory_limit: int | None = None) -> Table:
    """The table behind `source`; nothing but headers, footers and schemas is read.

    Args:
        source: a path or a glob; a frame of pandas, Polars or PyArrow, or anything with ``__arrow_c_stream__``.
        memory_limit: bytes that may be used here before rows spill to disk; None: most of the machine's.

    Raises:
        InvalidDataError: no such table, or nothing that a table can be read from.
    """
    if isinstance(source, str | Path):
        return StreamTable(FileSource.at(source), memory_limit)
    frame = frame_source(source)
    if frame is not None:
        return StreamTable(frame, memory_limit)
    expected = "the path of a file, a glob, or a frame of pandas, Polars or PyArrow"
    raise InvalidDataError("source", Shown(f"<{type(source).__name__}>"), expected)
