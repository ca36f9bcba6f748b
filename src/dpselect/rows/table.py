"""A table, whatever engine holds its rows: it writes the statements, and the engine answers them.

Every engine follows the rules for rows in ``docs/files.md``: whether a row counts depends on that row alone, and
whether reading succeeds depends on no row's content.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from dpselect.formats import Format
from dpselect.rows.columns import Column, Condition, Progress, find_column, unit_of
from dpselect.rows.duckdb.cells import compared, compared_pairs
from dpselect.rows.failures import cut_off
from dpselect.rows.statements import Found, Statement, filtered


class Engine(Protocol):
    """What holds the rows of one table: DuckDB and a source of rows, a Spark frame, or a PostgreSQL server.

    A new engine is this class, a `Dialect`, and a line in `dpselect.rows.opening`. Attributes are those of
    `dpselect.rows.duckdb.scan.Source`, and how cells of text are written, if that was declared.
    """

    @property
    def shown(self) -> str: ...
    @property
    def columns(self) -> tuple[Column, ...]: ...
    @property
    def listed(self) -> bool: ...
    @property
    def format(self) -> Format | None: ...

    def answers(self, asked: Sequence[Statement], progress: Progress | None) -> list[Found]:
        """The results of all statements, over the same rows. They have the same unit.

        What is left to chance is independent from one to the other. Proof: ``proofs/one_pass.md``.

        Raises:
            InvalidDataError: the rows cannot be read to their end. This never depends on a row's content.
            SelectionError: no memory, no connection. No message quotes a row.
        """
        ...


Asked = Callable[[], Statement]
"""A function of `dpselect.rows.statements`, with what it is asked with."""


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """One table of one engine. Headers, footers and schemas are read when it is made, rows again for each summary.

    Attributes:
        engine: the engine that holds the rows.
        conditions: what all rows that are looked at have to meet.
    """

    engine: Engine
    conditions: tuple[Condition, ...] = ()

    @property
    def shown(self) -> str:
        """Its name in errors and ``repr``: a path, a kind of frame, or a URL without its password."""
        return self.engine.shown

    def column(self, name: object, *, argument: str = "column") -> Column:
        """The column called `name`."""
        with cut_off:
            found = find_column(self.engine.columns, name, argument=argument, listed=self.engine.listed)
            return found.as_dates if self.engine.format is not None and self.engine.format.as_date else found

    def unit(self, name: object) -> Column:
        """The column called `name`, if its type can identify units."""
        with cut_off:
            return unit_of(self.engine.columns, name, listed=self.engine.listed)

    def filtered(self, conditions: tuple[Condition, ...]) -> Table:
        """The same table with those rows alone that meet all conditions."""
        return replace(self, conditions=(*self.conditions, *conditions))

    def answers(self, asked: Sequence[Asked], progress: Progress | None = None) -> list[list[Any]]:
        """The summaries of all statements, over the same rows: of each a list with an entry for each group, or one.

        Raises:
            InvalidDataError: the type of a column cannot match, or the source cannot be read to its end.
            SelectionError: no memory, no connection. No message quotes a row or depends on one.
        """
        written = [self._here(each()) for each in asked]
        found = self.engine.answers(written, progress)
        with cut_off:
            return [each.summary(of_it) for each, of_it in zip(written, found, strict=True)]

    def _here(self, statement: Statement) -> Statement:
        statement = filtered(statement, self.conditions) if self.conditions else statement
        return statement if self.engine.format is None else _compared(statement, self.engine.format)


def _compared(statement: Statement, format: Format) -> Statement:
    """The statement with its lists as cells are compared with them."""
    parts = tuple(compared(each, format) for each in statement.parts)
    lists = {name: compared(each, format) for name, each in statement.lists.items() if not (parts and name == "part")}
    if parts:
        lists["part"] = compared_pairs(statement.lists["part"], statement.parts, parts)
    return replace(statement, lists=lists, parts=parts)
