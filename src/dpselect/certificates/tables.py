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
    """The columns of a table with one row for each value; they are described at `dpselect.Release.to_pandas`."""
    return _tabled(release)[1]


def _tabled(release: Any) -> tuple[list[str], dict[str, list[Any]], list[Any]]:
    """The names of the columns before ``released``, all columns, and the values with digits as their errors leave them.

    The names are those of the groups, and last of what the value is. No interval goes further than the question's
    public arguments allow. Counts of values without a list have none: those selected tend to be high, so that no
    interval of each holds.
    """
    kind, value = QUESTIONS[release.task], release.value
    counts: Any = getattr(release.counted, "count", None)
    grouped: Any = release.question.get("by", []) if release.groups is not None else []
    heads, numbers = list[str](), ["released", "units", "lower", "upper"]
    for name in [*([grouped] if isinstance(grouped, str) else grouped), _category(kind.label, release)]:
        while name in (*numbers, *heads):
            name += "_"
        heads.append(name)
    table: dict[str, list[Any]] = {head: [] for head in (*heads, *numbers[: 1 if counts is None else 2])}
    bounds, reported = list[float | None](), list[Any]()
    for group, answer in (cast("dict[Any, Any]", value) if isinstance(value, dict) else {None: value}).items():
        listed, units = answer if kind.gives_list else [answer], release.units_in(group)
        parts = cast("tuple[Any, ...]", group) if isinstance(group, tuple) else (group,)
        for head, part in zip(heads[:-1], parts, strict=False):
            table[head] += [part] * len(listed)
        table[heads[-1]] += kind.keys(release, len(listed))
        table["released"] += listed
        reported += [wording.reported(release, each, group) for each in listed]
        bounds += [kind.value_bound(release, units, each) for each in listed]
        if counts is not None:
            counted = cast("Any", counts[group]) if isinstance(counts, dict) else counts
            table["units"] += counted if kind.gives_list else [counted]
    if counts is not None:
        within = None if release.candidates["origin"] == "rows" else release.counted.within
        bounds = [within] * max(1, len(table["units"]))
    known = [bound for bound in bounds if bound is not None and math.isfinite(bound)]
    if len(known) == len(bounds):
        # Whole numbers throughout for counts: a column of a frame has one type.
        known = [math.ceil(bound) for bound in known] if kind.is_count else known
        least, most = kind.possible_values(release) if counts is None else (0, math.inf)
        pairs = [*zip(table["released" if counts is None else "units"], known, strict=False)]
        table["lower"] = [max(least, each - bound) for each, bound in pairs]
        table["upper"] = [min(most, each + bound) for each, bound in pairs]
    return heads, table, reported


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
    kind, ((*by, label), held, values) = QUESTIONS[release.task], _tabled(release)
    heads, listed = [*by], [[*map(shown, held[name])] for name in by]
    is_one_each = bool(by) and len(held["released"]) == len(release.value)  # whose rank, level or number says nothing
    if kind.label != "answer" and not (is_one_each and kind.label in ("rank", "level", "number")):
        heads.append(label)
        listed.append([*map(shown, held[label])])
    what = "" if kind.label != "answer" or not held[label] else f"{held[label][0]} of "  # "best price of"
    measured = kind.measure.format(unit=release.unit, column=release.column)
    heads.append(measured or f"{what}{release.column}")
    listed.append([shown(each, is_amount=kind.is_amount) for each in values])
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
    (*by, label), held, values = _tabled(release)
    named = [*by, label] if QUESTIONS[release.task].label in ("value", "bin") else by
    units = [held["units"]] if "units" in held else []
    cells = [*(held[name] for name in named), values, *units]
    return ["  ".join(map(as_text, row)) for row in zip(*cells, strict=True)]


def plotted(release: Any) -> LayerChart:
    """A bar with its error for each released number, or the count of each candidate; see `dpselect.Release.plot`.

    A cross table, one number for each pair of groups, is a heat map. Places on the scale of the column, such as
    quantiles, are points.
    """
    kind, ((*by, label), table, _) = QUESTIONS[release.task], _tabled(release)
    values: list[Any] = table.get("units", table["released"])
    of_dates = any(isinstance(each, date) for each in values)
    if of_dates or (not kind.measure and "units" not in table):
        hint = "" if of_dates else "Ask with_counts=True for the number of units with each answer."
        expected = "a release of numbers, such as a histogram"
        raise InvalidParameterError("release", Shown(f"<{release.task}>"), expected, hint)
    if len(values) > MOST_BARS:
        raise InvalidParameterError("release", Shown(f"<{len(values):,} numbers>"), f"at most {MOST_BARS} numbers")
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


def _category(label: str, release: Any) -> str:
    """The heading of the bars' labels: the column whose values or bins they are, or what else they are."""
    return release.column if label in ("value", "bin") else label
