"""A release as a table and as a picture: a row and a bar for each value."""

from __future__ import annotations

import math
from datetime import date
from typing import TYPE_CHECKING, Any, cast

from dpselect.errors import InvalidParameterError, Shown
from dpselect.questions import wording
from dpselect.questions.question import QUESTIONS
from dpselect.questions.words import as_text

if TYPE_CHECKING:
    from altair import LayerChart

MOST_BARS = 100


def columns(release: Any) -> dict[str, list[Any]]:
    """The columns of a table with one row for each value.

    They are described at `dpselect.Release.to_pandas`. No interval goes further than the question's public arguments
    allow. Counts of values without a list have none: those selected tend to be high, so that no interval of each holds.
    """
    kind, value = QUESTIONS[release.task], release.value
    answers: dict[Any, Any] = cast("dict[Any, Any]", value) if isinstance(value, dict) else {None: value}
    heads = headings(release)
    table: dict[str, list[Any]] = {head: [] for head in (*heads, "released")}
    bounds: list[float | None] = []
    for group, answer in answers.items():
        listed = cast("list[Any]", answer) if isinstance(answer, list) else [answer]
        parts = cast("tuple[Any, ...]", group) if isinstance(group, tuple) else (group,)
        for head, part in zip(heads[:-1], parts, strict=False):
            table[head] += [part] * len(listed)
        table[heads[-1]] += kind.keys(release, len(listed))
        table["released"] += listed
        bounds += [kind.value_bound(release, wording.units_of(release, group), each) for each in listed]
    counted = release.counted
    if counted is not None and counted.count is not None:
        table["units"] = _flat(counted.count)
        if release.candidates["origin"] == "rows":
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


def headings(release: Any) -> list[str]:
    """The names of the columns before ``released``: those of the groups, and last of what the value is."""
    by: Any = release.question.get("by", []) if release.groups is not None else []
    names = [*([by] if isinstance(by, str) else by), _category(QUESTIONS[release.task].label, release)]
    found = [*_NUMBERS]
    for name in names:
        while name in found:
            name += "_"
        found.append(name)
    return found[len(_NUMBERS) :]


_NUMBERS = ("released", "units", "lower", "upper")


def shown(value: object, *, is_amount: bool = False) -> str:
    """A value of an answer as a text; in quotes if blanks around or within it would not be seen.

    >>> shown(38.59), shown(1316684, is_amount=True), shown(" Paris"), shown("")
    ('38.59', '1,316,684', '" Paris"', '""')
    """
    if is_amount and isinstance(value, int | float):
        return f"{value:,}".removesuffix(".0")
    text = as_text(value)
    return text if text and text == " ".join(text.split()) else f'"{text}"'


def reported(release: Any) -> tuple[list[str], list[tuple[str, ...]]]:
    """The answer as people read it: headings, and a row of texts for each value, with its count and its interval."""
    kind, held = QUESTIONS[release.task], columns(release)
    *by, label = headings(release)
    heads, listed = [*by], [[*map(shown, held[name])] for name in by]
    is_one_each = bool(by) and len(held["released"]) == len(release.value)  # whose rank, level or number says nothing
    if kind.label != "answer" and not (is_one_each and kind.label in ("rank", "level", "number")):
        heads.append(label)
        listed.append([*map(shown, held[label])])
    what = "" if kind.label != "answer" or not held[label] else f"{held[label][0]} of "  # "best price of"
    measured = kind.measure.format(unit=release.unit, column=release.column)
    heads.append(measured or f"{what}{release.column}")
    listed.append([shown(each, is_amount=kind.is_amount) for each in _reported_values(release, held)])
    if "units" in held:
        heads.append(f"units ({release.unit})")
        listed.append([shown(each, is_amount=True) for each in held["units"]])
    if held.get("lower"):
        heads.append(f"{release.confidence:.0%} interval")
        ends = zip(held["lower"], held["upper"], strict=True)
        listed.append([" to ".join(wording.ends_shown(*each, is_amount=kind.is_amount)) for each in ends])
    return heads, [*zip(*listed, strict=True)]


def lines(release: Any) -> list[str]:
    """The answer in plain text, a line for each value: its groups, what was counted, the value, and its count."""
    held = columns(release)
    *by, label = headings(release)
    named = [*by, label] if QUESTIONS[release.task].label in ("value", "bin") else by
    units = [held["units"]] if "units" in held else []
    cells = [*(held[name] for name in named), _reported_values(release, held), *units]
    return ["  ".join(map(as_text, row)) for row in zip(*cells, strict=True)]


def _reported_values(release: Any, held: dict[str, list[Any]]) -> list[Any]:
    """The values with the digits that their errors leave."""
    by = headings(release)[:-1]
    parts = [*zip(*(held[name] for name in by), strict=True)] or [()] * len(held["released"])
    groups = (part[0] if len(part) == 1 else part or None for part in parts)
    kind = QUESTIONS[release.task]
    return [wording.reported(kind, release, *each) for each in zip(held["released"], groups, strict=True)]


def plotted(release: Any) -> LayerChart:
    """A bar with its error for each released number, or the count of each candidate; see `dpselect.Release.plot`.

    A cross table, one number for each pair of groups, is a heat map. Places on the scale of the column, such as
    quantiles, are points.
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
    *by, label = headings(release)
    labels = [as_text(key) for key in table["released" if "units" in table else label]]
    if by:
        several = len(labels) > len(cast("dict[Any, Any]", release.value))
        groups = [as_text(group) for group in zip(*(table[name] for name in by), strict=True)]
        labels = [f"{group}, {key}" for group, key in zip(groups, labels, strict=True)] if several else groups
    from dpselect.charts import bars, tiles

    words: dict[str, Any] = {
        "value": (kind.measure or "units ({unit})").format(unit=release.unit, column=release.column),
        "title": f"{release.task.replace('_', ' ').capitalize()} of {release.column}",
        "subtitle": " ".join((release.promise, *release.sentences)),
    }
    if len(by) == 2 and len(values) == len(cast("dict[Any, Any]", release.value)):
        pairs = [(as_text(row), as_text(column)) for row, column in zip(*(table[name] for name in by), strict=True)]
        return tiles(pairs, values, categories=(by[0], by[1]), from_zero=kind.is_amount, **words)
    category = _category("value" if "units" in table else kind.label, release)
    words["category"] = category if release.groups is None else str(release.groups["column"])
    ends = (table["lower"], table["upper"]) if "lower" in table else None
    return bars(labels, values, **words, ends=ends, as_points=not (kind.is_amount or "units" in table))


def _flat(count: Any) -> list[int]:
    """The counts of all answers one after another."""
    parts: list[Any] = [*cast("dict[Any, Any]", count).values()] if isinstance(count, dict) else [count]
    return [number for part in parts for number in (cast("list[int]", part) if isinstance(part, list) else [part])]


def _category(label: str, release: Any) -> str:
    """The heading of the bars' labels: the column whose values or bins they are, or what else they are."""
    return release.column if label in ("value", "bin") else label
