"""Samples of whole distributions: arguments, plans, and several dimensions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect.accounting import BoundedRangeEvent
from tests.reference.density import share_distance

COUNTS = [3, 0, 5]


def mechanism(**arguments: Any) -> dps.mechanisms.DensityMechanism:
    return dps.mechanisms.DensityMechanism(**{"epsilon": 1.0, "k": 4, **arguments})


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, "1", True])
def test_epsilon_is_positive(epsilon: Any) -> None:
    with pytest.raises(dps.errors.InvalidParameterError, match="epsilon"):
        mechanism(epsilon=epsilon)


@pytest.mark.parametrize("k", [0, -1, 1.5, True, 10**6 + 1, 10**9])
def test_k_is_a_size(k: Any) -> None:
    with pytest.raises(dps.errors.InvalidParameterError, match="k="):
        mechanism(k=k)


def test_only_replacements_are_promised() -> None:
    with pytest.raises(dps.errors.InvalidParameterError, match="number of data is public"):
        mechanism(neighbours="add_remove")
    assert mechanism(neighbours="replace_one").neighbours is dps.Neighbours.REPLACE_ONE
    with pytest.raises(dps.errors.InvalidParameterError, match="base"):
        mechanism(base="uniform")


@pytest.mark.parametrize(
    "counts", [[], [0, 0], [1, -1], [1.5, 2.0], [1.0, math.nan], [[1, 2]], "12", None, [True, False], [2**64]]
)
def test_counts_are_counts(counts: Any) -> None:
    for call in (mechanism().draw, mechanism().pmf):
        with pytest.raises(dps.errors.InvalidDataError, match="whole numbers") as refused:
            call(counts)
        assert refused.value.__cause__ is None


@pytest.mark.parametrize(
    "widths",
    [[1.0, 2.0], [1.0, 0.0, 1.0], [1.0, -1.0, 1.0], [1.0, math.nan, 1.0], [1.0, math.inf, 1.0], [1e308] * 3, "abc"],
)
def test_widths_are_lengths(widths: Any) -> None:
    with pytest.raises(dps.errors.InvalidParameterError, match="widths"):
        mechanism().draw(COUNTS, widths)


def test_histograms_have_no_widths_and_no_points() -> None:
    with pytest.raises(dps.errors.InvalidParameterError, match="widths"):
        mechanism(base="histograms").draw(COUNTS, [1.0, 1.0, 1.0])
    with pytest.raises(dps.errors.InvalidParameterError, match="base"):
        mechanism(base="histograms").draw_points([1.0], bounds=(0, 1))


@pytest.mark.parametrize("bounds", [(1, 0), (1, 1), (0, math.inf), (math.nan, 1), (0,), None, "01"])
def test_bounds_are_bounds(bounds: Any) -> None:
    with pytest.raises(dps.errors.InvalidParameterError, match="bounds"):
        mechanism().draw_points([0.5], bounds=bounds)


@pytest.mark.parametrize("values", [[], [math.nan], [[1.0]], ["a"], None])
def test_values_are_numbers(values: Any) -> None:
    with pytest.raises(dps.errors.InvalidDataError, match="values"):
        mechanism().draw_points(values, bounds=(0, 1))


def test_sizes_beyond_the_integers_are_refused() -> None:
    with pytest.raises(dps.errors.InvalidParameterError, match="k="):
        mechanism(k=2**20).draw([2**50, 1])
    with pytest.raises(dps.errors.InvalidParameterError, match="at most 500000 samples"):
        mechanism(k=100).pmf([1] * 10)


def test_values_at_and_beyond_the_bounds_are_moved() -> None:
    drawn = mechanism(epsilon=1e6, k=4).draw_points([-math.inf, -3.0, 0.0, 0.0, 1.0, 7, 8, math.inf], bounds=(0, 1))
    assert drawn.shape == (4,)
    assert ((drawn >= 0) & (drawn <= 1)).all()


def test_many_samples_are_rows() -> None:
    many = mechanism(k=7).draw_many(np.array([10**6, 1, 12345], dtype=np.int32), 50)
    assert many.shape == (50, 3)
    assert (many.sum(axis=1) == 7).all()
    assert mechanism().event == BoundedRangeEvent(epsilon=1.0)
    with pytest.raises(dps.errors.InvalidParameterError, match="size"):
        mechanism(k=7).draw_many([1, 2], 0)


def test_samples_have_the_size_asked_for_or_one_chosen() -> None:
    assert mechanism(base="histograms").sample_size(10) == 4
    assert mechanism(k=None).sample_size(10**6) == 5000


@pytest.mark.parametrize("epsilon", [5e-324, 1e-3, 1.0, 1e3, 1e300])
def test_default_sizes_are_sizes_and_grow(epsilon: float) -> None:
    sizes = [mechanism(epsilon=epsilon, k=None).sample_size(n) for n in (1, 100, 10**6, 10**12)]
    assert sizes == sorted(sizes)
    assert sizes[0] >= 4
    assert sizes[-1] <= 5_000


def test_samples_follow_the_data_and_more_epsilon_more_closely() -> None:
    counts = np.array([0, 400, 3000, 100, 0, 0, 500, 0])
    mean = [
        np.mean([share_distance(counts, each) for each in mechanism(epsilon=e, k=64).draw_many(counts, 40)])
        for e in (0.01, 0.1, 10.0)
    ]
    assert mean[0] > 2 * mean[1] > 4 * mean[2]
