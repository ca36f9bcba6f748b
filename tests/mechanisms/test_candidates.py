"""Candidates come back as they were given, from any container."""

from __future__ import annotations

import datetime
from enum import Enum
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from dpselect.errors import InvalidCandidatesError
from dpselect.mechanisms.scores import checked_candidates


class Colour(Enum):
    RED = 1
    BLUE = 2


UNHASHABLE = [["ann"], ["bob"]]


@pytest.mark.parametrize(
    ("candidates", "expected"),
    [
        (["ann", "bob"], ["ann", "bob"]),
        (("ann", None), ["ann", None]),
        (range(10, 30, 10), [10, 20]),
        ([Colour.RED, Colour.BLUE], [Colour.RED, Colour.BLUE]),
        ([(1, 2), (2, 1)], [(1, 2), (2, 1)]),
        (UNHASHABLE, UNHASHABLE),
        ([["ann"], "ann"], [["ann"], "ann"]),
        ([{"a": 1}, {"a": 2}], [{"a": 1}, {"a": 2}]),
        (np.array([1.5, 2.5], dtype=np.float32), [1.5, 2.5]),
        (np.array([3, 4], dtype=">i2"), [3, 4]),
        (np.array(["ann", "bob"]), ["ann", "bob"]),
        (np.array([True, False]), [True, False]),
        (np.array(["ann", 2], dtype=object), ["ann", 2]),
        (np.array(["2020-01-01", "2020-01-02"], "M8[D]"), [np.datetime64("2020-01-01"), np.datetime64("2020-01-02")]),
        (pd.Series([5, 6], index=["x", "y"]), [5, 6]),
        (pd.Index(["ann", "bob"]), ["ann", "bob"]),
        (pd.to_datetime(["2020-01-01", "2020-01-02"]), [pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-02")]),
        (pl.Series(["ann", "bob"]), ["ann", "bob"]),
        (pl.Series([datetime.date(2020, 1, 1), None]), [datetime.date(2020, 1, 1), None]),
        (pa.array([1, 2]), [1, 2]),
        (pa.chunked_array([["ann"], ["bob"]]), ["ann", "bob"]),
    ],
    ids=str,
)
def test_any_container(candidates: Any, expected: list[Any]) -> None:
    pick = checked_candidates(candidates, count=2)
    picked = [pick(0), pick(1)]
    assert picked == expected
    assert [type(each) for each in picked] == [type(each) for each in expected]


def test_the_candidate_itself_is_handed_back_not_a_copy() -> None:
    candidates = [object(), object()]
    pick = checked_candidates(candidates, count=2)
    assert pick(1) is candidates[1]
    assert checked_candidates(UNHASHABLE, count=2)(0) is UNHASHABLE[0]


@given(st.lists(st.one_of(st.integers(0, 6), st.lists(st.integers(0, 2), max_size=2)), min_size=1, max_size=6))
def test_duplicates_are_found_whether_hashable_or_not(candidates: list[Any]) -> None:
    distinct = all(one != other for i, one in enumerate(candidates) for other in candidates[:i])
    if distinct:
        assert checked_candidates(candidates, count=len(candidates))(0) is candidates[0]
    else:
        with pytest.raises(InvalidCandidatesError, match="duplicates"):
            checked_candidates(candidates, count=len(candidates))


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6))
def test_duplicates_in_arrays(candidates: list[int]) -> None:
    for container in (np.array(candidates), pa.array(candidates), pl.Series(candidates)):
        if len(set(candidates)) == len(candidates):
            pick = checked_candidates(container, count=len(candidates))
            assert [pick(i) for i in range(len(candidates))] == candidates
        else:
            with pytest.raises(InvalidCandidatesError, match="duplicates"):
                checked_candidates(container, count=len(candidates))


def test_selection_returns_the_candidate_of_the_winning_score() -> None:
    mechanism = dps.ExponentialMechanism(epsilon=1.0, sensitivity=1.0)
    scores = np.array([0.0, 5000.0, 0.0])
    for candidates in (["a", "b", "c"], np.array(["a", "b", "c"]), pl.Series(["a", "b", "c"])):
        assert mechanism.select(scores, candidates) == "b"
        assert mechanism.select(scores.tolist(), candidates) == "b"
        assert mechanism.select(pa.array(scores), candidates) == "b"
    assert mechanism.select(scores) == 1
    assert type(mechanism.select(scores)) is int
    assert dps.select(scores, epsilon=1.0, sensitivity=1.0, candidates=range(7, 10)) == 8


def test_a_length_that_does_not_fit_is_named() -> None:
    with pytest.raises(InvalidCandidatesError, match="of length 2>: expected one candidate for each of the 3 scores"):
        checked_candidates(["ann", "bob"], count=3)


def test_a_set_is_told_that_it_has_no_order() -> None:
    def score(number: int) -> float:
        return float(number)

    with pytest.raises(InvalidCandidatesError, match=r"<set>: expected a list.* A set has no order"):
        dps.select_lazily(score, {1, 2}, ceiling=9, epsilon=1.0, sensitivity=1)  # pyright: ignore
    for other in ("ab", {"a": 1}, 7):
        with pytest.raises(InvalidCandidatesError, match=r"one-dimensional array\.$"):
            dps.select([1.0, 2.0], epsilon=1.0, sensitivity=1, candidates=other)
