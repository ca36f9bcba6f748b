"""Bar charts: every bar with its label and number, and none that hides the others."""

from __future__ import annotations

import re
from typing import Any

from dpselect import charts
from tests.charts.pictures import axis_labels, saved, words


def chart(labels: Any = ("red", "green"), values: Any = (0.25, 0.75), **options: Any) -> Any:
    return charts.bars(labels, values, **{"category": "colour", "value": "share", "title": "Colours", **options})


def rows(drawn: Any) -> list[dict[str, Any]]:
    return [row for values in drawn.to_dict()["datasets"].values() for row in values if "tip" in row]


def test_bars_stand_in_the_order_given() -> None:
    names = ["zeta", "alpha", "10", "9"]
    shown = words(chart(names, [1, 4, 2, 3]), "axis-label")
    assert [label for label in shown if label in names] == names


def test_every_bar_has_its_number_and_the_axes_their_titles() -> None:
    assert {"0.250", "0.750", "colour", "share", "Colours"} <= set(words(chart()))


def test_whole_numbers_are_written_as_such() -> None:
    assert {"3", "1,234"} <= set(words(chart(values=[3, 1234])))


def test_no_bar_has_any_length() -> None:
    assert words(chart(values=[0.0, 0.0])).count("0") >= 2


def test_labels_that_are_alike_have_a_bar_each() -> None:
    labels = ["a\nb", "a b", "", " ", "\x00\x1b", "a b [1]"]
    drawn = chart(labels, range(6))
    assert [row["value"] for row in rows(drawn)] == list(range(6))
    expected = ["a b [0]", "a b [1]", "(empty) [2]", "(empty) [3]", "(empty) [4]", "a b [1] [5]"]
    assert axis_labels(drawn, "Y") == expected
    assert axis_labels(chart(["a\nb", ""]), "Y") == ["a b", "(empty)"]


def test_a_long_label_stands_in_lines_and_a_very_long_one_lacks_its_middle() -> None:
    labels = ["x" * 500 + " Building 7", "x" * 500 + " Building 8", "a long name that yet is shown as it is", "b"]
    drawn = chart(labels, [1, 2, 3, 4])
    cut, other, whole, short = (row["label"].split("\n") for row in rows(drawn))
    assert (" ".join(whole), short) == (labels[2], ["b"])
    assert (cut[-1][-10:], other[-1][-10:]) == ("Building 7", "Building 8")
    assert max(map(len, cut)) <= 32
    assert len(cut) <= 6
    assert len(axis_labels(drawn, "Y")) == 4
    picture = saved(drawn, ".svg").decode()
    assert int(re.search(r'<svg [^>]*? width="([0-9]+)', picture)[1]) < 750


def test_a_screen_reader_is_told_each_bar() -> None:
    picture = saved(chart(["red", "the rest"], [0.01, 0.99]), ".svg").decode()
    assert 'aria-label="red: 0.0100"' in picture
    assert 'aria-label="the rest: 0.990"' in picture
    assert "with 2 values: red, the rest" in picture


def test_a_number_below_zero_stands_outside_its_bar() -> None:
    drawn = chart(("a", "b"), (-12.5, 7), ends=([-14, 5], [-11, 9])).to_dict()
    below, above = rows(chart(("a", "b"), (-12.5, 7), ends=([-14, 5], [-11, 9])))
    assert (below["tip"], below["below"]) == (-14, True)
    assert (above["tip"], above["below"]) == (9, False)
    (text,) = (layer for layer in drawn["layer"] if layer["mark"]["type"] == "text")
    assert text["encoding"]["x"]["field"] == "tip"
    assert text["mark"]["align"] == {"expr": "datum.below ? 'right' : 'left'"}
    scales = [layer["encoding"]["x"].get("scale", {}) for layer in drawn["layer"]]
    assert any(scale.get("domainMin", 0) < -14 for scale in scales)  # room for the number
    assert [row["tip"] for row in rows(chart(("a", "b"), (-12.5, 7)))] == [-12.5, 7]


def test_points_stand_on_an_axis_of_their_own_scale() -> None:
    drawn = chart(("a", "b"), (1020, 1030), as_points=True).to_dict()
    marks = [layer["mark"]["type"] for layer in drawn["layer"]]
    assert marks == ["point", "text"]
    assert drawn["layer"][0]["encoding"]["x"]["scale"]["zero"] is False
    assert (
        min(float(each.replace(",", "")) for each in axis_labels(chart(values=(1020, 1030), as_points=True), "X")) > 900
    )
    with_ends = chart(("a", "b"), (1020, 1030), as_points=True, ends=([1010, 1020], [1030, 1040])).to_dict()
    assert [layer["mark"]["type"] for layer in with_ends["layer"]] == ["errorbar", "point", "text"]
