"""The loss of draws from a smoothed histogram, by enumeration."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.reference.smoothed_histogram import worst_ratio

RATE = Fraction(3, 7)
HISTOGRAMS = [(0, 0), (1, 0), (4, 1), (0, 2, 3), (5, 5, 0)]


def _with_one_more(counts: tuple[int, ...], place: int) -> tuple[int, ...]:
    return tuple(count + (index == place) for index, count in enumerate(counts))


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("counts", HISTOGRAMS)
def test_no_sequence_loses_more_than_the_rate_allows(counts: tuple[int, ...], k: int) -> None:
    for place in range(len(counts)):
        added = _with_one_more(counts, place)
        assert worst_ratio(counts, added, rate=RATE, k=k) <= (1 + RATE) ** k
        for other in range(len(counts)):
            replaced = _with_one_more(counts, other)
            assert worst_ratio(added, replaced, rate=RATE, k=k) <= (1 + RATE) ** k


def test_a_unit_in_an_empty_bin_loses_all_of_it() -> None:
    assert worst_ratio((1, 0), (0, 1), rate=RATE, k=3) == (1 + RATE) ** 3


def test_a_larger_rate_would_lose_more() -> None:
    assert worst_ratio((1, 0), (0, 1), rate=RATE * 2, k=3) > (1 + RATE) ** 3


@pytest.mark.parametrize("counts", HISTOGRAMS)
def test_under_add_remove_one_draw_has_a_range_of_losses_within_the_rate(counts: tuple[int, ...]) -> None:
    weights = [1 + RATE * count for count in counts]
    for place in range(len(counts)):
        ratios = [
            (1 + RATE * more) / weight for more, weight in zip(_with_one_more(counts, place), weights, strict=True)
        ]
        assert max(ratios) / min(ratios) <= 1 + RATE


def test_under_replace_one_it_may_range_over_more() -> None:
    here, there = [1 + RATE, Fraction(1)], [Fraction(1), 1 + RATE]
    ratios = [one / other for one, other in zip(here, there, strict=True)]
    assert max(ratios) / min(ratios) == (1 + RATE) ** 2
