"""Several summaries from one pass over the rows. Each is the one that its own pass would have found.

Summaries that need little of each unit are found in one query. The others each query the rows, which the engine keeps
meanwhile, or reads itself from files.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpselect.backends.columns import Column
from dpselect.backends.rows.connection import Connection
from dpselect.backends.rows.long_text import ShortValues
from dpselect.backends.rows.per_unit import Places, UnitNumbers, found_together
from dpselect.backends.rows.readings import Reading
from dpselect.backends.rows.scan import Scan
from dpselect.backends.rows.source import Source
from dpselect.formats import Format
from dpselect.summaries import CandidateKind, PublicCandidates

_TABLE = "everything"


@dataclass(frozen=True, slots=True)
class OnePass:
    """One pass for several summaries.

    Attributes:
        readings: the summaries.
        names: for each of them, the names in the pass of its columns, by their names in its query.
        columns: all columns, by their names in the pass. A column that two summaries read alike is there once.
        candidates: the candidates in some of these columns.
    """

    readings: tuple[Reading, ...]
    names: tuple[Mapping[str, str], ...]
    columns: Mapping[str, Column]
    candidates: Mapping[str, PublicCandidates | CandidateKind]

    @classmethod
    def of(cls, readings: Sequence[Reading]) -> OnePass:
        """The pass for these summaries, which all have the same unit."""
        columns: dict[str, Column] = {}
        candidates: dict[str, PublicCandidates | CandidateKind] = {}
        known: dict[Hashable, str] = {}
        names: list[dict[str, str]] = []
        for each in readings:
            held: dict[str, str] = {}
            for name, column in each.columns.items():
                listed = each.candidates.get(name)
                alike = name == "unit", column, None if name == "unit" else ShortValues.of(listed)
                place = known.setdefault(alike, "unit" if name == "unit" else f"c{len(known)}")
                columns[place], held[name] = column, place
                if listed is not None:
                    candidates.setdefault(place, listed)
            names.append(held)
        return cls(tuple(readings), tuple(names), columns, candidates)

    @property
    def _shared(self) -> list[int]:
        """Which of the summaries are found in one query: none, if it would be only one."""
        found = [at for at, each in enumerate(self.readings) if each.together is not None]
        return found if len(found) > 1 else []

    def scan(self, source: Source, format: Format | None) -> Scan:
        """The pass over the rows."""
        return Scan(
            source,
            self.columns,
            candidates=self.candidates,
            format=format,
            table=_TABLE,
            kept=len(self._shared) < len(self.readings),
        )

    def query(self, connection: Connection) -> list[Any]:
        """What the summaries are made of, in their order."""
        found: dict[int, Any] = {}
        shared = self._shared
        if shared:
            asked = [(_together(self.readings[at]), self.names[at]) for at in shared]
            answers = found_together(connection, asked, unit=self.columns["unit"], table=_TABLE)
            found.update(zip(shared, answers, strict=True))
        for at, each in enumerate(self.readings):
            if at not in found:
                selected = ", ".join(f"{place} AS {name}" for name, place in self.names[at].items())
                connection.execute(f"CREATE OR REPLACE TEMP VIEW {each.table} AS SELECT {selected} FROM {_TABLE}")
                found[at] = each.query(connection)
        return [found[at] for at in range(len(self.readings))]


def _together(reading: Reading) -> Places | UnitNumbers:
    assert reading.together is not None
    return reading.together
