"""One pass over a source: how far it is, how to stop it, and what went wrong in words that are safe."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dpselect.backends.columns import Column
from dpselect.backends.failures import TranslatedErrors
from dpselect.backends.rows.arrow import ARROW_TYPES, RecordBatch, pa
from dpselect.backends.rows.connection import Connection
from dpselect.backends.rows.direct import DirectScan, ParquetBacked
from dpselect.backends.rows.duckdb_dialect import trimmed_units
from dpselect.backends.rows.long_text import ShortValues, short_units
from dpselect.backends.rows.source import Source
from dpselect.errors import InvalidDataError, SelectionError, Shown
from dpselect.summaries import PublicCandidates


class Scan:
    """Rows of a source as a stream of Arrow batches with the columns that a question asks for.

    Attributes:
        columns: by the name the query knows it by, the column of the source; ``unit`` is who the row belongs to.
            All others but those of `candidates` are numbers.
        lots: names of further columns, each 64 bits for each row, of the operating system's randomness and of nothing
            else.
        failure: the error to raise if the stream broke off; None as long as it did not.
    """

    def __init__(
        self,
        source: Source,
        columns: Mapping[str, Column],
        *,
        candidates: Mapping[str, PublicCandidates],
        lots: Sequence[str] = (),
    ) -> None:
        self.columns, self.lots = dict(columns), tuple(lots)
        self._short = {name: ShortValues.of(candidates.get(name)) for name in columns if name != "unit"}
        self.failure: SelectionError | None = None
        self._source = source
        self._done, self._stopped = 0, False
        with self._reading():
            self._total = source.size()

    @property
    def source(self) -> Shown:
        """What the caller called the table."""
        return Shown(self._source.shown)

    @property
    def paths(self) -> tuple[str, ...]:
        """Files that the engine has to reach: none, as what it needs is handed to it."""
        return ()

    def direct(self) -> DirectScan | None:
        """Another way to read the same rows, if there are files that the engine can read by itself."""
        source = self._source
        if self.lots or not isinstance(source, ParquetBacked):
            return None
        files = source.parquet(list(self.columns.values()))
        return None if files is None else DirectScan(files, self.columns)

    def attach(self, connection: Connection) -> None:
        """Hand the stream to the engine as the table ``rows``; it can be read once."""
        connection.register("rows", self.reader())

    def fraction(self, connection: Connection) -> float:
        """How much of the input has been read, from 0 to 1."""
        return min(1.0, self._done / self._total) if self._total else 1.0

    def stop(self) -> None:
        """Break off at the next batch."""
        self._stopped = True

    def reader(self) -> Any:
        """The stream."""
        fields = [(name, ARROW_TYPES[column.holds]) for name, column in self.columns.items()]
        fields += [(name, pa.int64()) for name in self.lots]
        return pa.RecordBatchReader.from_batches(pa.schema(fields), self._batches())

    def _batches(self) -> Iterator[RecordBatch]:
        asked = list(dict.fromkeys(self.columns.values()))
        try:
            with self._reading():
                for batch in self._source.batches(asked, self._advance):
                    if self._stopped:
                        return
                    yield self._named(dict(zip(asked, batch.columns, strict=True)), batch.num_rows)
        except SelectionError as error:
            self.failure = error
            raise

    def _reading(self) -> TranslatedErrors:
        return TranslatedErrors(lambda error: explained(error, self.source))

    def _named(self, read: dict[Column, Any], rows: int) -> RecordBatch:
        arrays = {name: read[column] for name, column in self.columns.items()}
        arrays["unit"] = short_units(trimmed_units(arrays["unit"], self.columns["unit"].holds))
        for name, short in self._short.items():
            arrays[name] = short(arrays[name])
        for name in self.lots:
            arrays[name] = np.frombuffer(os.urandom(8 * rows), np.int64)
        return pa.RecordBatch.from_pydict(arrays)

    def _advance(self, amount: int) -> None:
        self._done += amount


def explained(error: BaseException, source: Shown) -> SelectionError:
    """The little that may be said: whether it was the machine or the data, never which data."""
    if isinstance(error, MemoryError):
        return SelectionError("Reading the table needs more memory or temporary disk space than there is.")
    return InvalidDataError("source", source, "a table that can be read to its end")
