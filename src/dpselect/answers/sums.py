"""Answers about sums and means."""

from __future__ import annotations

from collections.abc import Iterable

from dpselect.answers.answer import Answer, Certified, Planned, counting_rows, from_rows
from dpselect.answers.text import as_text, counted, rounded_up


class BestByAnswer(Answer):
    """A candidate for which the units' amounts add up to the most."""

    __slots__ = ()
    label = "answer"

    def keys(self, release: Certified) -> Iterable[str]:
        return ["best"]

    def error_unit(self, release: Planned) -> str | None:
        return "sum"

    def within(self, release: Planned, bound: float) -> str:
        total = f"the total {release.arguments['sum']}"
        return f"{total} of the released {release.column} is within {f'{bound:,}'.removesuffix('.0')} of the best"

    def counting(self, release: Planned) -> str:
        return f", counting {self._clipped(release)} of each {release.unit}"

    def origin(self, release: Planned) -> str:
        listed = f"out of {release.candidates['count']:,} candidates given by the caller"
        return f"{listed}, each {release.unit} adding {self._clipped(release)} to one"

    def _clipped(self, release: Planned) -> str:
        asked = release.arguments
        low, high = (as_text(asked[end] / asked["scale"]) for end in ("lower", "upper"))
        return f"from {low} to {high}"


class MeanAnswer(Answer):
    """A mean over a public number of units."""

    __slots__ = ()
    label = "answer"

    def keys(self, release: Certified) -> Iterable[str]:
        return ["mean"]

    def error_unit(self, release: Planned) -> str | None:
        return "value"

    def within(self, release: Planned, bound: float) -> str:
        units = counted(release.arguments["units"], "unit")
        near = f"within {rounded_up(bound)} of the mean of {units}"
        return f"the released mean is {near}, units without a value counted as the midpoint"

    def counting(self, release: Planned) -> str:
        return counting_rows(release)

    def origin(self, release: Planned) -> str:
        return from_rows(release, "all numbers")
