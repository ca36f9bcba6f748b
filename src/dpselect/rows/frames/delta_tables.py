"""Delta tables, through the library deltalake: the rows that its log says are there, streamed file by file.

Arrow reads the files of a table that needs nothing beyond them. It does so whatever bytes a text has. A table with
*deletion vectors* or *mapped columns* is read by the query engine inside deltalake, which stops at the first text that
is not UTF-8. Whether reading succeeds must not depend on a row, so text of such a table is refused by its type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from dpselect.errors import InvalidDataError, MissingExtraError, Shown
from dpselect.rows.columns import Column, Holds
from dpselect.rows.duckdb.arrow import BATCH_ROWS, RecordBatch, holds_of, pa, pc
from dpselect.rows.frames.streams import check_unchanged, columns_in, converted, named_columns, read_by

_PLAIN_FEATURES = frozenset({"timestampNtz"})
"""What a reader of the files alone may leave to them."""

_MAPPED = "delta.columnMapping.mode"

_LOG = "Its log is damaged, needs a later version of deltalake, or is in a folder whose name has a % sign."

_NOT_TEXT = (
    "The table has deletion vectors or mapped columns, and the reader of those stops at text that is not UTF-8."
    " Write the files anew without them, in Spark: REORG TABLE ... APPLY (PURGE)."
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DeltaSource:
    """The rows of a Delta table.

    Attributes:
        given: the table's folder, whose newest version each question reads; or a ``deltalake.DeltaTable``, which stays
            at the version that it has.
        shown: its name in errors.
        columns: the columns of its schema.
        listed: whether errors may list the columns.
    """

    given: Any
    shown: str
    columns: tuple[Column, ...]
    listed: bool = True

    @classmethod
    def of(cls, given: Any) -> DeltaSource:
        """Read the schema; no row.

        Args:
            given: the path of the folder, or a ``deltalake.DeltaTable``.

        Raises:
            MissingExtraError: the extra ``delta`` is not installed.
            InvalidDataError: the log is damaged, the table needs what deltalake cannot do, or it has no columns.
        """
        shown = repr(given) if isinstance(given, str) else "<Delta table>"
        columns = _columns_of(_opened(given, shown), shown)
        named_columns([each.name for each in columns], [each.holds for each in columns], shown=shown)
        return cls(given, shown, columns)

    @property
    def table_name(self) -> str | None:
        """The last part of where it is; a folder names itself."""
        if isinstance(self.given, str):
            return None
        return unquote(str(self.given.table_uri).rstrip("/").rpartition("/")[2]) or None

    @property
    def origin(self) -> str:
        """The table's own id and its version, for a ledger."""
        table = _opened(self.given, self.shown)
        return f"<Delta table {table.metadata().id}, version {table.version()}>"

    def size(self) -> int:
        """0: not known before the end."""
        return 0

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """The columns asked for, in batches."""
        table = _opened(self.given, self.shown)
        check_unchanged(_columns_of(table, self.shown), self.columns, shown=self.shown)
        with read_by("deltalake", self.shown, "One of its files is damaged or gone."):
            found = _by_arrow(table, columns, self.shown) if _is_plain(table) else _by_deltalake(table, columns)
            yield from converted(found, columns, advance)


def _opened(given: Any, shown: str) -> Any:
    """The table at a path; a table as it is."""
    if not isinstance(given, str):
        return given
    try:
        library = import_module("deltalake")
    except ImportError:
        raise MissingExtraError("Delta tables", "delta") from None
    with read_by("deltalake", shown, _LOG):
        return library.DeltaTable(Path(given).absolute())


def _is_plain(table: Any) -> bool:
    """Whether the files that the log lists hold exactly the table's rows, under the names of its columns."""
    protocol, settings = table.protocol(), table.metadata().configuration
    features = set(protocol.reader_features or ())
    return features <= _PLAIN_FEATURES and settings.get(_MAPPED, "none") == "none"


def _columns_of(table: Any, shown: str) -> tuple[Column, ...]:
    with read_by("deltalake", shown, _LOG):
        if _is_plain(table):
            return columns_in(table.to_pyarrow_dataset().schema)
        columns = columns_in(pa.RecordBatchReader.from_stream(table.scan()).schema)
    return tuple(
        Column(each.name, Holds.OTHER, hint=_NOT_TEXT) if each.holds is Holds.TEXT else each for each in columns
    )


def _by_arrow(table: Any, columns: Sequence[Column], shown: str) -> Iterator[RecordBatch]:
    """File by file. The types in each have to be the table's: Arrow would convert values, and one might not fit."""
    dataset = table.to_pyarrow_dataset()
    types = {column.name: _width(dataset.schema.field(column.name).type) for column in columns}
    for fragment in dataset.get_fragments():
        held = {field.name: _width(field.type) for field in fragment.physical_schema}
        if any(held.get(name, type_) != type_ for name, type_ in types.items()):
            raise InvalidDataError("source", Shown(shown), "files with the types of the table's schema")
    wanted = {str(at): pc.field(column.name) for at, column in enumerate(columns)}
    yield from dataset.to_batches(columns=wanted, batch_size=BATCH_ROWS, batch_readahead=2)


def _width(type_: Any) -> Any:
    """The type; of text and of bytes, whose lengths may be stored in several ways, only what they hold."""
    holds = holds_of(type_)
    return holds if holds in (Holds.TEXT, Holds.BYTES) else type_


def _by_deltalake(table: Any, columns: Sequence[Column]) -> Iterator[RecordBatch]:
    yield from pa.RecordBatchReader.from_stream(table.scan(columns=[column.name for column in columns]))
