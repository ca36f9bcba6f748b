"""Public candidates that are listed where the rows are, because there are too many to list here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpselect.summaries.candidates import CandidateKind


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DistantCandidates:
    """Candidates of one kind, without duplicates, in a frame of an engine that has checked and counted them.

    Attributes:
        kind: what they are.
        frame: the engine's own, of a column ``what``.
        count: how many there are.
        mark: the same for the same candidates in any order, and for others only by chance.

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
        """What a certificate says of the candidates."""
        return {"origin": "caller", "count": self.count, "kind": str(self.kind)}
