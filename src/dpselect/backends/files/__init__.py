"""CSV and Parquet files: schemas read up front, rows streamed through DuckDB, counts handed up."""

from dpselect.backends.files.columns import candidate_kind, check_match
from dpselect.backends.files.count import count_distinct_units
from dpselect.backends.files.table import FileTable

__all__ = ["FileTable", "candidate_kind", "check_match", "count_distinct_units"]
