"""Parquet, Arrow files (Feather) and ORC: types from the footer, the columns asked for streamed batch by batch.

Parquet is read with Arrow, which does not check text. A reader that checks it during the scan fails at the first value
that is not UTF-8, and then the failure and its message depend on one row.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from dpselect.errors import InvalidDataError, Shown
from dpselect.formats import Format
from dpselect.rows.columns import Column, Holds
from dpselect.rows.duckdb.arrow import (
    BATCH_ROWS,
    PIECE_BYTES,
    RecordBatch,
    columns_of,
    first_of,
    pa,
    pc,
    plain_batches,
    pq,
    sliced,
    taken,
)
from dpselect.rows.files.lines import Reading

_READ_BYTES = 1 << 18
"""Bytes of text read at a time if all rows were equally long; a small number, because they are not."""

_BUFFER_BYTES = 1 << 20
"""Bytes of each column read from disk at a time; without this limit it would be a whole row group."""

_BYTES_OF_A_REFERENCE = 8
"""If the average text of a row takes fewer bytes than this, it is stored in a dictionary."""


def read_columns(path: str, shown: Shown, declared: Format) -> tuple[Column, ...]:
    """The columns of the file's schema, and the fields of its structs; two columns of the same name are refused."""
    found = schema(path)
    if len(set(found.names)) < len(found.names):
        raise InvalidDataError("source", shown, "columns with different names")
    return columns_of(found)


def schema(path: str) -> Any:
    """The Arrow schema of the file, from its footer."""
    return pq.read_schema(pa.OSFile(path)) if _is_parquet(path) else _dataset(path).schema


def rows(asked: Reading) -> Iterator[RecordBatch]:
    """Some columns of every row, in batches, in types that no later step can stumble over."""
    path, names = asked.path, [column.name for column in asked.columns]
    for batch, share in _of_parquet(path, asked.columns) if _is_parquet(path) else _of_others(path, names):
        asked.advance(int(share * os.path.getsize(path)))
        for arrays in sliced([batch], names):
            yield from plain_batches(arrays, asked.columns, names)


def _is_parquet(path: str) -> bool:
    return path.lower().endswith(".parquet")


def _dataset(path: str) -> Any:
    """An Arrow or an ORC file, whatever characters are in its path."""
    arrow, files = import_module("pyarrow.dataset"), import_module("pyarrow.fs")
    kind = "orc" if path.lower().endswith(".orc") else "feather"
    return arrow.dataset(path, format=kind, filesystem=files.LocalFileSystem())


def _of_others(path: str, names: Sequence[str]) -> Iterator[tuple[RecordBatch, float]]:
    """Batches of an Arrow or an ORC file, and which part of the file each is."""
    dataset = _dataset(path)
    columns = {name: pc.field(name) for name in first_of(dataset.schema, names)}  # a dot would be taken for a way
    total = dataset.count_rows()
    for batch in dataset.to_batches(columns=columns, batch_size=BATCH_ROWS, batch_readahead=1, fragment_readahead=1):
        batch.validate()
        yield batch, batch.num_rows / total


def _of_parquet(path: str, columns: Sequence[Column]) -> Iterator[tuple[RecordBatch, float]]:
    names = [column.name for column in columns]
    metadata = pq.read_metadata(path)
    for position in range(metadata.num_row_groups):
        written_out, repeated, batch_rows = _plan(metadata.row_group(position), columns)
        for name in written_out:
            if _longest_repeated(path, metadata, position, name) * batch_rows > PIECE_BYTES:
                repeated.append(name)
        with _parquet(path, metadata, repeated) as file:
            for batch in file.iter_batches(batch_size=batch_rows, row_groups=[position], columns=names):
                yield batch, batch.num_rows / metadata.num_rows


def _parquet(path: str, metadata: Any, repeated: Sequence[str]) -> Any:
    how = {"read_dictionary": list(repeated), "pre_buffer": False, "buffer_size": _BUFFER_BYTES}
    return pq.ParquetFile(path, metadata=metadata, **how)


def _longest_repeated(path: str, metadata: Any, position: int, name: str) -> int:
    """Bytes of the longest text in the dictionary of a row group."""
    with _parquet(path, metadata, [name]) as file:
        # The first row comes with the whole dictionary.
        batches = file.iter_batches(batch_size=1, row_groups=[position], columns=[name])
        column: Any = next((taken(batch, [name])[0] for batch in batches), None)
    if not isinstance(column, pa.DictionaryArray) or not len(column.dictionary):
        return 0
    return pc.max(pc.binary_length(column.dictionary)).as_py() or 0


def _plan(group: Any, columns: Sequence[Column]) -> tuple[list[str], list[str], int]:
    """How to read a row group with a limited amount of text at a time.

    Returns:
        The columns whose text is, on average, written out in each row; the columns whose text is in a dictionary, to be
        read as such; and the number of rows at a time, smaller if rows are long.
    """
    sizes = dict.fromkeys((column.name for column in columns if column.holds in (Holds.TEXT, Holds.BYTES)), 0)
    for place in range(group.num_columns):
        chunk = group.column(place)
        if chunk.path_in_schema in sizes and chunk.physical_type == "BYTE_ARRAY":
            sizes[chunk.path_in_schema] += chunk.total_uncompressed_size
    repeated = [name for name, size in sizes.items() if 0 < size < _BYTES_OF_A_REFERENCE * group.num_rows]
    written_out = [name for name, size in sizes.items() if size and name not in repeated]
    size = sum(sizes[name] for name in written_out)
    return written_out, repeated, max(1, min(BATCH_ROWS, group.num_rows * _READ_BYTES // max(1, size)))
