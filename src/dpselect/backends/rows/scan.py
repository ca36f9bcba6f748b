"""One pass over a source, with its progress, a way to stop it, and a safe message if it fails."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dpselect.backends.columns import Column
from dpselect.backends.failures import TranslatedErrors
from dpselect.backends.rows.arrow import ARROW_TYPES, RecordBatch, pa
from dpselect.backends.rows.connection import Connection
from dpselect.backends.rows.declared import as_read
from dpselect.backends.rows.direct import DirectScan, ParquetBacked
from dpselect.backends.rows.duckdb_dialect import trimmed_units
from dpselect.backends.rows.long_text import ShortValues, short_units
from dpselect.backends.rows.source import Source
from dpselect.errors import InvalidDataError, SelectionError, Shown
from dpselect.formats import Format
from dpselect.summaries import CandidateKind, PublicCandidates


class Scan:
    """Rows of a source as a stream of Arrow batches with the columns that a question needs.

    Attributes:
        columns: the source's columns, by their names in the query. ``unit`` is the unit; all others, except those in
            `candidates`, are numbers.
        lots: names of additional columns, with 64 bits of the operating system's randomness in each row.
        failure: the error to raise if the stream failed, else None.
    """

    def __init__(
        self,
        source: Source,
        columns: Mapping[str, Column],
        *,
        candidates: Mapping[str, PublicCandidates | CandidateKind],
        lots: Sequence[str] = (),
        format: Format | None = None,
    ) -> None:
        self.columns, self.lots = dict(columns), tuple(lots)
        self._short = {name: ShortValues.of(candidates.get(name)) for name in columns if name != "unit"}
        self.failure: SelectionError | None = None
        self._source, self._format = source, format
        self._done, self._stopped = 0, False
        with self._reading():
            self._total = source.size()

    @property
    def source(self) -> Shown:
        """The table's name in errors."""
        return Shown(self._source.shown)

    @property
    def paths(self) -> tuple[str, ...]:
        """Files that the engine has to read: none, because it gets a stream."""
        return ()

    def direct(self) -> DirectScan | None:
        """A direct scan of the same rows, if the engine can read the files by itself."""
        source = self._source
        if self.lots or not isinstance(source, ParquetBacked):
            return None
        files = source.parquet(list(self.columns.values()))
        return None if files is None else DirectScan(files, self.columns)

    def attach(self, connection: Connection) -> None:
        """Give the stream to the engine as the table ``rows``; it can be read once."""
        connection.register("rows", self.reader())

    def fraction(self, connection: Connection) -> float:
        """The fraction of the input that was read, from 0 to 1."""
        return min(1.0, self._done / self._total) if self._total else 1.0

    def stop(self) -> None:
        """Stop at the next batch."""
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
            arrays[name] = short(as_read(arrays[name], self.columns[name], short.kind, self._format))
        for name in self.lots:
            arrays[name] = np.frombuffer(os.urandom(8 * rows), np.int64)
        return pa.RecordBatch.from_pydict(arrays)

    def _advance(self, amount: int) -> None:
        self._done += amount


def explained(error: BaseException, source: Shown) -> SelectionError:
    """A message that is safe to show: it tells a lack of memory from unreadable data, and no more."""
    if isinstance(error, MemoryError):
        return SelectionError("Reading the table needs more memory or temporary disk space than there is.")
    return InvalidDataError("source", source, "a table that can be read to its end")
