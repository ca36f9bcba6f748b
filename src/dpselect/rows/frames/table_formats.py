"""Tables of Delta and Iceberg, through their own libraries: the rows that are there, streamed file by file.

A Delta table with *deletion vectors* or *mapped columns* is read by the query engine inside deltalake, which stops at
the first text that is not UTF-8. Whether reading succeeds must not depend on a row, so its text is refused by its type.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from dpselect.errors import InvalidDataError, MissingExtraError, Shown
from dpselect.rows.columns import Holds
from dpselect.rows.duckdb.arrow import BATCH_ROWS, RecordBatch, holds_of, no_type, pa, pc
from dpselect.rows.failures import reading
from dpselect.rows.frames.frame import Frame, Now

_PLAIN_FEATURES = frozenset({"timestampNtz"})
"""What a reader of the files alone may leave to them."""
_LOG = "Its log is damaged, needs a later version of deltalake, or is in a folder whose name has a % sign."
_GONE = "One of its files is damaged or gone."
_NOT_TEXT = (
    "The table has deletion vectors or mapped columns, and the reader of those stops at text that is not UTF-8."
    " Write the files anew without them, in Spark: REORG TABLE ... APPLY (PURGE)."
)
_DELETES = "It may have equality deletes, which pyiceberg cannot apply: compact it, in Spark by rewrite_data_files."
_BY_DELTALAKE, _BY_PYICEBERG = "a table that deltalake can read", "a table that pyiceberg can read"
_ICEBERG = "<Iceberg table>"


def of_delta(given: Any) -> Frame:
    """The rows of a Delta table.

    Args:
        given: the table's folder, whose newest version each question reads; or a ``deltalake.DeltaTable``, which stays
            at the version that it has.
    """

    def now() -> Now:
        table = _delta(given, shown)
        with reading(shown, hint=_LOG, expected=_BY_DELTALAKE):
            features = set(table.protocol().reader_features or ()) - _PLAIN_FEATURES
            # Else the files that its log lists hold exactly its rows, under the names of its columns.
            if features or table.metadata().configuration.get("delta.columnMapping.mode", "none") != "none":
                schema = pa.RecordBatchReader.from_stream(table.scan()).schema
                return _without_text(schema), lambda names: pa.RecordBatchReader.from_stream(table.scan(columns=names))
            dataset = table.to_pyarrow_dataset()
        return dataset.schema, lambda names: _of_files(dataset, names, shown)

    def known_as() -> str:
        table = _delta(given, shown)
        return f"<Delta table {table.metadata().id}, version {table.version()}>"

    shown = repr(given) if isinstance(given, str) else "<Delta table>"
    # A folder names itself.
    name = None if isinstance(given, str) else unquote(str(given.table_uri).rstrip("/").rpartition("/")[2]) or None
    found = Frame.of(shown, now, known_as=known_as, table_name=name, hint=_GONE, expected=_BY_DELTALAKE)
    columns = [replace(each, hint=_NOT_TEXT) if each.holds is Holds.OTHER else each for each in found.columns]
    return replace(found, columns=tuple(columns))


def _delta(given: Any, shown: str) -> Any:
    """The table at a path; a table as it is."""
    if not isinstance(given, str):
        return given
    try:
        library = import_module("deltalake")
    except ImportError:
        raise MissingExtraError("Delta tables", "delta") from None
    with reading(shown, hint=_LOG, expected=_BY_DELTALAKE):
        return library.DeltaTable(Path(given).absolute())


def _without_text(schema: Any) -> Any:
    """With a type that no question takes for text, and for structs, which are read as a whole."""
    refused = (Holds.TEXT, Holds.NESTED)
    return pa.schema([(each.name, no_type() if holds_of(each.type) in refused else each.type) for each in schema])


def _of_files(dataset: Any, names: list[str], shown: str) -> Iterator[RecordBatch]:
    """The rows of the files, whose types have to be the table's: Arrow would convert values, and one might not fit."""
    types = {name: _width(dataset.schema.field(name).type) for name in names}
    for fragment in dataset.get_fragments():
        held = {field.name: _width(field.type) for field in fragment.physical_schema}
        if any(held.get(name, type_) != type_ for name, type_ in types.items()):
            raise InvalidDataError("source", Shown(shown), "files with the types of the table's schema")
    columns = {name: pc.field(name) for name in names}  # a name with a dot in it would be taken for a way
    yield from dataset.to_batches(columns=columns, batch_size=BATCH_ROWS, batch_readahead=2)


def _width(type_: Any) -> Any:
    """The type; of text and of bytes, whose lengths may be stored in several ways, only what they hold."""
    holds = holds_of(type_)
    return holds if holds in (Holds.TEXT, Holds.BYTES) else type_


def of_iceberg(table: Any) -> Frame:
    """The rows of a ``pyiceberg.table.Table``, of the snapshot that it has when a question is asked.

    One data file is read at a time, because the library's own stream reads several as a whole at once.
    """

    def now() -> Now:
        return table.schema().as_arrow(), read

    def read(names: list[str]) -> Iterator[RecordBatch]:
        scan = table.scan(selected_fields=tuple(names))
        arrow = import_module("pyiceberg.io.pyarrow")
        scanned = arrow.ArrowScan(table.metadata, table.io, scan.projection(), scan.row_filter)
        for task in _files(scan):
            yield from scanned.to_record_batches([task])

    def known_as() -> str:
        return f"<Iceberg table {table.metadata.table_uuid}, snapshot {table.metadata.current_snapshot_id}>"

    def rows() -> int:
        return sum(task.file.record_count for task in _files(table.scan()))  # also those that were deleted since

    name = table.name()
    called = None if name[0] == "static-table" else ".".join(name)  # opened by the path of its metadata, which follows
    about = {"table_name": called, "hint": _GONE, "expected": _BY_PYICEBERG}
    found = Frame.of(_ICEBERG, now, rows=rows, known_as=known_as, **about)
    _files(table.scan())
    return found


def _files(scan: Any) -> list[Any]:
    """The data files with the deletes that apply to each."""
    with reading(_ICEBERG, hint=_DELETES, expected=_BY_PYICEBERG):
        return list(scan.plan_files())
