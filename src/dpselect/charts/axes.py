"""Axes: what they say, how far they reach, and where their ticks and grid lines are."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpselect.charts.checks import is_number, text
from dpselect.charts.style import MAJOR_GRID, MINOR_GRID
from dpselect.charts.text import number_text
from dpselect.errors import InvalidParameterError

FloatArray = NDArray[np.float64]

LARGEST, SMALLEST = 1e300, 1e-300
"""What a chart can hold; beyond, its own arithmetic would leave the doubles."""

_STEPS = (1, 2, 5)
_FEW_DECADES, _MANY_DECADES = 2.3, 8.0
"""Up to the first, 1, 2 and 5 of each decade are labelled; from the second on, not even each decade."""

_MOST_BETWEEN_LABELS = 5
"""Decades; where there are more, only the labelled have a tick."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """What is measured along one side of a chart.

    Args:
        title: the quantity with its unit, as ``"expected error (unit of the scores)"``.
        log: logarithmic; points that are not positive have no place on it, and leave a gap in their line.
        lowest: where the axis begins; lines are cut there. Default: below the lowest point.
        highest: where the axis ends; lines are cut there. Default: above the highest point.

    Raises:
        InvalidParameterError: no title, or ends that are not finite, not in order, or (on a log axis) not positive.

    >>> Axis(title="epsilon", log=True).log
    True
    """

    title: str
    log: bool = False
    lowest: float | None = None
    highest: float | None = None

    def __post_init__(self) -> None:
        text("title", self.title, "a text that names the quantity and its unit")
        for name, end in (("lowest", self.lowest), ("highest", self.highest)):
            if end is not None and not (is_number(end) and self.drawable(np.array([end], dtype=np.float64))[0]):
                expected = "a finite number > 0 (the axis is logarithmic)" if self.log else "a finite number"
                raise InvalidParameterError(name, end, expected)
        if self.lowest is not None and self.highest is not None and not self.lowest < self.highest:
            raise InvalidParameterError("highest", self.highest, "a number above lowest")

    def drawable(self, values: FloatArray) -> NDArray[np.bool_]:
        """Which of `values` have a place on the axis."""
        return (values >= SMALLEST) & (values <= LARGEST) if self.log else np.abs(values) <= LARGEST

    def domain(self, values: FloatArray) -> tuple[float, float]:
        """From where to where the axis reaches, for data `values` of which at least one is drawable."""
        shown = values[self.drawable(values)]
        low = float(shown.min()) if self.lowest is None else float(self.lowest)
        high = float(shown.max()) if self.highest is None else float(self.highest)
        if self.log:
            return _log_domain(low, high, fixed=(self.lowest is not None, self.highest is not None))
        return _linear_domain(low, high, fixed=(self.lowest is not None, self.highest is not None))


def _linear_domain(low: float, high: float, *, fixed: tuple[bool, bool]) -> tuple[float, float]:
    """Outwards to the next round number, except at a `fixed` end."""
    if low >= high:  # one value only, or all beyond the end that was given
        reach = max(abs(low), abs(high), 1.0) / 2
        low, high = (low, low + reach) if fixed[0] else (high - reach, high if fixed[1] else high + reach)
    step = min(_ticks((high - low) / 12, (high - low) / 2), key=lambda tick: abs(math.log(6 * tick / (high - low))))
    below, above = (float(f"{count * step:.12g}") for count in (math.floor(low / step), math.ceil(high / step)))
    return (low if fixed[0] else min(low, below)), (high if fixed[1] else max(high, above))


def _log_domain(low: float, high: float, *, fixed: tuple[bool, bool]) -> tuple[float, float]:
    """Outwards to the next 1, 2 or 5 times a power of ten, except at a `fixed` end."""
    if low >= high:
        low, high = (low, 10 * low) if fixed[0] else (high / 10, high) if fixed[1] else (low / 2, 2 * low)
    if not fixed[0]:
        low = max(_ticks(low / 10, low * (1 + 1e-9)), default=low)
    if not fixed[1]:
        high = min(_ticks(high * (1 - 1e-9), high * 10), default=high)
    return low, high


def _ticks(low: float, high: float, steps: tuple[int, ...] = _STEPS) -> list[float]:
    """The multiples of powers of ten by `steps` from `low` to `high`, in order."""
    decades = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    ticks = (float(f"{step}e{decade}") for decade in decades for step in steps)
    return [tick for tick in ticks if low <= tick <= high and 0 < tick < math.inf]


def scale_of(axis: Axis, domain: tuple[float, float]) -> dict[str, object]:
    """The scale of an `axis` that reaches over `domain`."""
    if axis.log:
        return {"type": "log", "domain": list(domain), "nice": False, "clamp": False}
    return {"type": "linear", "domain": list(domain), "nice": False, "zero": False}


def ticks_of(axis: Axis, domain: tuple[float, float]) -> dict[str, object]:
    """Ticks, labels and grid of an `axis` that reaches over `domain`; on a log axis with faint lines in between."""
    if not axis.log:
        return {"title": axis.title, "tickCount": 6, "grid": True}
    ticks, labelled = _log_ticks(domain)
    texts = [number_text(tick) if tick in labelled else "" for tick in ticks]
    # The library's own labels of a log axis overlap or vanish; a chart looks each tick's up in this list instead.
    lookup = f"{json.dumps(texts)}[indexof({json.dumps(ticks)}, datum.value)]"
    is_labelled = f"indexof({json.dumps(labelled)}, datum.value) >= 0"
    return {
        "title": axis.title,
        "values": ticks,
        "grid": True,
        "labelExpr": lookup,
        "labelOverlap": False,
        "gridColor": {"condition": {"test": is_labelled, "value": MAJOR_GRID}, "value": MINOR_GRID},
        "tickSize": {"condition": {"test": is_labelled, "value": 6}, "value": 3},
    }


def _log_ticks(domain: tuple[float, float]) -> tuple[list[float], list[float]]:
    """All ticks of a log axis, and those among them that carry a label."""
    low, high = domain[0] * (1 - 1e-9), domain[1] * (1 + 1e-9)
    span = math.log10(high) - math.log10(low)
    decades = _ticks(low, high, (1,))
    if span <= _FEW_DECADES:
        return _ticks(low, high, tuple(range(1, 10))), _ticks(low, high)
    if span <= _MANY_DECADES:
        return _ticks(low, high, tuple(range(1, 10))), decades
    step = math.ceil(span / _MANY_DECADES)
    labelled = [tick for tick in decades if round(math.log10(tick)) % step == 0]
    return (decades if step <= _MOST_BETWEEN_LABELS else labelled), labelled
