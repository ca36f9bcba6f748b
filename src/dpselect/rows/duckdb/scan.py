"""Sources of rows, and one pass over a source; Parquet files are scanned by the engine itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpselect.errors import SelectionError
from dpselect.formats import Format
from dpselect.rows.columns import Column, Holds
from dpselect.rows.duckdb.arrow import ARROW_TYPES, RecordBatch, of_numpy, pa
from dpselect.rows.duckdb.cells import Cell
from dpselect.rows.duckdb.connection import Connection, literal, quoted
from dpselect.rows.failures import reading

_ENGINE_TYPES = {
    Holds.INTEGERS: ("BIGINT", {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}),
    Holds.UNSIGNED: ("UBIGINT", {"UBIGINT"}),
    Holds.DATES: ("DATE", {"DATE"}),
    Holds.BOOLEANS: ("BOOLEAN", {"BOOLEAN"}),
}
"""The type that each is read as, and the types that the engine has to find in the files."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Source(ABC):
    """Rows that can be read repeatedly, in Arrow batches; only the columns asked for are read.

    Attributes:
        shown, columns, listed: see `dpselect.rows.statements.Engine`.
        has_header: whether the columns are named apart from the rows.
        has_lines: whether the rows have numbers of lines, in the column `LINE`.
        table_name: what a table with a name of its own is called, without folders.
    """

    shown: str
    columns: tuple[Column, ...]
    listed: bool = field(default=True, kw_only=True)
    has_header: bool = field(default=True, kw_only=True)
    has_lines: bool = field(default=False, kw_only=True)
    table_name: str | None = field(default=None, kw_only=True)

    @property
    def origin(self) -> str:
        """By which a ledger tells it from others."""
        return self.shown

    def size(self) -> int:
        """The amount to read, in the same unit as `advance` of `batches`; 0: not known before the end."""
        return 0

    @abstractmethod
    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """The rows, in batches of these columns in this order, each of its type in `ARROW_TYPES`.

        `advance` is called with the amount read since the last call.

        Raises:
            SelectionError: reading failed. The message quotes no row.
        """

    def parquet(self, columns: Sequence[Column]) -> tuple[str, ...] | None:
        """Absolute paths of Parquet files with the same rows, if the engine can read these columns by itself."""
        return None

    def counting(self, skipped: Callable[[list[int]], None]) -> Source:
        """The same rows; `skipped` is called with the numbers of lines that are left out, blank ones aside."""
        return self

    def place(self, row: int) -> str:
        """Where a row stands, such as ``line 7``, by its number in the column `LINE`, or else counted from 0."""
        return f"row {row + 1:,}"

    def lines(self, rows: Sequence[int]) -> list[bytes]:
        """What stands on some lines of text with cells, by their numbers; nothing for other sources."""
        return []


LINE = Column("", Holds.INTEGERS, each_row=True)
"""If it is asked for, it has the numbers of lines of text, or else of rows, from 0; no source has it as a column."""


def readable(columns: Sequence[Column], among: Sequence[Column]) -> bool:
    """Whether the engine can read `columns` by itself and distinguish them from all others by name."""
    folded = [column.name.casefold() for column in among]
    return all(column.holds in _ENGINE_TYPES for column in columns) and len(set(folded)) == len(folded)


class Scan:
    """One pass over the rows of a source, with the columns that a question needs.

    Attributes:
        cells: the source's columns, by their names in the query.
        kept: whether the engine keeps the rows, so that several queries can read them; a stream can be read once.
        paths: the files that the engine reads by itself, which are all that it can reach; none: the rows are a stream.
        failure: the error to raise if the stream failed, else None.
        shown: the table's name in errors.
    """

    def __init__(
        self, source: Source, cells: Mapping[str, Cell], *, format: Format | None = None, kept: bool = False
    ) -> None:
        self.cells, self.kept, self.shown = dict(cells), kept, source.shown
        self._sources = {name: each.source if each.dated else each for name, (each, *_) in cells.items()}
        self._read = list(dict.fromkeys(self._sources.values()))
        self.failure: SelectionError | None = None
        self._source, self._format = source, format
        self._done, self._reported, self._stopped = 0, 0.0, False
        self._total: int | None = None
        columns = [cell.column for cell in cells.values() if cell.column != LINE]
        paths = () if any(column.dated for column in columns) else source.parquet(columns) or ()
        self.paths = paths if LINE not in self._read or len(paths) == 1 else ()  # it numbers the rows of each file

    def attach(self, connection: Connection) -> None:
        """Give the rows to the engine as the table ``rows``, or an error, if the files have to be read as a stream."""
        if self.paths:
            kind = "TABLE" if self.kept else "VIEW"
            connection.execute(f"CREATE TEMP {kind} rows AS {self._of_files(connection)}")
        elif self.kept:
            connection.register("stream", self.reader())
            connection.execute("CREATE TEMP TABLE rows AS SELECT * FROM stream")
            connection.unregister("stream")
        else:
            connection.register("rows", self.reader())

    def _of_files(self, connection: Connection) -> str:
        files = f"[{', '.join(map(literal, self.paths))}]"
        numbered = ", file_row_number = true" if LINE in self._read else ""
        read = f"read_parquet({files}, hive_partitioning = false, union_by_name = false{numbered})"
        named = {at: quoted("file_row_number" if each == LINE else each.name) for at, (each, *_) in self.cells.items()}
        described = connection.execute(f"DESCRIBE SELECT {', '.join(named.values())} FROM {read}").fetchall()
        selected: list[str] = []
        for (name, cell), found in zip(named.items(), described, strict=True):
            type_, expected = _ENGINE_TYPES[self.cells[name].column.holds]
            if found[1] not in expected:
                raise LookupError("other types than the schema says")
            selected.append(f"{cell}::{type_} AS {name}")
        return f"SELECT {', '.join(selected)} FROM {read}"

    def fraction(self, connection: Connection) -> float:
        """The fraction of the input that was read, from 0 to 1; the engine's own may decrease, this one does not."""
        if self.paths:
            self._reported = max(self._reported, min(1.0, connection.query_progress() / 100))
            return self._reported
        if self._total is None:
            with reading(self.shown, hint=""):
                self._total = self._source.size()
        return min(1.0, self._done / self._total) if self._total else 1.0

    def stop(self) -> None:
        """Stop a stream at the next batch; else it is enough to interrupt the engine."""
        self._stopped = True

    def reader(self) -> Any:
        """The stream."""
        fields = [(name, ARROW_TYPES[cell.column.holds]) for name, cell in self.cells.items()]
        return pa.RecordBatchReader.from_batches(pa.schema(fields), self._batches())

    def _batches(self) -> Iterator[RecordBatch]:
        asked = [each for each in self._read if each != LINE or self._source.has_lines]
        rows = 0
        try:
            with reading(self.shown, hint=""):
                for batch in self._source.batches(asked, self._advance):
                    if self._stopped:
                        return
                    read = dict(zip(asked, batch.columns, strict=True))
                    if len(asked) < len(self._read):
                        end = rows + int(batch.num_rows)
                        read[LINE], rows = of_numpy(np.arange(rows, end)), end
                    yield pa.RecordBatch.from_pydict(
                        {name: cell.made(read[self._sources[name]], self._format) for name, cell in self.cells.items()}
                    )
        except SelectionError as error:
            self.failure = error
            raise

    def _advance(self, amount: int) -> None:
        self._done += amount
