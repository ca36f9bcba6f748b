"""Arrow files (Feather) and ORC: types from the footer, the asked columns read one batch or stripe after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dpselect.errors import InvalidDataError, Shown
from dpselect.rows.columns import Column
from dpselect.rows.duckdb.arrow import BATCH_ROWS, RecordBatch, columns_of, pa, taken, ways_of
from dpselect.rows.duckdb.plain import plain_batches
from dpselect.rows.failures import TranslatedErrors

_ORC_SIGNATURE = b"ORC"


def read_columns(path: str, shown: Shown) -> tuple[Column, ...]:
    """The columns of the file's schema, and the fields of its structs.

    Raises:
        InvalidDataError: the footer cannot be read, or two columns have the same name.
    """
    damaged = InvalidDataError("source", shown, "a file that can be read", "Its footer is damaged.")
    with TranslatedErrors(lambda _: damaged, OSError, pa.ArrowException), pa.OSFile(path) as file:
        schema = _opened(file).schema
    if len(set(schema.names)) < len(schema.names):
        raise InvalidDataError("source", shown, "columns with different names")
    return columns_of(schema)


def rows(path: str, columns: Sequence[Column], *, advance: Callable[[int], None]) -> Iterator[RecordBatch]:
    """Some columns of every row, in batches, in types that no later step can stumble over.

    Args:
        path: a file whose columns were read before.
        columns: those wanted, in this order.
        advance: called with the number of batches or stripes read since the last call.
    """
    names = [column.name for column in columns]
    with pa.OSFile(path) as file:
        for batch in _batches(file, names):
            advance(1)
            batch.validate()
            found = taken(batch, names)
            for start in range(0, batch.num_rows, BATCH_ROWS):
                yield from plain_batches([each.slice(start, BATCH_ROWS) for each in found], columns, names)


def batch_count(path: str) -> int:
    """Batches or stripes, from the footer."""
    with pa.OSFile(path) as file:
        opened = _opened(file)
        return opened.nstripes if _is_orc(opened) else opened.num_record_batches


def _opened(file: Any) -> Any:
    start = file.read(len(_ORC_SIGNATURE))
    file.seek(0)
    if start != _ORC_SIGNATURE:
        return pa.ipc.open_file(file)
    from pyarrow import orc  # not in every build of Arrow  # pyright: ignore[reportMissingTypeStubs]

    orc_file: Any = orc.ORCFile
    return orc_file(file)


def _is_orc(opened: Any) -> bool:
    return hasattr(opened, "nstripes")


def _batches(file: Any, names: Sequence[str]) -> Iterator[Any]:
    opened = _opened(file)
    ways = ways_of(opened.schema)
    names = [ways[name][0][0] for name in names]
    if _is_orc(opened):
        # A name with a point in it would be taken for a path into a nested column.
        wanted = None if any("." in name for name in names) else list(dict.fromkeys(names))
        yield from (opened.read_stripe(at, columns=wanted) for at in range(opened.nstripes))
        return
    places = sorted({opened.schema.get_field_index(name) for name in names})
    file.seek(0)
    opened = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=places))
    yield from (opened.get_batch(at) for at in range(opened.num_record_batches))
