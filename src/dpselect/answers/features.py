"""Answers about features, each by itself."""

from __future__ import annotations

import math

from dpselect.answers.answer import Certified
from dpselect.answers.counts import TopKAnswer


class FeaturesAnswer(TopKAnswer):
    """Several features, best first."""

    __slots__ = ()

    def error_unit(self, release: Certified) -> str | None:
        return "weighted rows"

    def within(self, release: Certified, bound: float) -> str:
        fewer = f"is right about at most {math.floor(bound):,} fewer {release.unit}s, as weighted,"
        return f"the best rule on each feature {fewer} than that on the best one left when it was selected"

    def origin(self, release: Certified) -> str:
        return f"out of {release.candidates['count']:,} features"
