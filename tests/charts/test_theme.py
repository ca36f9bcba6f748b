"""The theme survives a printer without colours."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from dpselect.charts.drawing import BAR_COLOURS, DARK, DISTINCT_STYLES, LINE_COLOURS, LINE_DASHES
from tests.charts.pictures import contrast_with_white, lightness

RAINBOW = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b")
"""A palette made for screens, by hue."""


def steps(colours: Sequence[str]) -> list[float]:
    """How much lighter each colour is than the one before."""
    return [lightness(after) - lightness(before) for before, after in pairwise(colours)]


@pytest.mark.parametrize("colours", [LINE_COLOURS, (*BAR_COLOURS, "#ffffff")])
def test_each_colour_is_lighter_than_the_one_before(colours: Sequence[str]) -> None:
    assert min(steps(colours)) > 6


def test_the_law_above_can_fail() -> None:
    assert min(steps(RAINBOW)) < 0


def test_lines_stand_out_from_paper() -> None:
    assert min(map(contrast_with_white, (*LINE_COLOURS, DARK))) >= 3
    assert min(map(contrast_with_white, RAINBOW)) < 3


def test_every_line_has_a_dash_of_its_own() -> None:
    assert len(LINE_COLOURS) == len(set(LINE_DASHES)) == len(set(DISTINCT_STYLES))


def test_the_styles_taken_first_are_the_most_distinct() -> None:
    first_three = [lightness(LINE_COLOURS[style]) for style in sorted(DISTINCT_STYLES[:3])]
    assert min(after - before for before, after in pairwise(first_three)) > 20
