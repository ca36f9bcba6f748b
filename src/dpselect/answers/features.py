"""Answers about features, each by itself."""

from __future__ import annotations

import math

from dpselect.answers.answer import Planned
from dpselect.answers.counts import TopKAnswer


class FeaturesAnswer(TopKAnswer):
    """Several features, best first."""

    __slots__ = ()

    def error_unit(self, release: Planned) -> str | None:
        return "weighted rows"

    def within(self, release: Planned, bound: float) -> str:
        fewer = f"is right about at most {math.floor(bound):,} fewer {release.unit}s (weighted)"
        return f"the best rule on each selected feature {fewer} than on the best one left when it was selected"

    def origin(self, release: Planned) -> str:
        return f"out of {release.candidates['count']:,} features"
