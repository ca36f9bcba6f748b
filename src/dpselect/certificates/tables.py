"""A release as a table and as a picture: a row and a bar for each value."""

from __future__ import annotations

import math
from datetime import date
from typing import TYPE_CHECKING, Any, cast

from dpselect.errors import InvalidParameterError, Shown
from dpselect.questions.question import QUESTIONS
from dpselect.questions.words import as_text

if TYPE_CHECKING:
    from altair import LayerChart

MOST_BARS = 100
"""In one picture."""


def columns(release: Any) -> dict[str, list[Any]]:
    """The columns of a table with one row for each value.

    ``group`` if there are groups; what the value is, under the name that the release prints (``value``, ``bin``,
    ``level``, ``rank``, ``answer``); ``released``; ``units``, the noisy count of each answer, if counts were released;
    and, if there is an error bound of the count or of the value itself, ``lower`` and ``upper``: the number minus and
    plus the bound, as far as the question's public arguments allow: no count is below 0, and no mean outside the bounds
    that values are clipped to. Counts of values without a list have none: those selected tend to be
    high, so that no interval of each holds.
    """
    kind, value = QUESTIONS[release.task], release.value
    answers: dict[Any, Any] = cast("dict[Any, Any]", value) if isinstance(value, dict) else {None: value}
    label = kind.label
    table: dict[str, list[Any]] = {"group": [], label: [], "released": []}
    bounds: list[float | None] = []
    for group, answer in answers.items():
        listed = cast("list[Any]", answer) if isinstance(answer, list) else [answer]
        table["group"] += [group] * len(listed)
        table[label] += kind.keys(release, len(listed))
        table["released"] += listed
        bounds += [kind.value_bound(release, _units(release, group))] * len(listed)
    if release.groups is None:
        del table["group"]
    counted = release.counted
    if counted is not None and counted.count is not None:
        table["units"] = _flat(counted.count)
        if not kind.bounds_every_count:
            return table
        table["lower"] = [max(0, each - counted.within) for each in table["units"]]
        table["upper"] = [each + counted.within for each in table["units"]]
        return table
    known = [bound for bound in bounds if bound is not None and math.isfinite(bound)]
    if len(known) == len(bounds):
        # Whole numbers throughout for counts: a column of a frame has one type.
        known = [math.ceil(bound) for bound in known] if kind.is_count else known
        least, most = kind.possible_values(release)
        pairs = [*zip(table["released"], known, strict=True)]
        table["lower"] = [max(least, each - bound) for each, bound in pairs]
        table["upper"] = [min(most, each + bound) for each, bound in pairs]
    return table


def plotted(release: Any) -> LayerChart:
    """A bar for each released number, or for the count of each released candidate, with its error bar.

    Places on the scale of the column, such as quantiles, are points.

    Raises:
        InvalidParameterError: the values are not numbers, or there are too many.
        MissingExtraError: the extra ``plots`` is not installed.
    """
    table, kind = columns(release), QUESTIONS[release.task]
    values: list[Any] = table.get("units", table["released"])
    of_dates = any(isinstance(each, date) for each in values)
    if of_dates or (not kind.measure and "units" not in table):
        hint = "" if of_dates else "Ask with_counts=True for the number of units with each answer."
        expected = "a release of numbers, such as a histogram"
        raise InvalidParameterError("release", Shown(f"<{release.task}>"), expected, hint)
    if len(values) > MOST_BARS:
        raise InvalidParameterError("release", Shown(f"<{len(values):,} numbers>"), f"at most {MOST_BARS} numbers")
    labels = [as_text(key) for key in table["released" if "units" in table else kind.label]]
    if "group" in table:
        several = len(labels) > len(cast("dict[Any, Any]", release.value))
        groups = [as_text(group) for group in table["group"]]
        labels = [f"{group}, {key}" for group, key in zip(groups, labels, strict=True)] if several else groups
    from dpselect.charts import bars, colour_of

    return bars(
        labels,
        values,
        category=str(release.groups["column"])
        if release.groups is not None
        else _category("value" if "units" in table else kind.label, release),
        value=(kind.measure or "units ({unit})").format(unit=release.unit, column=release.column),
        title=f"{release.task.replace('_', ' ').capitalize()} of {release.column}",
        subtitle=" ".join((release.promise, *release.sentences)),
        ends=(table["lower"], table["upper"]) if "lower" in table else None,
        colour=colour_of(release.mechanism),
        as_points=not (kind.is_amount or "units" in table),
    )


def _flat(count: Any) -> list[int]:
    """The counts of all answers one after another."""
    parts: list[Any] = [*cast("dict[Any, Any]", count).values()] if isinstance(count, dict) else [count]
    return [number for part in parts for number in (cast("list[int]", part) if isinstance(part, list) else [part])]


def _units(release: Any, group: Any) -> int | None:
    """The released number of units of `group`, or of all rows."""
    count: Any = None if release.usable is None else release.usable.count
    return count if group is None or count is None else count.get(group)


def _category(label: str, release: Any) -> str:
    """The heading of the bars' labels: the column whose values or bins they are, or what else they are."""
    return release.column if label in ("value", "bin") else label
