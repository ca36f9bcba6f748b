"""Bounded summaries of rows: any source is streamed in Arrow batches through an embedded engine."""

from dpselect.backends.rows.source import Catalogued, Source
from dpselect.backends.rows.table import StreamTable

__all__ = ["Catalogued", "Source", "StreamTable"]
