"""The histograms and scores that the paper's figures and the benchmark use."""

from __future__ import annotations

import math

import numpy as np
import pytest
from examples.paper.dpbench import BINS, NAMES, TABLE, load, median_scores, mode_scores
from hypothesis import given
from hypothesis import strategies as st

histograms = st.lists(st.integers(0, 5), min_size=1, max_size=8).map(np.array).filter(np.any)


@pytest.mark.parametrize("name", NAMES)
def test_a_histogram_holds_every_record_of_the_file(name: str) -> None:
    rows = [line.split(",") for line in TABLE.read_text(encoding="utf-8").split()]
    column = [int(row[rows[0].index(name.lower())]) for row in rows[1:]]
    counts = load(name)
    assert counts.shape == (BINS,)
    assert counts.tolist() == [sum(column[start : start + 4]) for start in range(0, 4096, 4)]


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(KeyError):
        load("HEPTHS")


@given(counts=histograms)
def test_median_scores_are_those_of_the_paper(counts: np.ndarray) -> None:
    up_to, total = np.cumsum(counts), int(counts.sum())
    median = next(i for i, records in enumerate(up_to) if records >= total / 2)
    expected = [
        0
        if i == median
        else -math.ceil(total - 2 * up_to[i])
        if i < median
        else -math.ceil(2 * up_to[i - 1] - total + 1)
        for i in range(counts.size)
    ]
    assert median_scores(counts).tolist() == expected


@given(counts=histograms, data=st.data())
def test_one_record_more_moves_no_score_by_more_than_one(counts: np.ndarray, data: st.DataObject) -> None:
    more = counts.copy()
    more[data.draw(st.integers(0, counts.size - 1))] += 1
    assert np.abs(median_scores(more) - median_scores(counts)).max() <= 1
    assert set((mode_scores(more) - mode_scores(counts)).tolist()) <= {0, 1}


def test_median_scores_are_not_monotone() -> None:
    moved = median_scores(np.array([2, 3, 3])) - median_scores(np.array([2, 3, 2]))
    assert set(moved.tolist()) >= {-1, 1}
