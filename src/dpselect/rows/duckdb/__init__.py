"""The engine in this process, DuckDB: any source of rows is streamed through it in Arrow batches."""

from dpselect.rows.duckdb.embedded import Embedded
from dpselect.rows.duckdb.source import Catalogued, Source

__all__ = ["Catalogued", "Embedded", "Source"]
