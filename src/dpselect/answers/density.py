"""Answers about the shares of bins."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise

from dpselect.answers.answer import Answer, Certified, Planned, Value, counting_rows, from_rows
from dpselect.answers.text import counted


class DensityAnswer(Answer):
    """The share of the units in each bin, from noisy counts or from a sample."""

    __slots__ = ()
    label = "bin"

    def keys(self, release: Certified) -> Iterable[str]:
        """Where each bin begins and ends, with the digits that tell them apart."""
        lower, upper, count = (release.candidates[name] for name in ("lower", "upper", "count"))
        width = upper / count - lower / count
        digits = min(max(0, 2 - math.floor(math.log10(width))), 300)
        shown = [f"{lower + place * width:.{digits}f}" for place in range(count + 1)]
        edges = [each.rstrip("0").rstrip(".") if "." in each else each for each in shown]
        return [f"{begin} to {end}" for begin, end in pairwise(edges)]

    def told(self, value: Value) -> Value:
        return round(value, 6) if isinstance(value, float) else value

    def error_unit(self, release: Planned) -> str | None:
        return "share" if _is_sample(release) else None

    def within(self, release: Planned, bound: float) -> str:
        if _is_sample(release):
            up = math.ceil(bound * 1e4) / 1e4
            return f"the share of the units below any edge of a bin is within {up:g} of the truth"
        return f"the noisy count of each bin is within {math.floor(bound):,} of the truth"

    def counting(self, release: Planned) -> str:
        return counting_rows(release)

    def origin(self, release: Planned) -> str:
        return from_rows(release, counted(release.candidates["count"], "bin"))


def _is_sample(release: Planned) -> bool:
    return release.arguments.get("method") == "sample"
