"""Answers about the counts of candidates."""

from __future__ import annotations

import math
from collections.abc import Iterable

from dpselect.answers.answer import Answer, Certified, Planned
from dpselect.answers.text import counted


class MostCommonAnswer(Answer):
    """A candidate that the most units have."""

    __slots__ = ()
    label = "rank"

    def keys(self, release: Certified) -> Iterable[str]:
        return [str(rank) for rank, _ in enumerate(self.values(release), 1)]

    def within(self, release: Planned, bound: float) -> str:
        return f"the count of the released {release.column} is within {_whole(bound)} of the best"

    def origin(self, release: Planned) -> str:
        return f"out of {release.candidates['count']:,} candidates given by the caller"


class LeastCommonAnswer(MostCommonAnswer):
    """A candidate that the fewest units have."""

    __slots__ = ()

    def within(self, release: Planned, bound: float) -> str:
        return f"the count of the released {release.column} is within {_whole(bound)} of the lowest"


class BestDateAnswer(MostCommonAnswer):
    """A date on which the most units are free."""

    __slots__ = ()
    label = "answer"

    def keys(self, release: Certified) -> Iterable[str]:
        return ["best date"]

    def within(self, release: Planned, bound: float) -> str:
        return f"the count of the released date is within {_whole(bound)} of the best"

    def origin(self, release: Planned) -> str:
        return f"out of {counted(release.candidates['count'], 'date')} given by the caller"


class TopKAnswer(MostCommonAnswer):
    """Several of them, best first."""

    __slots__ = ()

    def within(self, release: Planned, bound: float) -> str:
        return f"each count is within {_whole(bound)} of the best one left when it was selected"


def _whole(bound: float) -> str:
    """Counts are whole numbers, and so are the distances between them."""
    return f"{math.floor(bound):,}"
