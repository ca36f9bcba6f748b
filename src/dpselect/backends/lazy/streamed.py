"""A table that answers most questions itself, and streams its rows where chance has to choose among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpselect.backends.columns import Column
from dpselect.backends.contract import Grouping, Table
from dpselect.backends.lazy.queries import chooses
from dpselect.backends.lazy.table import LazyTable
from dpselect.backends.rows import StreamTable
from dpselect.summaries import CandidateCounts, CandidateTotals, UnitValues


@dataclass(frozen=True, slots=True, repr=False)
class PartlyStreamedTable:
    """Both ways to the same rows: lots for rows have to come from the operating system.

    Attributes:
        lazy: asks the engine.
        stream: reads the asked columns.
    """

    lazy: LazyTable
    stream: StreamTable

    @property
    def shown(self) -> str:
        """How errors and ``repr`` speak of it."""
        return self.lazy.shown

    def column(self, name: object, *, argument: str = "column") -> Column:
        """The column called `name`."""
        return self.lazy.column(name, argument=argument)

    def unit(self, name: object) -> Column:
        """The column called `name`, if it can name units."""
        return self.lazy.unit(name)

    def count(self, *, grouping: Grouping | None = None, **asked: Any) -> list[CandidateCounts]:
        """How many different units have at least one row with each candidate."""
        return self._table(grouping).count(grouping=grouping, **asked)

    def total(self, *, grouping: Grouping | None = None, **asked: Any) -> list[CandidateTotals]:
        """What the units' clipped amounts add up to for each candidate."""
        return self._table(grouping).total(grouping=grouping, **asked)

    def gather(self, **asked: Any) -> list[UnitValues]:
        """Numbers clipped into a domain, at most so many of each unit."""
        return self.stream.gather(**asked)

    def _table(self, grouping: Grouping | None) -> Table:
        return self.stream if chooses(grouping) else self.lazy
