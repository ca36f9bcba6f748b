"""One pass over all files of a table: how far it is, how to stop it, and what went wrong in words that are safe."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpselect.backends.columns import Column
from dpselect.backends.files import csv_lines, parquet_rows
from dpselect.backends.files.table import FileTable, Format, read_columns
from dpselect.backends.rows import matching
from dpselect.backends.rows.arrow import ARROW_TYPES, RecordBatch, pa
from dpselect.errors import InvalidDataError, SelectionError, Shown


class Scan:
    """Rows of a table as a stream of Arrow batches with the columns ``unit`` and ``value``.

    Attributes:
        unit: the column behind ``unit``.
        column: the column behind ``value``.
        lots: whether each row also gets a ``lot``, 64 bits of the operating system's randomness and of nothing else.
        failure: the error to raise if the stream broke off; None as long as it did not.
    """

    def __init__(self, table: FileTable, *, unit: Column, column: Column, lots: bool = False) -> None:
        self.unit, self.column, self.lots = unit, column, lots
        self.failure: SelectionError | None = None
        self._table = table
        self._done, self._stopped = 0, False
        sizes = os.path.getsize if table.format is Format.CSV else parquet_rows.row_count
        self._total = 0
        for position, path in enumerate(table.paths):
            try:
                self._total += sizes(path)
            except (OSError, pa.ArrowException):
                raise self._unreadable(position) from None

    @property
    def source(self) -> Shown:
        """What the caller called the table."""
        return Shown(repr(self._table.source))

    @property
    def fraction(self) -> float:
        """How much of the input has been read, from 0 to 1: bytes of CSV, rows of Parquet."""
        return min(1.0, self._done / self._total) if self._total else 1.0

    def stop(self) -> None:
        """Break off at the next batch."""
        self._stopped = True

    def reader(self) -> Any:
        """The stream; it can be read once."""
        fields = [("unit", ARROW_TYPES[self.unit.holds]), ("value", ARROW_TYPES[self.column.holds])]
        if self.lots:
            fields.append(("lot", pa.uint64()))
        return pa.RecordBatchReader.from_batches(pa.schema(fields), self._batches())

    def _batches(self) -> Iterator[RecordBatch]:
        for position, path in enumerate(self._table.paths):
            try:
                for batch in self._batches_of(path, position):
                    if self._stopped:
                        return
                    columns = {
                        "unit": matching.known_units(batch.column(0), self.unit.holds),
                        "value": batch.column(1),
                    }
                    if self.lots:
                        columns["lot"] = np.frombuffer(os.urandom(8 * batch.num_rows), np.uint64)
                    yield pa.RecordBatch.from_pydict(columns)
            except SelectionError as error:
                self.failure = error
                raise
            except (OSError, pa.ArrowException):
                self.failure = self._unreadable(position)
                raise self.failure from None

    def _batches_of(self, path: str, position: int) -> Iterator[RecordBatch]:
        table = self._table
        if read_columns(path, table.format, table.label(position)) != table.columns:
            raise self._unreadable(position)
        if table.format is Format.PARQUET:
            return parquet_rows.rows(path, unit=self.unit, value=self.column, advance=self._advance)
        unit_at, value_at = (table.columns.index(column) for column in (self.unit, self.column))
        width = len(table.columns)
        return csv_lines.rows(path, width=width, unit_at=unit_at, value_at=value_at, advance=self._advance)

    def _advance(self, amount: int) -> None:
        self._done += amount

    def _unreadable(self, position: int) -> InvalidDataError:
        hint = "It is damaged, or changed while it was read."
        return InvalidDataError("source", self._table.label(position), "a file that can be read to its end", hint)
