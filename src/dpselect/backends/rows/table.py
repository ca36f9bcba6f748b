"""A table whose rows are streamed through the embedded engine, whatever their source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dpselect.backends.columns import Column, find_column, unit_of
from dpselect.backends.contract import Condition, Progress, SummaryRequest
from dpselect.backends.failures import cut_off
from dpselect.backends.rows import readings
from dpselect.backends.rows.connection import Connection
from dpselect.backends.rows.engine import Answer, answer
from dpselect.backends.rows.readings import Reading
from dpselect.backends.rows.scan import Scan
from dpselect.backends.rows.source import Lines, Source
from dpselect.errors import SelectionError
from dpselect.formats import Format
from dpselect.summaries import (
    CandidateCounts,
    CandidateTotals,
    NameCounts,
    UnitValues,
)

if TYPE_CHECKING:
    from dpselect.backends.rows.inspect import Inspection, Sought


@dataclass(frozen=True, slots=True, repr=False)
class StreamTable:
    """A table over a source of rows; see `dpselect.backends.contract.Table`.

    Attributes:
        source: the source of the rows.
        memory_limit: bytes that the engine may use before it spills to disk; None: most of the machine's memory.
        format: how cells of text are written, if that was declared.
        conditions: what all rows that are looked at have to meet.
    """

    source: Source
    memory_limit: int | None = None
    format: Format | None = None
    conditions: tuple[Condition, ...] = ()

    @property
    def shown(self) -> str:
        """Its name in errors and ``repr``."""
        return self.source.shown

    def column(self, name: object, *, argument: str = "column") -> Column:
        """The column called `name`."""
        with cut_off:
            return find_column(self.source.columns, name, argument=argument, listed=self.source.listed)

    def unit(self, name: object) -> Column:
        """The column called `name`, if its type can identify units."""
        with cut_off:
            return unit_of(self.source.columns, name, listed=self.source.listed)

    def filtered(self, conditions: tuple[Condition, ...]) -> StreamTable:
        """The same table with those rows alone that meet all conditions."""
        return replace(self, conditions=(*self.conditions, *conditions))

    def count(self, *, progress: Progress | None = None, **asked: Any) -> list[CandidateCounts]:
        """How many different units have at least one row with each candidate."""
        return self._read("count", asked, progress)

    def total(self, *, progress: Progress | None = None, **asked: Any) -> list[CandidateTotals]:
        """The sum of the units' clipped amounts for each candidate; without candidates, of all rows."""
        return self._read("total", asked, progress)

    def gather(self, *, progress: Progress | None = None, **asked: Any) -> list[UnitValues]:
        """Numbers clipped into `domain`, at most `max_rows_per_unit` of each unit."""
        return self._read("gather", asked, progress)

    def units(self, *, progress: Progress | None = None, **asked: Any) -> list[int]:
        """How many different units have at least one row that a question can use."""
        return self._read("units", asked, progress)

    def names(self, *, progress: Progress | None = None, **asked: Any) -> list[NameCounts]:
        """How many different units have at least one row with each value that occurs."""
        return self._read("names", asked, progress)

    def in_one_pass(self, asked: Sequence[SummaryRequest], *, progress: Progress | None = None) -> list[list[Any]]:
        """The summaries that several calls of the methods above would give, from one pass over the rows.

        If the rows do not fit into memory and temporary disk space together, they are read for each summary.
        """
        if len(asked) == 1:
            return [self._read(asked[0].method, asked[0].arguments, progress)]
        wanted = [self._reading(each.method, each.arguments) for each in asked]
        from dpselect.backends.rows.one_pass import OnePass

        shared = OnePass.of(wanted)
        try:
            scan = shared.scan(self.source, self.format)
            found = self._answer(scan, shared.query, progress)
        except SelectionError as error:
            if type(error) is not SelectionError:  # what is said of a table does not depend on how it is read
                raise
            return [self._read(each.method, each.arguments, progress) for each in asked]
        return [each.summary(one) for each, one in zip(wanted, found, strict=True)]

    def inspect(self, *, unit: Column, sought: Sequence[Sought], progress: Progress | None = None) -> Inspection:
        """What the rows hold, exactly. For the holder of the data only."""
        from dpselect.backends.rows.inspect import inspected

        return inspected(self.source, unit, sought, self.conditions, self.format, self.memory_limit, progress)

    def places(
        self, rows: Sequence[int], others: int
    ) -> tuple[Mapping[int, tuple[str, bytes]], Sequence[tuple[str, bytes]]]:
        """Where rows stand; see `Lines.places`. Of what has no lines, the number of the row."""
        if isinstance(self.source, Lines):
            return self.source.places(rows, others)
        return {row: (f"row {row + 1:,}", b"") for row in rows}, []

    def _reading(self, method: str, asked: Mapping[str, Any]) -> Reading:
        return self._filtered(readings.READINGS[method](self.format, **asked))

    def _read(self, method: str, asked: Mapping[str, Any], progress: Progress | None) -> list[Any]:
        reading = self._reading(method, asked)
        return reading.summary(self._looked_at(reading, progress))

    def _looked_at(self, reading: Reading, progress: Progress | None) -> Any:
        about: dict[str, Any] = {"candidates": reading.candidates, "format": self.format, "table": reading.table}
        return self._answer(Scan(self.source, reading.columns, **about), reading.query, progress)

    def _filtered(self, reading: Reading) -> Reading:
        """The same of those rows alone that meet the conditions of the table."""
        return readings.filtered(reading, self.conditions, self.format) if self.conditions else reading

    def _answer(self, scan: Scan, query: Callable[[Connection], Answer], progress: Progress | None) -> Answer:
        return answer(scan, query, progress=progress, memory_limit=self.memory_limit)
