"""Iceberg tables, through the library pyiceberg: the rows of the current snapshot, one data file after another.

Only a table object is accepted. The folder alone does not tell which metadata is current: the catalogue does. One data
file is read at a time, because the library's own stream of a whole table reads several as a whole at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from dpselect.rows.columns import Column
from dpselect.rows.duckdb.arrow import BATCH_ROWS, RecordBatch
from dpselect.rows.frames.streams import check_unchanged, columns_in, converted, named_columns, read_by

_SHOWN = "<Iceberg table>"
_WITHOUT_CATALOGUE = "static-table"
"""What pyiceberg calls a table that was opened by the path of its metadata, which then follows."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class IcebergSource:
    """The rows of an Iceberg table.

    Attributes:
        table: the ``pyiceberg.table.Table``; each question reads the snapshot that it has then.
        columns: the columns of its schema.
        shown: its name in errors.
        listed: whether errors may list the columns.
    """

    table: Any
    columns: tuple[Column, ...]
    shown: str = _SHOWN
    listed: bool = True

    @classmethod
    def of(cls, table: Any) -> IcebergSource:
        """Read the schema and the list of files; no row.

        Raises:
            InvalidDataError: the list cannot be read, pyiceberg cannot apply the table's deletes, or it has no columns.
        """
        columns = _columns_of(table)
        named_columns([each.name for each in columns], [each.holds for each in columns], shown=_SHOWN)
        _files(table.scan())
        return cls(table, columns)

    @property
    def table_name(self) -> str | None:
        """As the catalogue calls it; None without a catalogue."""
        name = self.table.name()
        return None if name[0] == _WITHOUT_CATALOGUE else ".".join(name)

    @property
    def origin(self) -> str:
        """The table's own id and its snapshot, for a ledger."""
        snapshot = self.table.metadata.current_snapshot_id
        return f"<Iceberg table {self.table.metadata.table_uuid}, snapshot {snapshot}>"

    def size(self) -> int:
        """Rows of all data files, also those that were deleted since."""
        return sum(task.file.record_count for task in _files(self.table.scan()))

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """The columns asked for, of one file after another."""
        check_unchanged(_columns_of(self.table), self.columns, shown=_SHOWN)
        names = [column.name for column in columns]
        scan = self.table.scan(selected_fields=tuple(names))
        with read_by("pyiceberg", _SHOWN, "One of its files is damaged or gone."):
            arrow = import_module("pyiceberg.io.pyarrow")
            reading = arrow.ArrowScan(self.table.metadata, self.table.io, scan.projection(), scan.row_filter)
            for task in _files(scan):
                read = reading.to_record_batches([task])
                slices = (
                    batch.select(names).slice(start, BATCH_ROWS)
                    for batch in read
                    for start in range(0, batch.num_rows, BATCH_ROWS)
                )
                yield from converted(slices, columns, advance)


def _columns_of(table: Any) -> tuple[Column, ...]:
    with read_by("pyiceberg", _SHOWN, "Its schema has a type of a later version."):
        return columns_in(table.schema().as_arrow())


def _files(scan: Any) -> list[Any]:
    """The data files with the deletes that apply to each."""
    hint = "It may have equality deletes, which pyiceberg cannot apply: compact it, in Spark by rewrite_data_files."
    with read_by("pyiceberg", _SHOWN, hint):
        return list(scan.plan_files())
