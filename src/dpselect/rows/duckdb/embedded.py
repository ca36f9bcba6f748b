"""Rows of any source, streamed through DuckDB, the engine in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from dpselect.errors import SelectionError
from dpselect.formats import Format
from dpselect.rows.columns import Column
from dpselect.rows.contract import Progress
from dpselect.rows.duckdb.arrow import of_numpy, pa
from dpselect.rows.duckdb.connection import Connection
from dpselect.rows.duckdb.dialect import DuckDB
from dpselect.rows.duckdb.engine import answer
from dpselect.rows.duckdb.long_text import ShortValues
from dpselect.rows.duckdb.scan import Cell, Scan
from dpselect.rows.duckdb.source import Source
from dpselect.rows.row_rules import Name, RowValue, Unit, Value
from dpselect.rows.statements import Found, Statement, is_interval
from dpselect.summaries import CandidateKind, PublicCandidates

_ARROW_TYPES = {
    CandidateKind.INTEGER: "int64",
    CandidateKind.NUMBER: "float64",
    CandidateKind.TEXT: "large_string",
    CandidateKind.DATE: "date32",
    CandidateKind.BOOLEAN: "bool",
}


@dataclass(frozen=True, slots=True, repr=False)
class Embedded:
    """DuckDB over a source of rows; see `dpselect.rows.table.Engine`.

    Attributes:
        source: the source of the rows.
        memory_limit: bytes that the engine may use before it spills to disk; None: most of the machine's memory.
        format: how cells of text are written, if that was declared.
        columns: all columns, with different names.
        listed: whether errors may list the names of the columns.
    """

    source: Source
    memory_limit: int | None = None
    format: Format | None = None
    columns: tuple[Column, ...] = field(init=False)
    listed: bool = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", self.source.columns)
        object.__setattr__(self, "listed", self.source.listed)

    @property
    def shown(self) -> str:
        """Its name in errors and ``repr``."""
        return self.source.shown

    def answers(self, asked: Sequence[Statement], progress: Progress | None) -> list[Found]:
        """The results of all statements. For several, the engine keeps the rows that it has read.

        If these do not fit into memory and temporary disk space together, they are read for each statement.
        """
        names: dict[Cell, str] = {}
        mine = [_cells(each, names) for each in asked]
        scan = Scan(self.source, {name: cell for cell, name in names.items()}, format=self.format, kept=len(asked) > 1)
        query = partial(_ask, asked=asked, cells=mine)
        try:
            return answer(scan, query, progress=progress, memory_limit=self.memory_limit)
        except SelectionError as error:
            if len(asked) == 1 or type(error) is not SelectionError:  # what is said of rows depends on no way to read
                raise
        return [found for each in asked for found in self.answers([each], progress)]


def _cells(statement: Statement, names: dict[Cell, str]) -> dict[str, tuple[str, ...]]:
    """The names of the cells of a statement, which are added to those of others; alike cells are read once."""
    return {
        name: tuple(names.setdefault(cell, f"c{len(names)}") for cell in _of(value, name, statement))
        for name, value in statement.reads.items()
    }


def _of(value: RowValue, name: str, statement: Statement) -> tuple[Cell, ...]:
    if isinstance(value, Unit):
        return (Cell(value.column.source, None),)
    if value.column.parts:
        both = zip(value.column.sources, statement.parts, strict=True)
        return tuple(Cell(column, ShortValues.of(listed)) for column, listed in both)
    kind = value.kind if isinstance(value, Value | Name) else CandidateKind.DATE if value.column.days else None
    return (Cell(value.column.sources[0], ShortValues.of(statement.lists.get(name, kind))),)


def _ask(
    connection: Connection, asked: Sequence[Statement], cells: Sequence[Mapping[str, Sequence[str]]]
) -> list[Found]:
    found: list[Found] = []
    for statement, names in zip(asked, cells, strict=True):
        for name, listed in statement.lists.items():
            if not is_interval(listed):
                connection.register(f"{name}_list", candidate_table(listed))
        sql = statement.sql(DuckDB(connection), names, "rows")
        if statement.named is None:
            found.append(connection.execute(sql).fetchnumpy())
        else:
            table = connection.sql(sql).to_arrow_table()
            found.append(dict(zip(table.column_names, table.columns, strict=True)))
    return found


def candidate_table(candidates: PublicCandidates) -> Any:
    """The candidates as an Arrow table of each ``candidate`` and its ``place``, the position."""
    values = candidates.values
    if isinstance(values, range):
        values = np.fromiter(values, np.int64, len(values))
    is_whole = isinstance(values, np.ndarray)
    listed = of_numpy(values) if is_whole else pa.array(values, _ARROW_TYPES[candidates.kind])
    return pa.table({"place": of_numpy(np.arange(len(values))), "candidate": listed})
