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

import dpselect as dps
from dpselect.errors import InvalidCandidatesError
from tests.drawn_answers import groups_of, planned
from tests.edited_certificates import canonical_json, digest

DAY = date(2026, 11, 21)
MOST_CANDIDATES = 100_000_000


def listed(candidates: Any) -> Any:
    """What a question makes of a list."""
    return planned("most_common", candidates=candidates, epsilon=1.0).candidates


def refusal(candidates: Any) -> str:
    with pytest.raises(InvalidCandidatesError) as caught:
        listed(candidates)
    return str(caught.value)


@pytest.mark.parametrize(
    ("candidates", "kind", "members"),
    [
        (range(3, 6), "whole numbers", [3, 4, 5]),
        ([Decimal("1.50"), Decimal("2")], "numbers", [1.5, 2.0]),
        (range(5, 0, -2), "whole numbers", [5, 3, 1]),
        ([3, 1], "whole numbers", [3, 1]),
        ({7}, "whole numbers", [7]),
        ({"b", "c", "a"}, "text", ["a", "b", "c"]),
        (frozenset([3, 1]), "whole numbers", [1, 3]),
        (iter([3, 1]), "whole numbers", [3, 1]),
        ([2**63 - 1, -(2**63)], "whole numbers", [2**63 - 1, -(2**63)]),
        (np.array([3, 1], np.uint8), "whole numbers", [3, 1]),
        ([np.int32(3), 1], "whole numbers", [3, 1]),
        (pd.Series([3, 1]), "whole numbers", [3, 1]),
        (pl.Series([3, 1]), "whole numbers", [3, 1]),
        (pa.array([3, 1]), "whole numbers", [3, 1]),
        ((0.5, 1.0), "numbers", [0.5, 1.0]),
        (np.array([0.5]), "numbers", [0.5]),
        (["b", "a"], "text", ["b", "a"]),
        (np.array(["b", "a"]), "text", ["b", "a"]),
        (pd.Series(["b", "a"]), "text", ["b", "a"]),
        (pa.array(["b", "a"]), "text", ["b", "a"]),
        ([DAY], "dates", [DAY]),
        (np.array(["2026-11-21"], "datetime64[D]"), "dates", [DAY]),
        (pd.DataFrame({"a": ["b", "a"]}), "text", ["b", "a"]),
        (pl.DataFrame({"a": ["b", "a"]}), "text", ["b", "a"]),
        (pa.table({"a": [3, 1]}), "whole numbers", [3, 1]),
        ([True, False], "booleans", [True, False]),
        (np.array([True]), "booleans", [True]),
    ],
)
def test_accepted(candidates: Any, kind: str, members: list[Any]) -> None:
    accepted = listed(candidates)
    assert accepted.kind == kind
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
    candidates = listed(range(MOST_CANDIDATES))
    assert candidates.values is not None
    assert isinstance(candidates.values, range)
    assert len(candidates) == MOST_CANDIDATES
    assert repr(candidates) == "PublicCandidates(<100000000 whole numbers>)"


def test_errors_call_them_what_the_caller_does() -> None:
    for groups in ([], ["a", "a"]):
        with pytest.raises(InvalidCandidatesError, match=r"^groups="):
            groups_of("city", groups)


def test_later_changes_to_the_callers_array_change_nothing() -> None:
    array = np.array([1, 2])
    candidates = listed(array)
    array[0] = 9
    assert candidates[0] == 1
    assert array.flags.writeable


def test_what_a_certificate_says_of_them() -> None:
    about = {"origin": "caller", "count": 3, "kind": "whole numbers"}
    for same in ([1, 2, 9], range(1, 7, 2)):
        assert dps.DryRun(unit="id").most_common("page", candidates=same, epsilon=1.0).candidates == about


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
    return json.dumps(listed(candidates).words())


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
    assert listed(names).words() == expected
    assert listed(names[:-1]).words() == names[:-1]
    assert listed(names).words(whole=True) == names


def test_of_a_list_that_stands_as_its_hash_any_text_may_be_the_answer() -> None:
    names = [f"name {each}" for each in range(101)]
    release = dps.Dataset(pa.table({"who": [1, 2], "name": names[:2]}), unit="who").top_k(
        "name", 2, candidates=names, epsilon=1.0
    )
    assert dps.verify(release.to_json()).release == release
    held = release.to_dict()
    for value, is_possible in ((["anything", "else"], True), ([3, 4], False), (["a", "a"], False)):
        edited = held | {"value": value}
        text = canonical_json(edited | {"digest": digest(edited)})
        if is_possible:
            assert dps.verify(text).release.value == value
        else:
            with pytest.raises(dps.errors.InvalidCertificateError, match="<value"):
                dps.verify(text)


def test_a_set_of_dates_is_sorted() -> None:
    dates = {f"2026-11-{day:02}" for day in range(1, 31)}
    assert [planned("best_date", dates=dates, epsilon=1.0).choices[place].day for place in range(30)] == list(
        range(1, 31)
    )
