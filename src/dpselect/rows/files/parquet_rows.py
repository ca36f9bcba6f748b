"""Parquet: types come from the footer, and the columns asked for are streamed batch by batch.

Files are read with Arrow, which does not check text. A reader that checks it during the scan fails at the first value
that is not UTF-8, and then the failure and its message depend on one row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dpselect.errors import InvalidDataError, Shown
from dpselect.rows.columns import Column, Holds
from dpselect.rows.duckdb.arrow import BATCH_ROWS, RecordBatch, columns_of, pa, pc, pq, taken
from dpselect.rows.duckdb.plain import PIECE_BYTES, plain_batches
from dpselect.rows.failures import TranslatedErrors

_READ_BYTES = 1 << 18
"""Bytes of text read at a time if all rows were equally long; a small number, because they are not."""

_BUFFER_BYTES = 1 << 20
"""Bytes of each column read from disk at a time; without this limit it would be a whole row group."""

_BYTES_OF_A_REFERENCE = 8
"""If the average text of a row takes fewer bytes than this, it is stored in a dictionary."""


def read_columns(path: str, shown: Shown) -> tuple[Column, ...]:
    """The columns of the file's schema, and the fields of its structs.

    Raises:
        InvalidDataError: the footer cannot be read, or two columns have the same name.
    """
    damaged = InvalidDataError("source", shown, "a Parquet file that can be read", "Its footer is damaged.")
    with TranslatedErrors(lambda _: damaged, OSError, pa.ArrowException):
        found = schema(path)
    if len(set(found.names)) < len(found.names):
        raise InvalidDataError("source", shown, "columns with different names")
    return columns_of(found)


def schema(path: str) -> Any:
    """The Arrow schema of the file, from its footer."""
    return pq.read_schema(path)


def rows(path: str, columns: Sequence[Column], *, advance: Callable[[int], None]) -> Iterator[RecordBatch]:
    """Some columns of every row, in batches, in types that cannot fail in a later step.

    Args:
        path: a file whose columns were read before.
        columns: the columns asked for, in this order.
        advance: called with the number of rows read since the last call.
    """
    names = [column.name for column in columns]
    metadata = pq.read_metadata(path)
    for position in range(metadata.num_row_groups):
        written_out, repeated, batch_rows = _plan(metadata.row_group(position), columns)
        for name in written_out:
            if _longest_repeated(path, metadata, position, name) * batch_rows > PIECE_BYTES:
                repeated.append(name)
        with _opened(path, metadata, repeated) as file:
            for batch in file.iter_batches(batch_size=batch_rows, row_groups=[position], columns=names):
                advance(batch.num_rows)
                yield from plain_batches(taken(batch, names), columns, names)


def _opened(path: str, metadata: Any, repeated: Sequence[str]) -> Any:
    how = {"read_dictionary": list(repeated), "pre_buffer": False, "buffer_size": _BUFFER_BYTES}
    return pq.ParquetFile(path, metadata=metadata, **how)


def _longest_repeated(path: str, metadata: Any, position: int, name: str) -> int:
    """Bytes of the longest text in the dictionary of a row group."""
    with _opened(path, metadata, [name]) as file:
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


def row_count(path: str) -> int:
    """Rows of the file, from its footer."""
    return pq.read_metadata(path).num_rows
