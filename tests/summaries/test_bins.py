"""Public bins: where numbers belong, also on the edges and beyond them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.errors import InvalidParameterError
from dpselect.summaries import PublicBins


def test_an_edge_written_as_a_decimal_begins_its_bin() -> None:
    bins = PublicBins.given((0.1, 0.7), 6)
    for place, edge in enumerate([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]):
        assert bins.tally(np.array([edge]))[place] == 1
        assert bins.tally(np.array([np.nextafter(edge, -1.0)]))[max(place - 1, 0)] == 1


def test_what_lies_beyond_belongs_to_the_outer_bins() -> None:
    counts = PublicBins.given((0, 3), 3).tally(np.array([-np.inf, -1.0, 3.0, 7.0, np.inf]))
    assert counts.tolist() == [2, 0, 3]


def test_one_bin_holds_everything() -> None:
    assert PublicBins.given((-1, 1), 1).tally(np.array([-9.0, 0.0, 9.0])).tolist() == [3]
    assert PublicBins.given((-1, 1), 2).tally(np.array([])).tolist() == [0, 0]


@given(
    st.fractions(-100, 100, max_denominator=50),
    st.fractions(Fraction(1, 9), 50, max_denominator=50),
    st.integers(1, 40),
    st.lists(st.floats(-200, 200), max_size=20),
)
def test_every_value_is_counted_once_where_the_edges_say(
    lower: Fraction, width: Fraction, count: int, values: list[float]
) -> None:
    bins = PublicBins.given((lower, lower + width), count)
    expected = [0] * count
    for value in values:
        inside = [edge <= value for edge in bins.edges[1:-1]]
        expected[sum(inside)] += 1
    assert bins.tally(np.array(values, dtype=np.float64)).tolist() == expected


@pytest.mark.parametrize("bins", [0, -1, 2.0, True, None, "7", 2**20 + 1])
def test_what_is_no_number_of_bins_is_refused(bins: object) -> None:
    with pytest.raises(InvalidParameterError, match="bins"):
        PublicBins.given((0, 1), bins)


@pytest.mark.parametrize("bounds", [(1, 1), (2, 1), (0, float("inf")), (float("nan"), 1), (0,), None])
def test_what_are_no_bounds_is_refused(bounds: object) -> None:
    with pytest.raises(InvalidParameterError, match="bounds"):
        PublicBins.given(bounds, 3)


def test_bins_finer_than_doubles_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="can distinguish"):
        PublicBins.given((1.0, 1.0 + 2**-50), 64)


def test_the_certificate_says_what_the_bins_are() -> None:
    assert PublicBins.given((0, 0.5), 5).description() == {"source": "bins", "lower": 0.0, "upper": 0.5, "count": 5}


@pytest.mark.parametrize("per_ten", [1, 3, 10])
def test_growing_bins_are_as_many_for_each_factor_of_ten(per_ten: int) -> None:
    bins = PublicBins.growing(per_ten)
    tens = [float(f"1e{power}") for power in range(-9, 19)]
    assert np.diff(bins.places(np.array(tens))).tolist() == [per_ten] * 27
    assert np.diff(bins.places(-np.array(tens[1:]))).tolist() == [-per_ten] * 26
    just_below = bins.places(np.nextafter(tens, 0.0))
    assert (bins.places(np.array(tens)) - just_below).tolist() == [1] * 28
    around = bins.places(np.array([-1e-9, -1e-300, 0.0, -0.0, 5e-324, 1e-10, 1e-9]))
    assert np.diff(around).tolist() == [0, 1, 0, 1, 0, 1]
    outer = bins.places(np.array([-np.inf, -2e18, 1e18, 1e300, np.inf]))
    assert outer.tolist() == [0, 0, *[bins.count - 1] * 3]


@pytest.mark.parametrize("bins", [0, 1001, 2.0, None, "7"])
def test_what_is_no_number_of_growing_bins_is_refused(bins: object) -> None:
    with pytest.raises(InvalidParameterError, match="bins"):
        PublicBins.growing(bins)


def test_between_given_edges_the_last_one_is_inside_and_what_lies_beyond_belongs_to_no_bin() -> None:
    values = np.array([-1.0, 0.0, 17.9, 18.0, 65.0, 66.0])
    assert PublicBins.between([0, 18, 65]).tally(values).tolist() == [2, 2]


def test_edges_near_the_largest_double_clip_nothing() -> None:
    domain = PublicBins.between([-1e308, 1e308]).domain
    assert (domain.lower, domain.upper) == (-np.inf, np.inf)
