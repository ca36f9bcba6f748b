"""CSV and Parquet files: schemas read up front, rows streamed through DuckDB, a bounded summary handed up."""

from dpselect.backends.files.columns import Column, candidate_kind, check_match, check_numeric
from dpselect.backends.files.count import count_distinct_units
from dpselect.backends.files.gather import gather_unit_values
from dpselect.backends.files.table import FileTable

__all__ = [
    "Column",
    "FileTable",
    "candidate_kind",
    "check_match",
    "check_numeric",
    "count_distinct_units",
    "gather_unit_values",
]
