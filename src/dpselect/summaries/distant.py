"""Public candidates listed by the engine that has the rows, because there are too many to list locally."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpselect.summaries.candidates import CandidateKind


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DistantCandidates:
    """Candidates of one kind, without duplicates, in a frame of an engine that has checked and counted them.

    Attributes:
        kind: their kind.
        frame: the engine's own frame, with a column ``what``.
        count: their number.
        mark: equal for the same candidates in any order, and equal for others only by chance.

    >>> len(DistantCandidates(CandidateKind.TEXT, frame=None, count=20_000_000, mark="5f1c"))
    20000000
    """

    kind: CandidateKind
    frame: Any
    count: int
    mark: str

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return f"DistantCandidates(<{self.count} {self.kind}>, mark={self.mark!r})"

    def description(self) -> dict[str, Any]:
        """The candidates in a certificate."""
        return {"origin": "caller", "count": self.count, "kind": str(self.kind)}
