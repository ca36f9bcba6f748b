"""The public set: what is accepted, what is refused, and that no refusal quotes a member."""

from __future__ import annotations

import itertools
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpselect.errors import InvalidCandidatesError
from dpselect.summaries import CandidateKind, PublicCandidates, public_dates
from dpselect.summaries.candidates import MOST_CANDIDATES

DAY = date(2026, 11, 21)


def refusal(candidates: Any) -> str:
    with pytest.raises(InvalidCandidatesError) as caught:
        PublicCandidates.given(candidates)
    return str(caught.value)


@pytest.mark.parametrize(
    ("candidates", "kind", "members"),
    [
        (range(3, 6), CandidateKind.INTEGER, [3, 4, 5]),
        (range(5, 0, -2), CandidateKind.INTEGER, [5, 3, 1]),
        ([3, 1], CandidateKind.INTEGER, [3, 1]),
        ({7}, CandidateKind.INTEGER, [7]),
        ({"b", "c", "a"}, CandidateKind.TEXT, ["a", "b", "c"]),
        (frozenset([3, 1]), CandidateKind.INTEGER, [1, 3]),
        (iter([3, 1]), CandidateKind.INTEGER, [3, 1]),
        ([2**63 - 1, -(2**63)], CandidateKind.INTEGER, [2**63 - 1, -(2**63)]),
        (np.array([3, 1], np.uint8), CandidateKind.INTEGER, [3, 1]),
        ([np.int32(3), 1], CandidateKind.INTEGER, [3, 1]),
        (pd.Series([3, 1]), CandidateKind.INTEGER, [3, 1]),
        (pl.Series([3, 1]), CandidateKind.INTEGER, [3, 1]),
        (pa.array([3, 1]), CandidateKind.INTEGER, [3, 1]),
        ((0.5, 1.0), CandidateKind.NUMBER, [0.5, 1.0]),
        (np.array([0.5]), CandidateKind.NUMBER, [0.5]),
        (["b", "a"], CandidateKind.TEXT, ["b", "a"]),
        (np.array(["b", "a"]), CandidateKind.TEXT, ["b", "a"]),
        (pd.Series(["b", "a"]), CandidateKind.TEXT, ["b", "a"]),
        (pa.array(["b", "a"]), CandidateKind.TEXT, ["b", "a"]),
        ([DAY], CandidateKind.DATE, [DAY]),
        (np.array(["2026-11-21"], "datetime64[D]"), CandidateKind.DATE, [DAY]),
        (pd.DataFrame({"a": ["b", "a"]}), CandidateKind.TEXT, ["b", "a"]),
        (pl.DataFrame({"a": ["b", "a"]}), CandidateKind.TEXT, ["b", "a"]),
        (pa.table({"a": [3, 1]}), CandidateKind.INTEGER, [3, 1]),
        ([True, False], CandidateKind.BOOLEAN, [True, False]),
        (np.array([True]), CandidateKind.BOOLEAN, [True]),
    ],
)
def test_accepted(candidates: Any, kind: CandidateKind, members: list[Any]) -> None:
    accepted = PublicCandidates.given(candidates)
    assert accepted.kind is kind
    assert [accepted[i] for i in range(len(accepted))] == members
    assert {type(accepted[i]) for i in range(len(accepted))} == {type(members[0])}


def test_missing_candidates_say_why_and_what_to_do() -> None:
    message = refusal(None)
    assert "which values occur there is private" in message
    assert "candidates=range(1, 101)" in message
    assert "unique()" in message


@pytest.mark.parametrize(
    ("candidates", "reason"),
    [
        ([], "at least one candidate"),
        (range(0), "at least one candidate"),
        (np.array([], np.int64), "at least one candidate"),
        ([1, 1], "without duplicates"),
        (np.array([2, 2]), "without duplicates"),
        (["a", "b", "a"], "without duplicates"),
        ([0.0, -0.0], "without duplicates"),
        ([True, True], "without duplicates"),
        ([1, None], "missing (None or NaN)"),
        (["a", None], "missing (None or NaN)"),
        (["a", float("nan")], "missing (None or NaN)"),
        (pd.Series(["a", pd.NA]), "missing (None or NaN)"),
        ([None, None], "missing (None or NaN)"),
        ([1.0, float("nan")], "NaN or infinite"),
        ([1.0, float("inf")], "NaN or infinite"),
        (["a", ""], "empty or not valid Unicode"),
        (["a", "\ud800"], "empty or not valid Unicode"),
        ([1, "a"], "all of one kind"),
        ([1, 1.5], "all of one kind"),
        ([1, True], "all of one kind"),
        ([Decimal(1)], "all of one kind"),
        ([b"a"], "all of one kind"),
        ([datetime(2026, 11, 21)], "all of one kind"),
        (pd.Series(pd.to_datetime(["2026-11-21"])), "all of one kind"),
        (np.array(["2026-11-21"], "datetime64[ms]"), "all of one kind"),
        ([[1], [2]], "all of one kind"),
        ([2**63], "from -2^63 to 2^63 - 1"),
        (np.array([2**63], np.uint64), "from -2^63 to 2^63 - 1"),
        (range(2**63, 2**63 + 2), "from -2^63 to 2^63 - 1"),
        (range(-(2**63) - 1, 2**70, 2**69), "from -2^63 to 2^63 - 1"),
        (range(MOST_CANDIDATES + 1), "at most 100,000,000 candidates"),
        (range(10**30), "at most 100,000,000 candidates"),
        ("abc", "a range, a list or a one-dimensional array"),
        (b"abc", "a range, a list or a one-dimensional array"),
        ({"a": 3}, "a range, a list or a one-dimensional array"),
        (7, "a range, a list or a one-dimensional array"),
        (pd.DataFrame({"a": [1], "b": [2]}), "a frame in memory of one column"),
        (pl.DataFrame({"a": [1], "b": [2]}), "a frame in memory of one column"),
        (pl.LazyFrame({"a": [1]}), "a frame in memory of one column"),
        (pa.table({"a": [1], "b": [2]}), "a frame in memory of one column"),
        (pd.DataFrame({"a": [1, 1]}), "unique() or value_counts()"),
        (np.zeros((2, 2), np.int64), "a one-dimensional array"),
        (np.array(3), "a one-dimensional array"),
    ],
)
def test_refused(candidates: Any, reason: str) -> None:
    assert reason in refusal(candidates)


def test_an_endless_iterator_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpselect.summaries.candidates.MOST_CANDIDATES", 1000)
    assert "at most 1,000 candidates" in refusal(itertools.count())


@pytest.mark.parametrize(
    "candidates", [["SENTINEL"] * 2, ["SENTINEL", 1], {"SENTINEL": 1}, ["SENTINEL", None], "SENTINEL"]
)
def test_refusals_quote_no_member(candidates: Any) -> None:
    assert "SENTINEL" not in refusal(candidates)


def test_a_long_range_costs_nothing() -> None:
    candidates = PublicCandidates.given(range(MOST_CANDIDATES))
    assert candidates.values is not None
    assert isinstance(candidates.values, range)
    assert len(candidates) == MOST_CANDIDATES
    assert repr(candidates) == "PublicCandidates(<100000000 whole numbers>)"


def test_errors_call_them_what_the_caller_does() -> None:
    for groups in (None, [], ["a", "a"]):
        with pytest.raises(InvalidCandidatesError, match=r"^groups="):
            PublicCandidates.given(groups, argument="groups")


def test_later_changes_to_the_callers_array_change_nothing() -> None:
    array = np.array([1, 2])
    candidates = PublicCandidates.given(array)
    array[0] = 9
    assert candidates[0] == 1
    assert array.flags.writeable


def test_what_a_certificate_says_of_them() -> None:
    about = {"origin": "caller", "count": 3, "kind": "whole numbers"}
    assert PublicCandidates.given([1, 2, 9]).description() == about
    first_last = {"first": 1, "last": 5, "step": 2}
    assert PublicCandidates.given(range(1, 7, 2)).description() == {**about, "range": first_last}


def test_a_set_of_dates_is_sorted() -> None:
    dates = {f"2026-11-{day:02}" for day in range(1, 31)}
    assert [public_dates(dates)[place].day for place in range(30)] == list(range(1, 31))
