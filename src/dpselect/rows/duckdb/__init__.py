"""The engine in this process, DuckDB: any source of rows is streamed through it in Arrow batches."""
