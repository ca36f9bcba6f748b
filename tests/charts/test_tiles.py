"""Heat maps: every number stands in its tile, in the order given, and can be read on its shade."""

from __future__ import annotations

from typing import Any

import pytest

from dpselect import charts
from tests.charts.pictures import words

PLACES = [("south", "m"), ("south", "f"), ("north of all rivers, and of the long hills", "m")]


def chart(values: Any = (3, 1234, 0.5), **options: Any) -> Any:
    return charts.tiles(PLACES, values, categories=("region", "sex"), value="people", title="People", **options)


def test_every_tile_has_its_number_and_the_sides_their_titles() -> None:
    assert {"3", "1,234", "0.500", "region", "sex", "People"} <= set(words(chart()))


def test_rows_and_columns_stand_in_the_order_given() -> None:
    encoding = chart().to_dict()["layer"][0]["encoding"]
    assert encoding["x"]["sort"] == ["m", "f"]
    assert encoding["y"]["sort"][0] == "south"
    assert encoding["y"]["sort"][1].count("\n") == 1  # a long label in two lines


@pytest.mark.parametrize(
    ("values", "from_zero", "domain"),
    [((3, 9, 5), True, [0, 9]), ((3, 9, 5), False, [3, 9]), ((-3, -9, -5), True, [-9, 0])],
)
def test_shades_begin_at_zero_for_amounts(values: Any, from_zero: bool, domain: list[float]) -> None:
    layer = chart(values, from_zero=from_zero).to_dict()["layer"][0]
    assert layer["encoding"]["color"]["scale"]["domain"] == domain


def test_a_screen_reader_says_each_tile() -> None:
    assert "datum.row" in chart().to_dict()["layer"][0]["mark"]["description"]["expr"]
