"""CSV and Parquet files: schemas read up front, rows streamed through DuckDB, a bounded summary handed up."""

from dpselect.backends.columns import Column, candidate_kind, check_match, check_numeric
from dpselect.backends.files.table import FileTable
from dpselect.backends.rows.count import count_distinct_units
from dpselect.backends.rows.gather import gather_unit_values

__all__ = [
    "Column",
    "FileTable",
    "candidate_kind",
    "check_match",
    "check_numeric",
    "count_distinct_units",
    "gather_unit_values",
]
