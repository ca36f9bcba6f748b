"""Answers about the ranks of numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable

from dpselect.answers.answer import Answer, Certified, Planned, counting_rows, from_rows
from dpselect.answers.text import as_text


class QuantileAnswer(Answer):
    """A number that about a share of the values lies below."""

    __slots__ = ()
    label = "level"
    unbounded = f"{Answer.unbounded}; with a step there is one"

    def keys(self, release: Certified) -> Iterable[str]:
        return [as_text(release.arguments["level"])]

    def error_unit(self, release: Planned) -> str | None:
        return "ranks"

    def within(self, release: Planned, bound: float) -> str:
        near = f"within {math.ceil(bound):,} ranks of the true {as_text(release.arguments['level'])}-quantile"
        grid = f"values rounded to steps of {as_text(release.candidates['step'])}"
        return f"the released {release.column} is {near}, {grid}"

    def counting(self, release: Planned) -> str:
        return counting_rows(release)

    def origin(self, release: Planned) -> str:
        public = release.candidates
        numbers = f"the {public['count']:,} numbers" if public["source"] == "grid" else "all numbers"
        return from_rows(release, numbers)


class QuantilesAnswer(QuantileAnswer):
    """Several of them, for which no bound on the error is known, with or without a step."""

    __slots__ = ()
    unbounded = "No bound on the error of several quantiles is stated"

    def keys(self, release: Certified) -> Iterable[str]:
        return [as_text(level) for level in release.arguments["levels"]]

    def error_unit(self, release: Planned) -> str | None:
        return None
