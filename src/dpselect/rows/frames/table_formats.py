"""Tables of Delta and Iceberg, through their own libraries: the rows that are there, streamed file by file.

Arrow reads the files of a Delta table that needs nothing beyond them, whatever bytes a text has. A table with *deletion
vectors* or *mapped columns* is read by the query engine inside deltalake, which stops at the first text that is not
UTF-8. Whether reading succeeds must not depend on a row, so text of such a table is refused by its type.

Of Iceberg only a table object is accepted: the folder alone does not tell which metadata is current. One data file is
read at a time, because the library's own stream of a whole table reads several as a whole at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from dpselect.errors import InvalidDataError, MissingExtraError, Shown
from dpselect.rows.columns import Column, Holds
from dpselect.rows.duckdb.arrow import first_of, holds_of, pa, sliced
from dpselect.rows.failures import TranslatedErrors, reading
from dpselect.rows.frames.frame import Batches, Frame, check_unchanged, columns_in, of_fragments

_PLAIN_FEATURES = frozenset({"timestampNtz"})
"""What a reader of the files alone may leave to them."""

_MAPPED = "delta.columnMapping.mode"

_LOG = "Its log is damaged, needs a later version of deltalake, or is in a folder whose name has a % sign."
_GONE = "One of its files is damaged or gone."

_NOT_TEXT = (
    "The table has deletion vectors or mapped columns, and the reader of those stops at text that is not UTF-8."
    " Write the files anew without them, in Spark: REORG TABLE ... APPLY (PURGE)."
)
_DELETES = "It may have equality deletes, which pyiceberg cannot apply: compact it, in Spark by rewrite_data_files."

_ICEBERG = "<Iceberg table>"
_WITHOUT_CATALOGUE = "static-table"
"""What pyiceberg calls a table that was opened by the path of its metadata, which then follows."""


def _read_by(library: str, shown: str, hint: str) -> TranslatedErrors:
    """Turns the errors of a library into one that names the table and gives a hint, and no row."""
    return reading(shown, hint=hint, expected=f"a table that {library} can read")


def of_delta(given: Any) -> Frame:
    """The rows of a Delta table.

    Args:
        given: the table's folder, whose newest version each question reads; or a ``deltalake.DeltaTable``, which stays
            at the version that it has.

    Raises:
        MissingExtraError: the extra ``delta`` is not installed.
        InvalidDataError: the log is damaged, the table needs what deltalake cannot do, or it has no columns.
    """
    shown = repr(given) if isinstance(given, str) else "<Delta table>"
    opened = _delta_columns(_delta(given, shown), shown)

    def read(columns: Sequence[Column]) -> Batches:
        table, names = _delta(given, shown), [column.name for column in columns]
        check_unchanged(_delta_columns(table, shown), opened, shown=shown)
        with _read_by("deltalake", shown, _GONE):
            if _is_plain(table):
                dataset = table.to_pyarrow_dataset()
                _check_files(dataset, first_of(dataset.schema, names), shown)
                yield from of_fragments(dataset, columns)
            else:
                yield from sliced(pa.RecordBatchReader.from_stream(table.scan(columns=names)), names)

    def known_as() -> str:
        table = _delta(given, shown)
        return f"<Delta table {table.metadata().id}, version {table.version()}>"

    # A folder names itself.
    name = None if isinstance(given, str) else unquote(str(given.table_uri).rstrip("/").rpartition("/")[2]) or None
    return Frame(shown, opened, read, known_as=known_as, table_name=name)


def _delta(given: Any, shown: str) -> Any:
    """The table at a path; a table as it is."""
    if not isinstance(given, str):
        return given
    try:
        library = import_module("deltalake")
    except ImportError:
        raise MissingExtraError("Delta tables", "delta") from None
    with _read_by("deltalake", shown, _LOG):
        return library.DeltaTable(Path(given).absolute())


def _is_plain(table: Any) -> bool:
    """Whether the files that the log lists hold exactly the table's rows, under the names of its columns."""
    protocol, settings = table.protocol(), table.metadata().configuration
    features = set(protocol.reader_features or ())
    return features <= _PLAIN_FEATURES and settings.get(_MAPPED, "none") == "none"


def _delta_columns(table: Any, shown: str) -> tuple[Column, ...]:
    with _read_by("deltalake", shown, _LOG):
        if _is_plain(table):
            return columns_in(table.to_pyarrow_dataset().schema, shown)
        schema = pa.RecordBatchReader.from_stream(table.scan()).schema
    found = columns_in(schema, shown)[: len(schema)]  # without fields of structs, which are read as a whole
    return tuple(Column(each.name, Holds.OTHER, hint=_NOT_TEXT) if each.holds is Holds.TEXT else each for each in found)


def _check_files(dataset: Any, names: Sequence[str], shown: str) -> None:
    """The types in each file have to be the table's: Arrow would convert values, and one might not fit."""
    types = {name: _width(dataset.schema.field(name).type) for name in names}
    for fragment in dataset.get_fragments():
        held = {field.name: _width(field.type) for field in fragment.physical_schema}
        if any(held.get(name, type_) != type_ for name, type_ in types.items()):
            raise InvalidDataError("source", Shown(shown), "files with the types of the table's schema")


def _width(type_: Any) -> Any:
    """The type; of text and of bytes, whose lengths may be stored in several ways, only what they hold."""
    holds = holds_of(type_)
    return holds if holds in (Holds.TEXT, Holds.BYTES) else type_


def of_iceberg(table: Any) -> Frame:
    """The rows of a ``pyiceberg.table.Table``, of the snapshot that it has when a question is asked.

    Raises:
        InvalidDataError: the list of files cannot be read, pyiceberg cannot apply the table's deletes, or it has no
            columns.
    """
    opened = _iceberg_columns(table)
    _files(table.scan())

    def read(columns: Sequence[Column]) -> Batches:
        check_unchanged(_iceberg_columns(table), opened, shown=_ICEBERG)
        names = [column.name for column in columns]
        scan = table.scan(selected_fields=tuple(first_of(table.schema().as_arrow(), names)))
        with _read_by("pyiceberg", _ICEBERG, _GONE):
            arrow = import_module("pyiceberg.io.pyarrow")
            scanned = arrow.ArrowScan(table.metadata, table.io, scan.projection(), scan.row_filter)
            for task in _files(scan):
                yield from sliced(scanned.to_record_batches([task]), names)

    def known_as() -> str:
        return f"<Iceberg table {table.metadata.table_uuid}, snapshot {table.metadata.current_snapshot_id}>"

    def rows() -> int:
        return sum(task.file.record_count for task in _files(table.scan()))  # also those that were deleted since

    name = table.name()
    called = None if name[0] == _WITHOUT_CATALOGUE else ".".join(name)
    return Frame(_ICEBERG, opened, read, rows=rows, known_as=known_as, table_name=called)


def _iceberg_columns(table: Any) -> tuple[Column, ...]:
    with _read_by("pyiceberg", _ICEBERG, "Its schema has a type of a later version."):
        schema = table.schema().as_arrow()
    return columns_in(schema, _ICEBERG)


def _files(scan: Any) -> list[Any]:
    """The data files with the deletes that apply to each."""
    with _read_by("pyiceberg", _ICEBERG, _DELETES):
        return list(scan.plan_files())
