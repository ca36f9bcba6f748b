"""One pass over a source, with progress and a way to stop it; Parquet files are scanned by the engine itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

from dpselect.errors import InvalidDataError, SelectionError, Shown
from dpselect.formats import Format
from dpselect.rows.columns import Column, Holds
from dpselect.rows.duckdb.arrow import ARROW_TYPES, Array, RecordBatch, pa
from dpselect.rows.duckdb.connection import Connection, literal
from dpselect.rows.duckdb.declared import as_read, unit_names
from dpselect.rows.duckdb.long_text import ShortValues, short_units
from dpselect.rows.duckdb.source import Source
from dpselect.rows.failures import TranslatedErrors

_ENGINE_TYPES = {
    Holds.INTEGERS: ("BIGINT", {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}),
    Holds.UNSIGNED: ("UBIGINT", {"UBIGINT"}),
    Holds.DATES: ("DATE", {"DATE"}),
    Holds.BOOLEANS: ("BOOLEAN", {"BOOLEAN"}),
}
"""The type that each is read as, and the types that the engine has to find in the files."""


@dataclass(frozen=True, slots=True)
class ParquetFiles:
    """Files with the same schema.

    Attributes:
        paths: absolute paths, without characters that the engine would read as a pattern.
    """

    paths: tuple[str, ...]


@runtime_checkable
class ParquetBacked(Protocol):
    """A source of rows that may have Parquet files behind it."""

    def parquet(self, columns: Sequence[Column]) -> ParquetFiles | None:
        """The files, if reading these columns directly gives the same as reading the source; else None."""
        ...


class DirectScan:
    """One pass of the engine over files.

    Args:
        files: the files to read; the engine can reach no others.
        columns: the columns of the files, by their names in the query.
        kept: whether the engine keeps the rows, see `Scan`; else it reads the files for each query.
    """

    def __init__(self, files: ParquetFiles, columns: Mapping[str, Column], *, kept: bool = False) -> None:
        self.paths = files.paths
        self._columns, self._kept = dict(columns), kept
        self._fraction = 0.0

    def attach(self, connection: Connection) -> None:
        """Give the rows to the engine as the table ``rows``.

        Raises:
            UnsuitableError: the engine finds other types in the files than their schema says.
        """
        files = f"[{', '.join(map(literal, self.paths))}]"
        read = f"read_parquet({files}, hive_partitioning = false, union_by_name = false)"
        names = [quoted(column.name) for column in self._columns.values()]
        described = connection.execute(f"DESCRIBE SELECT {', '.join(names)} FROM {read}").fetchall()
        selected: list[str] = []
        for (name, column), cell, found in zip(self._columns.items(), names, described, strict=True):
            type_, expected = _ENGINE_TYPES[column.holds]
            if found[1] not in expected:
                raise UnsuitableError
            selected.append(f"{cell}::{type_} AS {name}")
        kind = "TABLE" if self._kept else "VIEW"
        connection.execute(f"CREATE TEMP {kind} rows AS SELECT {', '.join(selected)} FROM {read}")

    def fraction(self, connection: Connection) -> float:
        """The progress that the engine reports, from 0 to 1; it never decreases."""
        self._fraction = max(self._fraction, min(1.0, connection.query_progress() / 100))
        return self._fraction

    def stop(self) -> None:
        """Nothing to do: interrupting the engine is enough."""


class UnsuitableError(Exception):
    """These files have to be read as a stream."""


def readable(columns: Sequence[Column], among: Sequence[Column]) -> bool:
    """Whether the engine can read `columns` by itself and distinguish them from all others by name."""
    folded = [column.name.casefold() for column in among]
    return all(column.holds in _ENGINE_TYPES for column in columns) and len(set(folded)) == len(folded)


def quoted(name: str) -> str:
    """The name of a table or a column, in quotes."""
    return '"' + name.replace('"', '""') + '"'


class Cell(NamedTuple):
    """One way in which the cells of a column reach the engine.

    Attributes:
        column: the column.
        short: shortens its values; None: they are units.
    """

    column: Column
    short: ShortValues | None


class Scan:
    """Rows of a source as a stream of Arrow batches with the columns that a question needs.

    Attributes:
        cells: the source's columns, by their names in the query.
        kept: whether the engine keeps the rows until the end, so that several queries can read them; it spills them to
            disk when memory is full. Otherwise the table can be read once.
        failure: the error to raise if the stream failed, else None.
    """

    def __init__(
        self, source: Source, cells: Mapping[str, Cell], *, format: Format | None = None, kept: bool = False
    ) -> None:
        self.cells, self.kept = dict(cells), kept
        self._sources = {name: each.source if each.dated else each for name, (each, _) in cells.items()}
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
        if not isinstance(source, ParquetBacked) or any(cell.column.dated for cell in self.cells.values()):
            return None
        columns = {name: cell.column for name, cell in self.cells.items()}
        files = source.parquet(list(columns.values()))
        return None if files is None else DirectScan(files, columns, kept=self.kept)

    def attach(self, connection: Connection) -> None:
        """Give the stream to the engine as the table ``rows``."""
        if not self.kept:
            connection.register("rows", self.reader())
            return
        connection.register("stream", self.reader())
        connection.execute("CREATE TEMP TABLE rows AS SELECT * FROM stream")
        connection.unregister("stream")

    def fraction(self, connection: Connection) -> float:
        """The fraction of the input that was read, from 0 to 1."""
        return min(1.0, self._done / self._total) if self._total else 1.0

    def stop(self) -> None:
        """Stop at the next batch."""
        self._stopped = True

    def reader(self) -> Any:
        """The stream."""
        fields = [(name, ARROW_TYPES[cell.column.holds]) for name, cell in self.cells.items()]
        return pa.RecordBatchReader.from_batches(pa.schema(fields), self._batches())

    def _batches(self) -> Iterator[RecordBatch]:
        asked = list(dict.fromkeys(self._sources.values()))
        try:
            with self._reading():
                for batch in self._source.batches(asked, self._advance):
                    if self._stopped:
                        return
                    yield self._named(dict(zip(asked, batch.columns, strict=True)))
        except SelectionError as error:
            self.failure = error
            raise

    def _reading(self) -> TranslatedErrors:
        return TranslatedErrors(lambda error: explained(error, self.source))

    def _named(self, read: dict[Column, Any]) -> RecordBatch:
        arrays: dict[str, Array] = {}
        for name, (column, short) in self.cells.items():
            array = read[self._sources[name]]
            if short is not None:
                arrays[name] = short(as_read(array, column, short.kind, self._format))
            else:
                is_text = column.holds in (Holds.ANYTHING, Holds.TEXT)
                arrays[name] = short_units(unit_names(array) if is_text else array)
        return pa.RecordBatch.from_pydict(arrays)

    def _advance(self, amount: int) -> None:
        self._done += amount


def explained(error: BaseException, source: Shown) -> SelectionError:
    """A message that is safe to show: it tells a lack of memory from unreadable data, and no more."""
    if isinstance(error, MemoryError):
        return SelectionError("Reading the table needs more memory or temporary disk space than there is.")
    return InvalidDataError("source", source, "a table that can be read to its end")
