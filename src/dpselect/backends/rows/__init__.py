"""The engine in this process, DuckDB: any source of rows is streamed through it in Arrow batches."""

from dpselect.backends.rows.embedded import Embedded
from dpselect.backends.rows.source import Catalogued, Source

__all__ = ["Catalogued", "Embedded", "Source"]
