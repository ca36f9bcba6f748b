"""A table that a library holds: a schema and a stream of Arrow. Each question asks for them again; none modifies it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from dpselect.rows.columns import Column, Holds, check_names
from dpselect.rows.duckdb.arrow import BATCH_ROWS, RecordBatch, columns_of, first_of, plain_batches, sliced
from dpselect.rows.duckdb.scan import Source
from dpselect.rows.failures import TranslatedErrors, changed, reading

_MAY_COME_AS = {Holds.DECIMALS: Holds.TEXT}
"""What a library may hand over in place of a type."""

Now = tuple[Any, Callable[[list[str]], Iterable[RecordBatch]]]
"""The present Arrow schema of a table, and what reads some of its columns, by name; others may come with them."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Frame(Source):
    """Rows that the caller's library holds or computes.

    Attributes:
        now: describes the rows as they are when it is called, and reads just these. Both may raise anything.
        rows: how many there are; 0: not known before the end.
        known_as: its id and its version, by which a ledger tells it from others; None: it has none.
        hint: what to do if the library cannot answer.
        expected: what errors expect of it.
    """

    now: Callable[[], Now]
    rows: Callable[[], int] = field(default=lambda: 0, kw_only=True)
    known_as: Callable[[], str] | None = field(default=None, kw_only=True)
    hint: str = field(default="", kw_only=True)
    expected: str = field(default="a table that can be read to its end", kw_only=True)

    @classmethod
    def of(cls, shown: str, now: Callable[[], Now], **about: Any) -> Self:
        """A frame with the columns that its schema has now.

        Raises:
            InvalidDataError: the schema cannot be read, or has no columns, or two of one name.
        """
        frame = cls(shown, (), now, **about)
        with frame._reading():
            schema, _ = now()
        check_names(schema.names, shown=shown)
        return cls(shown, columns_of(schema), now, **about)

    @property
    def origin(self) -> str:
        """See `Source`."""
        return self.shown if self.known_as is None else self.known_as()

    def size(self) -> int:
        """Rows."""
        return self.rows()

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """See `Source`.

        The columns have to have the types that they had when the frame was opened: if one has another type now, a row
        may decide how the others are read. Other columns may come, go and change.
        """
        names = [column.name for column in columns]
        with self._reading():
            schema, read = self.now()
            if not set(columns) <= set(columns_of(schema)):
                raise changed(self.shown)
            for batch in read(first_of(schema, names)):
                found = {each.name: each.holds for each in columns_of(batch.schema)}
                if any(found.get(each.name) not in (each.holds, _MAY_COME_AS.get(each.holds)) for each in columns):
                    raise changed(self.shown)
                for arrays in sliced([batch], names):
                    advance(len(arrays[0]))
                    yield from plain_batches(arrays, columns, [str(at) for at in range(len(columns))])

    def _reading(self) -> TranslatedErrors:
        return reading(self.shown, hint=self.hint, expected=self.expected)


def of_table(table: Any, shown: str) -> Frame:
    """A table in memory, read without a copy of the whole."""

    def now() -> Now:
        return table.schema, lambda names: table.select(names).to_batches(max_chunksize=BATCH_ROWS)

    return Frame.of(shown, now, rows=lambda: table.num_rows)
