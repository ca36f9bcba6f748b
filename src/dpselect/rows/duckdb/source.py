"""Sources of rows: files, frames, and anything else that can be read in Arrow batches from start to end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, runtime_checkable

from dpselect.rows.columns import Column
from dpselect.rows.duckdb.arrow import RecordBatch


class Source(Protocol):
    """Rows that can be read repeatedly; only the columns asked for are read."""

    @property
    def shown(self) -> str:
        """Its name in errors and ``repr``."""
        ...

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns, with different names."""
        ...

    @property
    def listed(self) -> bool:
        """Whether errors may list the names of the columns; not if they might be somebody's row."""
        ...

    def size(self) -> int:
        """The amount to read, in the same unit as `advance` of `batches`."""
        ...

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """The rows, in batches of these columns in this order, each of its type in `ARROW_TYPES`.

        Args:
            columns: some of the source's columns, each at most once.
            advance: called with the amount read since the last call.

        Raises:
            SelectionError: reading failed. The message quotes no row.
        """
        ...


@runtime_checkable
class Lines(Source, Protocol):
    """Rows that are lines of text, some of which may be no rows."""

    def counting(self, skipped: Callable[[int], None]) -> Source:
        """The same rows; `skipped` is called with the numbers of lines that are left out, blank ones aside."""
        ...

    def places(self, rows: Sequence[int], others: int) -> tuple[dict[int, tuple[str, bytes]], list[tuple[str, bytes]]]:
        """Where rows stand, counted from 0, and the first lines that are left out, at most `others`.

        Each is a place, such as ``line 7``, and what stands there. Nothing where it is not known.
        """
        ...


@runtime_checkable
class Catalogued(Source, Protocol):
    """Rows of a table that has a name and an id of its own, wherever its files are."""

    @property
    def table_name(self) -> str | None:
        """What it is called, without folders; None if nothing but a folder names it."""
        ...

    @property
    def origin(self) -> str:
        """Its id and its version, by which a ledger tells it from others."""
        ...
