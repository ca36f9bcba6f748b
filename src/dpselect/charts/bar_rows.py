"""The bars of a bar chart, checked and turned into rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

import numpy as np

from dpselect.charts.axes import LARGEST
from dpselect.charts.checks import vector
from dpselect.charts.marks import Marks
from dpselect.charts.style import BAR_COLOURS
from dpselect.charts.text import number_text
from dpselect.errors import InvalidParameterError, Shown

Heights = Mapping[str, list[float]]
"""From the name of a group to one number for each label."""

MOST_BARS = 100
_ROOM_FOR_NUMBERS = 1.14
"""The axis is longer than the longest bar by this factor, for the number at its end."""

_DWARFED = 4
"""A pale bar longer than the others by more than this factor is cut at the frame, and says so."""


def checked_heights(labels: object, groups: object) -> Heights:
    """The numbers by group, if there is one for every label."""
    texts = list(cast("Sequence[object]", labels)) if isinstance(labels, Sequence) else []
    if isinstance(labels, str) or not texts or not all(isinstance(label, str) for label in texts):
        raise InvalidParameterError("labels", cast(object, labels), "a list of texts, at least one")
    named = dict(cast("Mapping[object, object]", groups)) if isinstance(groups, Mapping) else {}
    if not 1 <= len(named) <= len(BAR_COLOURS):
        expected = f"a mapping from 1 to {len(BAR_COLOURS)} names to numbers"
        raise InvalidParameterError("groups", cast(object, groups), expected)
    count = len(texts) * len(named)
    if count > MOST_BARS:
        hint = "Add the small ones up."
        raise InvalidParameterError("labels", Shown(f"<{count} bars>"), f"at most {MOST_BARS} bars", hint)
    return {str(name): _numbers(numbers, len(texts)) for name, numbers in named.items()}


def _numbers(numbers: object, count: int) -> list[float]:
    expected = f"{count} numbers from 0 to {LARGEST:g}"
    heights = vector("groups", numbers, expected)
    if heights.shape != (count,) or not ((heights >= 0) & (heights <= LARGEST)).all():
        raise InvalidParameterError("groups", numbers, expected)
    return [float(height) for height in heights]


def bar_domain(heights: Heights, marks: Marks, pale: Collection[int]) -> tuple[float, float]:
    """How far the axis reaches: for the longest bar and its number, unless a pale one would dwarf all others."""
    full = np.array([*heights.values()])
    alike = full[:, [index for index in range(full.shape[1]) if index not in pale]]
    longest = float(full.max())
    if alike.size and 0 < float(alike.max()) * _DWARFED < longest:
        longest = float(alike.max()) * 2
    return 0.0, (max(longest, *marks, 0.0) * _ROOM_FOR_NUMBERS) or 1.0


def bar_rows(labels: list[str], heights: Heights, pale: Collection[int], end: float) -> list[dict[str, Any]]:
    """One row a bar: what it is, how long it is, how far it is drawn, and the number at its end."""
    whole = all(number.is_integer() and number < 1e6 for numbers in heights.values() for number in numbers)
    rows: list[dict[str, Any]] = []
    for index, label in enumerate(labels):
        for group, numbers in heights.items():
            number = numbers[index]
            text = f"{number:,.0f}" if whole else number_text(number, zeros=True)
            cut = number > end
            rows.append(
                {
                    "label": label,
                    "group": group,
                    "value": number,
                    "drawn": min(number, end),
                    "text": f"{text}, beyond the axis →" if cut else text,
                    "cut": cut,
                    "pale": index in pale,
                }
            )
    return rows
