"""A table, whatever engine holds its rows: it writes the statements, and the engine answers them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from dpselect.formats import Format
from dpselect.rows.columns import Column, find_column, unit_of
from dpselect.rows.contract import Condition, Grouping, Needed, Progress, SummaryRequest
from dpselect.rows.duckdb.declared import compared, compared_groups
from dpselect.rows.failures import cut_off
from dpselect.rows.statements import STATEMENTS, Found, Statement, filtered
from dpselect.summaries import (
    CandidateCounts,
    CandidateTotals,
    NameCounts,
    UnitValues,
)


class Engine(Protocol):
    """What holds the rows of one table: DuckDB and a source of rows, a Spark frame, or a PostgreSQL server.

    A new engine is this class, a `Dialect`, and a line in `dpselect.rows.opening`.
    """

    @property
    def shown(self) -> str:
        """Its name in errors and ``repr``: a path, a kind of frame, or a URL without its password."""
        ...

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns, with different names."""
        ...

    @property
    def listed(self) -> bool:
        """Whether errors may list the names of the columns; not if they might be somebody's row."""
        ...

    @property
    def format(self) -> Format | None:
        """How cells of text are written, if that was declared."""
        ...

    def answers(self, asked: Sequence[Statement], progress: Progress | None) -> list[Found]:
        """The results of all statements, over the same rows. They have the same unit.

        Raises:
            InvalidDataError: the rows cannot be read to their end. This never depends on a row's content.
            SelectionError: no memory, no connection. No message quotes a row.
        """
        ...


@dataclass(frozen=True, slots=True, repr=False)
class EngineTable:
    """A table over an engine; see `dpselect.rows.contract.Table`.

    Attributes:
        engine: the engine that holds the rows.
        conditions: what all rows that are looked at have to meet.
    """

    engine: Engine
    conditions: tuple[Condition, ...] = ()

    @property
    def shown(self) -> str:
        """Its name in errors and ``repr``."""
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

    def filtered(self, conditions: tuple[Condition, ...]) -> EngineTable:
        """The same table with those rows alone that meet all conditions."""
        return replace(self, conditions=(*self.conditions, *conditions))

    def count(self, *, progress: Progress | None = None, **asked: Any) -> list[CandidateCounts]:
        """How many different units have at least one row with each candidate."""
        return self.in_one_pass([SummaryRequest("count", asked)], progress=progress)[0]

    def total(self, *, progress: Progress | None = None, **asked: Any) -> list[CandidateTotals]:
        """The sum of the units' clipped amounts for each candidate; without candidates, of all rows."""
        return self.in_one_pass([SummaryRequest("total", asked)], progress=progress)[0]

    def gather(self, *, progress: Progress | None = None, **asked: Any) -> list[UnitValues]:
        """Numbers clipped into `domain`, at most `max_rows_per_unit` of each unit."""
        return self.in_one_pass([SummaryRequest("gather", asked)], progress=progress)[0]

    def units(self, *, progress: Progress | None = None, **asked: Any) -> list[int]:
        """How many different units have at least one row that a question can use."""
        return self.in_one_pass([SummaryRequest("units", asked)], progress=progress)[0]

    def names(self, *, progress: Progress | None = None, **asked: Any) -> list[NameCounts]:
        """How many different units have at least one row with each value that occurs."""
        return self.in_one_pass([SummaryRequest("names", asked)], progress=progress)[0]

    def in_one_pass(self, asked: Sequence[SummaryRequest], *, progress: Progress | None = None) -> list[list[Any]]:
        """The summaries that several calls of the methods above would give, of the same unit, from one pass."""
        statements = [self._statement(each.method, each.arguments) for each in asked]
        answers = self.engine.answers(statements, progress)
        with cut_off:
            return [each.summary(found) for each, found in zip(statements, answers, strict=True)]

    def _statement(self, method: str, asked: Mapping[str, Any]) -> Statement:
        arguments, format = dict(asked), self.engine.format
        if format is not None:
            arguments = {name: _compared(each, name, format) for name, each in asked.items()}
        found = STATEMENTS[method](**arguments)
        if not self.conditions:
            return found
        met = [
            each if each.listed is None else replace(each, listed=compared(each.listed, format))
            for each in self.conditions
        ]
        return filtered(found, met)


def _compared(argument: Any, name: str, format: Format) -> Any:
    """The argument, with its candidates as cells are compared with them."""
    if name == "candidates" and argument is not None:
        return compared(argument, format)
    if isinstance(argument, Needed) and argument.matched is not None:
        column, listed = argument.matched
        return replace(argument, matched=(column, compared(listed, format)))
    return compared_groups(argument, format) if isinstance(argument, Grouping) else argument
