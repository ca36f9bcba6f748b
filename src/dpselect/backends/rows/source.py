"""Where rows come from: a file, a frame, anything that can be read from its beginning to its end in Arrow batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from dpselect.backends.columns import Column
from dpselect.backends.rows.arrow import RecordBatch


class Source(Protocol):
    """Rows that can be read again and again; the engine asks for the few columns it needs."""

    @property
    def shown(self) -> str:
        """How errors and ``repr`` speak of it."""
        ...

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns, with different names."""
        ...

    @property
    def listed(self) -> bool:
        """Whether errors may list the columns' names; not if they might be somebody's row."""
        ...

    def size(self) -> int:
        """How much there is to read, in whatever `batches` counts."""
        ...

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """The rows, in batches of these columns in this order, each of the type that `ARROW_TYPES` says.

        Args:
            columns: some of `columns`, each at most once.
            advance: called with how much has been read since the last call.

        Raises:
            SelectionError: reading broke off, in words that quote no row.
        """
        ...
