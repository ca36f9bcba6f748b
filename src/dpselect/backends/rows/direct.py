"""Parquet scans: the engine reads files by itself, in parallel, if the result is exactly that of a stream of batches.

This holds for columns of whole numbers, dates and booleans, in which no value can make reading fail. Other columns are
streamed. Text, because the engine stops at the first value that is not UTF-8, and a failure must not depend on a row.
Floating-point numbers, because the engine trusts the minimum and maximum in a file's statistics, which leave out NaN:
its result of ``isnan(x)`` for every other row would then depend on one row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from dpselect.backends.columns import Column, Holds
from dpselect.backends.rows.connection import Connection, literal

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
    """

    def __init__(self, files: ParquetFiles, columns: Mapping[str, Column]) -> None:
        self.paths = files.paths
        self._columns = dict(columns)
        self._fraction = 0.0

    def attach(self, connection: Connection) -> None:
        """Give the rows to the engine as the table ``rows``.

        Raises:
            UnsuitableError: the engine finds other types in the files than their schema says.
        """
        files = f"[{', '.join(map(literal, self.paths))}]"
        read = f"read_parquet({files}, hive_partitioning = false, union_by_name = false)"
        names = [_quoted(column.name) for column in self._columns.values()]
        described = connection.execute(f"DESCRIBE SELECT {', '.join(names)} FROM {read}").fetchall()
        selected: list[str] = []
        for (name, column), quoted, found in zip(self._columns.items(), names, described, strict=True):
            type_, expected = _ENGINE_TYPES[column.holds]
            if found[1] not in expected:
                raise UnsuitableError
            selected.append(f"{quoted}::{type_} AS {name}")
        connection.execute(f"CREATE TEMP VIEW rows AS SELECT {', '.join(selected)} FROM {read}")

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


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
