"""A table, whatever engine holds its rows: it writes the statements, and the engine answers them.

Every engine follows the rules for rows in ``docs/files.md``: whether a row counts depends on that row alone, and
whether reading succeeds depends on no row's content.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from dpselect.formats import Format
from dpselect.rows import statements
from dpselect.rows.columns import Column, Condition, Progress, find_column, unit_of
from dpselect.rows.duckdb.cells import compared, compared_pairs
from dpselect.rows.failures import cut_off
from dpselect.rows.statements import Found, Statement, filtered
from dpselect.summaries import CandidateCounts, CandidateTotals, NameCounts, UnitValues


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


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """One table of one engine. Headers, footers and schemas are read when it is made, rows again for each summary.

    What a summary is asked with stands at the function of its name in `dpselect.rows.statements`. Each is a list with
    one entry for each group, in the order of ``grouping.groups``; one entry without groups. All methods may raise
    `InvalidDataError` (the type of a column cannot match; the source cannot be read to its end) and `SelectionError`
    (no memory, no connection). No message quotes a row or depends on one.

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

    def count(self, *, progress: Progress | None = None, **asked: Any) -> list[CandidateCounts]:
        """How many different units have at least one row with each candidate."""
        return self._summary(statements.count, asked, progress)

    def total(self, *, progress: Progress | None = None, **asked: Any) -> list[CandidateTotals]:
        """The sum of the units' clipped amounts for each candidate; without candidates, of all rows."""
        return self._summary(statements.total, asked, progress)

    def gather(self, *, progress: Progress | None = None, **asked: Any) -> list[UnitValues]:
        """Numbers clipped into a domain, at most some of each unit in each group."""
        return self._summary(statements.gather, asked, progress)

    def units(self, *, progress: Progress | None = None, **asked: Any) -> list[int]:
        """How many different units have at least one row that a question can use."""
        return self._summary(statements.units, asked, progress)

    def names(self, *, progress: Progress | None = None, **asked: Any) -> list[NameCounts]:
        """How many different units have at least one row with each value that occurs."""
        return self._summary(statements.names, asked, progress)

    def _summary(self, of: Callable[..., Statement], asked: dict[str, Any], progress: Progress | None) -> list[Any]:
        statement = of(**asked)
        statement = filtered(statement, self.conditions) if self.conditions else statement
        if self.engine.format is not None:
            statement = _compared(statement, self.engine.format)
        (found,) = self.engine.answers([statement], progress)
        with cut_off:
            return statement.summary(found)


def _compared(statement: Statement, format: Format) -> Statement:
    """The statement with its lists as cells are compared with them."""
    parts = tuple(compared(each, format) for each in statement.parts)
    lists = {name: compared(each, format) for name, each in statement.lists.items() if not (parts and name == "part")}
    if parts:
        lists["part"] = compared_pairs(statement.lists["part"], statement.parts, parts)
    return replace(statement, lists=lists, parts=parts)
