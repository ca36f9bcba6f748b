"""CSV, Parquet and JSON-lines files: schemas are read first, then rows batch by batch."""

from dpselect.rows.files.source import FileSource

__all__ = ["FileSource"]
