"""Which table a source is: told by its type, without importing an engine that is not in use."""

from __future__ import annotations

from dpselect.backends.contract import Table
from dpselect.backends.files import FileSource
from dpselect.backends.rows import StreamTable


def open_table(source: object) -> Table:
    """The table behind `source`; nothing but headers, footers and schemas is read.

    Args:
        source: a path or a glob.

    Raises:
        InvalidDataError: no such table, or nothing that a table can be read from.
    """
    return StreamTable(FileSource.at(source))
