"""Rows as a stream of Arrow batches, wherever they come from, turned into bounded summaries by an embedded engine."""

from dpselect.backends.rows.source import Source
from dpselect.backends.rows.table import StreamTable

__all__ = ["Source", "StreamTable"]
