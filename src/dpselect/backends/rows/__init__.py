"""Rows as a stream of Arrow batches, wherever they come from, turned into bounded summaries by an embedded engine."""
