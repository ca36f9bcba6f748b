"""Axes: what they say, how far they reach, and reference lines across them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from dpselect.arguments import finite_number
from dpselect.charts.files import altair
from dpselect.charts.theme import TICKS, text
from dpselect.errors import InvalidParameterError, Shown

FloatArray = NDArray[np.float64]

LARGEST, SMALLEST = 1e300, 1e-300
"""What a chart can hold; beyond, the drawing library's arithmetic would leave the doubles."""

_ROUND = np.array([float(f"{digit}e{power}") for power in range(-302, 303) for digit in (1, 2, 5)])

Marks = Mapping[float, str]
"""Places on an axis, each with the words written there."""

NO_MARKS: Marks = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """What is measured along one side of a chart.

    Args:
        title: the quantity with its unit, as ``"expected error (unit of the scores)"``.
        log: logarithmic; points that are not positive have no place on it, and leave a gap in their line.
        lowest: where the axis begins; lines are cut there. Default: at or below the lowest point.
        highest: where the axis ends; lines are cut there. Default: at or above the highest point.

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
            if end is not None and not self.drawable(np.array([finite_number(end, name)]))[0]:
                raise InvalidParameterError(name, end, f"a {self.expected}")
        if self.lowest is not None and self.highest is not None and not self.lowest < self.highest:
            raise InvalidParameterError("highest", self.highest, "a number above lowest")

    @property
    def expected(self) -> str:
        """What has a place on it, for errors."""
        return "finite number > 0 (the axis is logarithmic)" if self.log else "finite number"

    def drawable(self, values: FloatArray) -> NDArray[np.bool_]:
        """Which of `values` have a place on an axis of this kind, however far it reaches."""
        return (values >= SMALLEST) & (values <= LARGEST) if self.log else np.abs(values) <= LARGEST

    def seen(self, values: FloatArray) -> NDArray[np.bool_]:
        """Which of `values` have a place between the ends that were given."""
        low = -LARGEST if self.lowest is None else self.lowest
        high = LARGEST if self.highest is None else self.highest
        return self.drawable(values) & (values >= low) & (values <= high)

    def channel(self, side: Literal["x", "y"], values: FloatArray, marks: Marks, field: str = "") -> Any:
        """The encoding of one `side` of a chart, for numbers of which at least one is seen."""
        if not self.seen(values).any():
            raise InvalidParameterError(
                side, Shown("<no point on the axis>"), f"at least one {self.expected}, between its ends"
            )
        shown = np.array([*values[self.drawable(values)], *marks])
        low = shown.min() if self.lowest is None else self.lowest
        high = shown.max() if self.highest is None else self.highest
        if low == high:
            low, high = (low / 2, high * 2) if self.log else (low, high + (abs(high) or 1.0))
        if self.log:  # to the next 1, 2 or 5 times a power of ten, where the library would go to the next power
            low = _ROUND[np.searchsorted(_ROUND, low * (1 + 1e-9), side="right") - 1] if self.lowest is None else low
            high = _ROUND[np.searchsorted(_ROUND, high * (1 - 1e-9))] if self.highest is None else high
        nice = False if self.log or self.lowest or self.highest else TICKS  # it would move an end that was given
        scale = {"type": "log" if self.log else "linear", "domain": [float(low), float(high)], "nice": nice}
        return getattr(altair(), side.upper())(f"{field or side}:Q", title=self.title, scale=scale)


def mark_layers(axis: Axis, side: Literal["x", "y"], name: str, marks: Marks) -> tuple[list[Any], list[Any]]:
    """Thin lines across the frame, to lie below what is drawn, and their words, to lie above; both may be empty."""
    words = list(cast("Mapping[float, object]", marks).values()) if isinstance(cast(object, marks), Mapping) else [None]
    if not all(isinstance(each, str) for each in words):
        raise InvalidParameterError(name, marks, "a mapping from numbers to texts")
    places = np.array([finite_number(place, name) for place in marks], dtype=np.float64)
    if not axis.drawable(places).all():
        raise InvalidParameterError(name, marks, f"a mapping to texts, from one {axis.expected} each")
    rows = [{side: place, "words": marks[place]} for place in places[axis.seen(places)].tolist()]
    if not rows:
        return [], []
    alt = altair()
    base = alt.Chart({"values": rows}).encode(**{side: f"{side}:Q"})
    across = {"y": alt.value(0)} if side == "x" else {"x": alt.value(5)}  # above the frame, or at its left
    named = base.mark_text(baseline="bottom", align="left", dy=-3).encode(text="words:N", **across)
    return [base.mark_rule()], [named]
