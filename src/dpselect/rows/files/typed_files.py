"""Parquet, Arrow files (Feather) and ORC: types from the footer, the columns asked for streamed batch by batch.

Parquet is read with Arrow, which does not check text. A reader that checks it during the scan fails at the first value
that is not UTF-8, and then the failure and its message depend on one row.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from dpselect.errors import Shown
from dpselect.formats import Format
from dpselect.rows.columns import Column, Holds, check_names
from dpselect.rows.duckdb import arrow
from dpselect.rows.duckdb.arrow import BATCH_ROWS, RecordBatch, pa, pc, plain_batches, pq
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
    check_names(found.names, shown=str(shown))
    return arrow.columns_of(found)


def schema(path: str) -> Any:
    """The Arrow schema of the file, from its footer."""
    with pa.OSFile(path) as file:
        return pq.read_schema(file) if _starts_with(file, b"PAR1") else _opened(file).schema


def rows(asked: Reading) -> Iterator[RecordBatch]:
    """Some columns of every row, in batches."""
    names = [column.name for column in asked.columns]
    with pa.OSFile(asked.path) as file:
        is_parquet = _starts_with(file, b"PAR1")
        for batch, share in _of_parquet(asked.path, asked.columns) if is_parquet else _of_others(file, names):
            asked.advance(int(share * os.path.getsize(asked.path)))
            for arrays in arrow.sliced([batch], names):
                yield from plain_batches(arrays, asked.columns, names)


def _starts_with(file: Any, signature: bytes) -> bool:
    start = file.read(len(signature))
    file.seek(0)
    return bool(start == signature)


def _opened(file: Any, **options: Any) -> Any:
    """A reader of an Arrow or an ORC file."""
    if not _starts_with(file, b"ORC"):
        return pa.ipc.open_file(file, **options)
    from pyarrow import orc  # not in every build of Arrow  # pyright: ignore[reportMissingTypeStubs]

    reader: Any = orc.ORCFile
    return reader(file)


def _of_others(file: Any, names: Sequence[str]) -> Iterator[tuple[RecordBatch, float]]:
    """Batches of an Arrow file or stripes of an ORC file, and which part of the file each is."""
    opened = _opened(file)
    first = arrow.first_of(opened.schema, names)
    if hasattr(opened, "nstripes"):
        # A name with a point in it would be taken for a path into a nested column.
        wanted = None if any("." in name for name in first) else first
        number, read = opened.nstripes, partial(opened.read_stripe, columns=wanted)
    else:
        places = sorted(opened.schema.get_field_index(name) for name in first)
        file.seek(0)
        opened = _opened(file, options=pa.ipc.IpcReadOptions(included_fields=places))
        number, read = opened.num_record_batches, opened.get_batch
    for at in range(number):
        batch = read(at)
        batch.validate()
        yield batch, 1 / number


def _of_parquet(path: str, columns: Sequence[Column]) -> Iterator[tuple[RecordBatch, float]]:
    names = [column.name for column in columns]
    metadata = pq.read_metadata(path)
    for position in range(metadata.num_row_groups):
        written_out, repeated, batch_rows = _plan(metadata.row_group(position), columns)
        for name in written_out:
            if _longest_repeated(path, metadata, position, name) * batch_rows > arrow.PIECE_BYTES:
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
        column: Any = next((arrow.taken(batch, [name])[0] for batch in batches), None)
    if not isinstance(column, pa.DictionaryArray) or not len(column.dictionary):
        return 0
    return pc.max(pc.binary_length(column.dictionary)).as_py() or 0


def _plan(group: Any, columns: Sequence[Column]) -> tuple[list[str], list[str], int]:
    """How to read a row group with a limited amount of text at a time.

    Returns:
        Columns whose text is, on average, written out in each row; those whose text is in a dictionary, to be read as
        such; and the number of rows at a time, smaller if rows are long.
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
