"""Bar charts: every bar with its label and number, and none that hides the others."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dpselect import charts
from dpselect.errors import InvalidParameterError
from tests.charts.pictures import axis_labels, saved, words

SECRET = 31337.25


def chart(labels: Any = ("red", "green"), groups: Any = None, **options: Any) -> Any:
    heights = {"share": [0.25, 0.75]} if groups is None else groups
    return charts.bars(labels, heights, **{"category": "colour", "value": "share", "title": "Colours", **options})


def rows(drawn: Any) -> list[dict[str, Any]]:
    return [row for values in drawn.to_dict()["datasets"].values() for row in values if "drawn" in row]


def test_bars_stand_in_the_order_given() -> None:
    names = ["zeta", "alpha", "10", "9"]
    shown = words(chart(names, {"share": [1, 4, 2, 3]}), "axis-label")
    assert [label for label in shown if label in names] == names


def test_every_bar_has_its_number_and_the_axes_their_titles() -> None:
    assert {"0.250", "0.750", "colour", "share", "Colours"} <= set(words(chart()))


def test_whole_numbers_are_written_as_such() -> None:
    assert {"3", "1,234"} <= set(words(chart(groups={"people": [3, 1234]})))


def test_groups_have_a_legend_in_their_order() -> None:
    grouped = chart(groups={"mode": [1.0, 2.0], "median": [3.0, 4.0]})
    assert words(grouped, "legend-label") == ["mode", "median"]
    assert words(chart(), "legend-label") == []


def test_a_sum_that_would_dwarf_the_others_is_cut_and_says_so() -> None:
    dwarfing = chart(["a", "the rest"], {"share": [0.01, 0.99]}, pale=[1])
    cut = rows(dwarfing)[1]
    assert cut["value"] == 0.99
    assert cut["drawn"] < 0.1
    assert "0.990, beyond the axis →" in words(dwarfing)


@pytest.mark.parametrize(
    ("heights", "pale"), [([0.3, 0.7], [1]), ([0.01, 0.99], []), ([0.0, 1.0], [1]), ([0.2, 0.8], [0, 1])]
)
def test_other_bars_are_drawn_in_full(heights: list[float], pale: list[int]) -> None:
    assert [row["drawn"] for row in rows(chart(groups={"share": heights}, pale=pale))] == heights


def test_no_bar_has_any_length() -> None:
    assert words(chart(groups={"share": [0.0, 0.0]})).count("0") >= 2


def test_labels_that_are_alike_have_a_bar_each() -> None:
    labels = ["a\nb", "a b", "", " ", "\x00\x1b", "a b [1]"]
    drawn = chart(labels, {"share": range(6)})
    assert [row["value"] for row in rows(drawn)] == list(range(6))
    expected = ["a b [0]", "a b [1]", "(empty) [2]", "(empty) [3]", "(empty) [4]", "a b [1] [5]"]
    assert axis_labels(drawn, "Y") == expected
    assert axis_labels(chart(["a\nb", ""]), "Y") == ["a b", "(empty)"]


def test_a_very_long_label_is_cut() -> None:
    cut, whole = axis_labels(chart(["x" * 99, "a long name that nevertheless is shown as it is"]), "Y")
    assert whole.endswith("as it is")
    assert cut.startswith("x" * 40)
    assert cut.endswith("…")


def test_a_screen_reader_is_told_each_bar() -> None:
    picture = saved(chart(["red", "the rest"], {"share": [0.01, 0.99]}, pale=[1]), ".svg").decode()
    assert 'aria-label="red, share: 0.0100"' in picture
    assert 'aria-label="the rest, share: 0.990, beyond the axis →"' in picture
    assert "with 2 values: red, the rest" in picture


def test_a_mark_lies_on_the_axis() -> None:
    assert "fifty" in words(chart(groups={"error": [25.0, 26.0]}, marks={50: "fifty"}))


BAD: list[tuple[str, Any]] = [
    ("labels", lambda: chart([])),
    ("labels", lambda: chart("ab")),
    ("labels", lambda: chart([1, 2])),
    ("groups", lambda: chart(groups={})),
    ("groups", lambda: chart(groups=[SECRET, 2])),
    ("groups", lambda: chart(groups={str(i): [1, 2] for i in range(4)})),
    ("groups", lambda: chart(groups={"share": [SECRET]})),
    ("groups", lambda: chart(groups={"share": [SECRET, -1]})),
    ("groups", lambda: chart(groups={"share": [SECRET, math.nan]})),
    ("groups", lambda: chart(groups={"share": [SECRET, math.inf]})),
    ("groups", lambda: chart(groups={"share": [SECRET, None]})),
    ("groups", lambda: chart(groups={"share": [str(SECRET), "1"]})),
    ("marks", lambda: chart(marks={math.nan: "here"})),
    ("category", lambda: chart(category="")),
    ("value", lambda: chart(value=None)),
    ("title", lambda: chart(title="")),
    ("width", lambda: chart(width=-5)),
]


@pytest.mark.parametrize(("named", "ask"), BAD)
def test_bad_arguments_are_refused_without_a_number_of_a_bar(named: str, ask: Any) -> None:
    with pytest.raises(InvalidParameterError, match=f"^{named}=") as refusal:
        ask()
    assert "31337" not in str(refusal.value) + repr(refusal.value.args)
