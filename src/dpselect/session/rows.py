"""The rows of a table and whose they are: what a question may learn of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from dpselect.arguments import memory_size
from dpselect.backends.columns import Column, candidate_kind, check_match, check_numeric
from dpselect.backends.contract import Table
from dpselect.backends.opening import open_table
from dpselect.errors import InvalidDataError, Shown
from dpselect.summaries import CandidateCounts, CandidateKind, PublicCandidates, PublicDomain, UnitValues


class Rows:
    """A description of a table, not a copy: headers, footers and schemas are read now, rows anew for each summary.

    Raises:
        InvalidParameterError: `memory_limit` is no size of memory.
        InvalidDataError: no such table or column, or a file is not what its name says.
    """

    __slots__ = ("_progress", "_source", "_table", "_unit")

    def __init__(
        self,
        source: object,
        *,
        unit: str,
        table: str | None = None,
        progress: Callable[[float], None] | None,
        memory_limit: str | int | None = None,
    ) -> None:
        most = None if memory_limit is None else memory_size(memory_limit, "memory_limit")
        self._source = source
        self._table: Table = open_table(source, table=table, memory_limit=most)
        self._unit = self._table.unit(unit)
        self._progress = progress

    @property
    def shown(self) -> str:
        """How ``repr`` speaks of the table."""
        return self._table.shown

    @property
    def origin(self) -> str:
        """Which table a question was asked of, as far as can be said of it: the path of files, else what it is."""
        source = self._source
        if isinstance(source, Path) or (isinstance(source, str) and "://" not in source):
            return os.path.realpath(source)
        return self._table.shown

    @property
    def unit(self) -> str:
        """Name of the column that says whose row it is."""
        return self._unit.name

    def candidate_kind(self, column: str) -> CandidateKind | None:
        """The kind of candidates that the type of `column` asks for; None if several fit."""
        return candidate_kind(self._table.column(column))

    def check(self, column: str) -> Column:
        """The column a question is about, or `InvalidDataError`."""
        found = self._table.column(column)
        if found == self._unit:
            hint = "Every value of the unit's own column belongs to one unit only."
            raise InvalidDataError("column", Shown(repr(found.name)), "another column than the unit", hint)
        return found

    def count(self, column: str, candidates: PublicCandidates) -> CandidateCounts:
        """How many units have each candidate."""
        asked = self.check(column)
        check_match(asked, candidates.kind)
        (counts,) = self._table.count(unit=self._unit, column=asked, candidates=candidates, progress=self._progress)
        return counts

    def gather(self, column: str, domain: PublicDomain, *, max_rows_per_unit: int) -> UnitValues:
        """The numbers of a column, at most so many of each unit."""
        asked = self.check(column)
        check_numeric(asked)
        (values,) = self._table.gather(
            unit=self._unit,
            column=asked,
            domain=domain,
            max_rows_per_unit=max_rows_per_unit,
            progress=self._progress,
        )
        return values
