"""The largest sum: planned at the scale of the range, drawn from clipped sums, certified in the column's unit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect import Neighbours
from dpselect.errors import InvalidParameterError
from tests.drawn_answers import drawn, planned, released
from tests.laws.goodness_of_fit import NEVER, p_value

PAGES = ["/a", "/b", "/c"]


@pytest.mark.parametrize(
    ("clip", "neighbours", "scale"),
    [
        ((0, 600), "add_remove", 1200.0),
        ((100, 600), "add_remove", 1200.0),
        ((-600, -100), "add_remove", 1200.0),
        ((-60, 600), "add_remove", 1320.0),
        ((0, 600), "replace_one", 2400.0),
        ((-60, 600), "replace_one", 2640.0),
    ],
)
def test_the_scale_is_the_range_over_epsilon(clip: tuple[int, int], neighbours: str, scale: float) -> None:
    task = planned("best_by", candidates=PAGES, sum="seconds", clip=clip, epsilon=0.5, neighbours=neighbours)
    assert task.mechanism.scale == scale
    assert task.mechanism.event == dps.PermuteAndFlip(epsilon=0.5, sensitivity=1).event


def test_the_draws_follow_the_law() -> None:
    """The control is the law at the sensitivity instead of the range."""
    totals = [0, 3, 5]
    task = planned("best_by", candidates=PAGES, sum="seconds", clip=(-2, 5), epsilon=3.0)
    answers = [drawn(task, totals).answer for _ in range(12_000)]
    counts = np.array([answers.count(page) for page in ("/a", "/b", "/c")])
    laws = [dps.PermuteAndFlip(epsilon=3.0, sensitivity=most, monotonic=True).pmf(totals) for most in (7, 5)]
    assert p_value(counts, laws[0]) > NEVER
    assert p_value(counts, laws[1]) < NEVER


def test_the_certificate_is_in_the_unit_of_the_column() -> None:
    task = planned("best_by", candidates=PAGES, sum="paid", clip=(-2.5, 99.99), scale=100, epsilon=1.0)
    release = released(task, [0, 10**9, 0])
    assert release.value == "/b"
    assert (release.sensitivity, release.monotonic, release.neighbours) == (99.99, False, Neighbours.ADD_REMOVE)
    assert release.arguments == {"sum": "paid", "scale": 100.0, "lower": -250, "upper": 9999}
    whole = dps.PermuteAndFlip(epsilon=1.0, sensitivity=10249, monotonic=True).error_bound(3)
    assert release.error_bound == np.floor(whole) / 100
    assert release.proofs[0] == "proofs/clipped_sums.md"


@pytest.mark.parametrize("totals", [[2**63 - 1, -(2**63), 0], [-(2**63), 2**63 - 1, 0]])
def test_sums_at_the_end_of_64_bits_are_told_apart(totals: list[int]) -> None:
    task = planned("best_by", candidates=PAGES, sum="paid", clip=(-(2**31), 2**31), epsilon=1.0)
    assert released(task, totals).value == ["/a", "/b"][int(np.argmax(totals))]


CLIPS: list[tuple[dict[str, Any], str]] = [
    ({"sum": 3}, "sum=3"),
    ({"clip": 5}, "clip=5"),
    ({"clip": (5, 5)}, "clip=(5.0, 5.0)"),
    ({"clip": (5, 0)}, "clip=(5.0, 0.0)"),
    ({"clip": (0, float("nan"))}, "clip=nan"),
    ({"clip": (0, float("inf"))}, "clip=inf"),
    ({"clip": (0, 0.5)}, "clip=(0.0, 0.5): expected bounds that are whole when multiplied by the scale"),
    ({"clip": (0, 2**31 + 1)}, "from -2^31 to 2^31"),
    ({"clip": (0, 2**31), "scale": 2}, "from -2^31 to 2^31"),
    ({"clip": "01"}, "clip="),
    ({"scale": 0}, "scale=0"),
    ({"scale": -1}, "scale=-1"),
    ({"scale": float("nan")}, "scale=nan"),
    ({"scale": None}, "scale=None"),
]


@pytest.mark.parametrize(("changes", "reason"), CLIPS)
def test_bad_clips(changes: dict[str, Any], reason: str) -> None:
    asked: dict[str, Any] = {"sum": "paid", "clip": (0, 5), "scale": 1, **changes}
    with pytest.raises(InvalidParameterError) as caught:
        planned("best_by", candidates=PAGES, epsilon=1.0, **asked)
    assert reason in str(caught.value)


def test_a_clip_is_read_as_the_decimal_it_is_written_as() -> None:
    task = planned("best_by", candidates=PAGES, sum="paid", clip=(0.1, 0.3), scale=10, epsilon=1.0)
    arguments = task.terms.arguments  # 0.1 * 10 is 1, though 0.3 * 10 is not 3 in doubles
    assert (arguments["lower"], arguments["upper"]) == (1, 3)
