"""The public set: what is accepted, what is refused, and that no refusal quotes a member."""

from __future__ import annotations

import itertools
import json
from datetime import date, datetime
from decimal import Decimal
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpselect.errors import InvalidCandidatesError
from dpselect.summaries import CandidateKind, PublicCandidates, public_dates
from dpselect.summaries.candidates import MOST_CANDIDATES, members

DAY = date(2026, 11, 21)


def refusal(candidates: Any) -> str:
    with pytest.raises(InvalidCandidatesError) as caught:
        PublicCandidates.given(candidates)
    return str(caught.value)


@pytest.mark.parametrize(
    ("candidates", "kind", "members"),
    [
        (range(3, 6), CandidateKind.INTEGER, [3, 4, 5]),
        ([Decimal("1.50"), Decimal("2")], CandidateKind.NUMBER, [1.5, 2.0]),
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
        ([Decimal("0.1234567890123456789")], "all of one kind"),
        ([Decimal("NaN")], "all of one kind"),
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
    assert PublicCandidates.given(range(1, 7, 2)).description() == about


SAME: list[list[Any]] = [
    [range(1, 10), list(range(1, 10)), np.arange(1, 10, dtype=np.int32), np.arange(1, 10, dtype=np.uint64)],
    [range(1, 10, 2), range(1, 11, 2), [1, 3, 5, 7, 9], (1, 3, 5, 7, 9)],
    [range(9, 0, -3), [9, 6, 3], range(9, 1, -3)],
    [range(5, 6), range(5, 100, 1000), [5], np.array([5])],
    [range(-(2**63), 2**63, 2**63 - 1), [-(2**63), -1, 2**63 - 2]],
    [range(-(2**63), 2**63, 2**64 - 1), [-(2**63), 2**63 - 1]],
    [[3, 1, 2], np.array([3, 1, 2])],
    [["a", "b"], ("a", "b"), np.array(["a", "b"])],
]


def text_of(candidates: Any) -> str:
    return json.dumps(PublicCandidates.given(candidates).words())


@pytest.mark.parametrize("spellings", SAME)
def test_another_spelling_is_the_same_question(spellings: list[Any]) -> None:
    assert len({text_of(each) for each in spellings}) == 1


def test_other_candidates_or_another_order_are_another_question() -> None:
    others: list[Any] = [group[0] for group in SAME]
    others += [range(1, 11), range(9), [1, 2, 3, 4, 5, 6, 7, 9, 8], range(9, 0, -1), [1, 2, 4], [6], [1.0, 2.0], [1, 2]]
    others += [[2**53], [float(2**53)], ["1"], [True], [date(2026, 1, 1)], ["2026-01-01"]]
    assert len({text_of(each) for each in others}) == len(others)


@pytest.mark.slow
def test_a_long_list_is_compared_to_its_end() -> None:
    listed, text = np.arange(2**20 + 5), text_of(range(2**20 + 5))
    assert text_of(listed) == text
    listed[-2:] = listed[-2:][::-1].copy()
    assert text_of(listed) != text
    listed[-1], listed[-3] = 2**20 + 4, 2**20 + 9
    listed[-2] = 2**20 + 3
    assert text_of(listed) != text


def test_a_long_list_stands_as_its_hash() -> None:
    names = [f"name {each}" for each in range(101)]
    text = json.dumps(names, separators=(",", ":"))
    expected = {"count": 101, "kind": "text", "sha256": sha256(text.encode()).hexdigest()}
    assert PublicCandidates.given(names).words() == expected
    assert PublicCandidates.given(names[:-1]).words() == names[:-1]
    assert PublicCandidates.given(names).words(whole=True) == names
    read = members(expected)
    assert (len(read), read.words()) == (101, expected)
    assert read.may_hold(["anything"])
    assert not read.may_hold([3])
    assert not read.may_hold(["a", "a"])


def test_a_set_of_dates_is_sorted() -> None:
    dates = {f"2026-11-{day:02}" for day in range(1, 31)}
    assert [public_dates(dates)[place].day for place in range(30)] == list(range(1, 31))
