"""CSV, Parquet and JSON-lines files: schemas read up front, rows one batch after another."""

from dpselect.backends.files.source import FileSource

__all__ = ["FileSource"]
