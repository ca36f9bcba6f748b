"""Answers about the revenue of prices."""

from __future__ import annotations

from collections.abc import Iterable

from dpselect.answers.answer import Answer, Certified, Planned, counting_rows, from_rows
from dpselect.answers.text import counted


class PriceAnswer(Answer):
    """A price of a list, or between two bounds."""

    __slots__ = ()
    label = "answer"
    unbounded = f"{Answer.unbounded}; with a list of prices there is one"

    def keys(self, release: Certified) -> Iterable[str]:
        return ["best price"]

    def error_unit(self, release: Planned) -> str | None:
        return "revenue"

    def within(self, release: Planned, bound: float) -> str:
        within = f"{bound:,}".removesuffix(".0")
        return f"the revenue of the released price is within {within} of the best"

    def counting(self, release: Planned) -> str:
        return counting_rows(release)

    def origin(self, release: Planned) -> str:
        public = release.candidates
        if "count" not in public:
            return from_rows(release, "all prices")
        return from_rows(release, counted(public["count"], "price"), ends=("lowest", "highest"))
