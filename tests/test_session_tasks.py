"""A dataset asked for more than counts: dates, sums, means, groups, and under both relations, from rows to answer."""

from __future__ import annotations

import json
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect import verify as check
from tests.question_words import provenance
from tests.views import ask

FRIENDS = "examples/data/free_days.csv"
MANY = 400


@pytest.fixture
def shops() -> dps.Dataset:
    """In Oslo most buy x and some y, in Rome the other way round; but z takes in the most, one buyer at a time."""
    frame = pd.DataFrame(
        [(f"{city}{i}", city, what, paid)
         for city, often, rarely in (("Oslo", "x", "y"), ("Rome", "y", "x"))
         for i in range(MANY)
         for what, paid in ((often, 1.25), (rarely if i % 4 == 0 else often, 0.5), ("z", 3.0 if i % 4 else -1.0))],
        columns=["who", "city", "what", "paid"],
    )  # fmt: skip
    return dps.Dataset(frame, unit="who")


@pytest.mark.parametrize(
    ("days", "reason"),
    [
        (pl.Series(["2026-12-12"]), "This one holds text. Convert it to dates first"),
        (pl.Series([1]), "This one holds whole numbers. Convert it to dates first"),
        (pl.Series([datetime(2026, 12, 12)]), "This one holds times. If they are timestamps, and only the date"),
    ],
)
def test_a_column_without_dates_is_told_what_to_become(days: pl.Series, reason: str) -> None:
    frame = pl.DataFrame({"person": [1], "free_on": days})
    for source in (frame, frame.to_pandas(use_pyarrow_extension_array=True), frame.to_arrow(), frame.lazy()):
        with pytest.raises(dps.errors.InvalidDataError, match=reason) as refused:
            dps.Dataset(source, unit="person").best_date("free_on", bounds=("2026-12-01", "2026-12-31"), epsilon=1.0)
        assert (refused.value.name, refused.value.expected) == ("column", "a column of dates")
    with pytest.raises(dps.errors.InvalidDataError, match=r"^column|Column 'free_on' holds"):
        dps.Dataset(frame, unit="person").most_common("free_on", candidates=[date(2026, 12, 12)], epsilon=1.0)


def test_the_best_date() -> None:
    friends = dps.Dataset(FRIENDS, unit="person")
    december = ("2026-12-01", "2026-12-31")
    assert friends.best_date("free_on", bounds=december, epsilon=2.0).value == date(2026, 12, 12)
    release = friends.best_date("free_on", dates=["2026-12-11", "2026-12-18"], epsilon=2.0)
    assert release.value == date(2026, 12, 18)
    assert dps.verify(release.to_json()).release.value == date(2026, 12, 18)
    each = friends.by("team", groups=["west", "north"]).best_date("free_on", bounds=december, epsilon=4.0)
    assert each.value == {"west": date(2026, 12, 18), "north": date(2026, 12, 12)}
    assert check(each.to_json()).error_bound


def test_groups_are_asked_one_by_one(shops: dps.Dataset) -> None:
    asked: dict[str, Any] = {"by": "city", "groups": ["Rome", "Oslo"], "epsilon": 1.0}
    candidates = ["w", "x", "y"]
    assert ask(shops, "most_common", "what", candidates=candidates, **asked).value == {"Rome": "y", "Oslo": "x"}
    assert ask(shops, "least_common", "what", candidates=candidates, **asked).value == {"Rome": "w", "Oslo": "w"}
    top = ask(shops, "top_k", "what", 2, candidates=candidates, **asked)
    assert top.value == {"Rome": ["y", "x"], "Oslo": ["x", "y"]}
    # 0.5 and 1.25 of x, of y: 1.75 for three in four, 1.25 or 0.5 for the others.
    best = ask(shops, "best_by", "what", sum="paid", clip=(0, 2), scale=100, candidates=candidates, **asked)
    assert best.value == {"Rome": "y", "Oslo": "x"}
    for release in (top, best):
        assert check(release.to_json()).error_bound
        assert release.epsilon == 1.0


def test_numbers_of_groups(shops: dps.Dataset) -> None:
    asked: dict[str, Any] = {"by": "city", "groups": ["Rome", "Oslo"], "epsilon": 2.0}
    # A row of each at random: 1.25, 0.5 or 3 (of one in four -1), each of a third.
    median = ask(shops, "median", "paid", bounds=(0, 4), step=0.25, **asked)
    assert isinstance(median.value, dict)
    assert median.value.keys() == {"Rome", "Oslo"}
    assert all(0.5 <= float(str(answer)) <= 1.25 for answer in median.value.values())
    means = ask(shops, "mean", "paid", bounds=(0, 4), step=0.25, **asked)
    assert isinstance(means.value, dict)
    assert all(1.0 < float(str(answer)) < 1.7 for answer in means.value.values())
    prices = ask(shops, "best_price", "paid", prices=[1, 3], **asked)
    assert isinstance(prices.value, dict)
    assert set(prices.value.values()) <= {1, 3}
    for release in (median, means):
        assert check(release.to_json()).error_bound


def test_one_group_of_several_is_asked_for_less(shops: dps.Dataset) -> None:
    release = shops.by("what", groups=["x", "y"], max_groups_per_unit=2).most_common(
        "city", candidates=["Oslo", "Rome"], epsilon=1.0
    )
    assert release.value == {"x": "Oslo", "y": "Rome"}
    assert release.groups is not None
    assert release.groups["epsilon"] == 0.5
    assert "each who in at most 2 groups" in provenance(release)


def test_the_clip_bounds_a_busy_unit() -> None:
    rows = [("busy", "a", 1000.0)] * 50 + [(f"{i}", "b", 1.0) for i in range(300)]
    data = dps.Dataset(pl.DataFrame(rows, schema=["who", "page", "time"], orient="row"), unit="who")
    asked: dict[str, Any] = {"sum": "time", "candidates": ["a", "b"], "epsilon": 2.0}
    assert data.best_by("page", clip=(0, 5), **asked).value == "b"
    # Control: at a clip that lets all of it count (and an epsilon that hears it) the busy one decides.
    assert data.best_by("page", clip=(0, 50_000), **{**asked, "epsilon": 1e4}).value == "a"


def test_every_relation_is_charged_to_an_account_of_its_own(tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("adding", epsilon=10, unit="person")
    ledger.open_account("replacing", epsilon=10, unit="person", neighbours="replace_one")
    asked: dict[str, Any] = {"bounds": ("2026-12-01", "2026-12-31"), "epsilon": 1.0}
    for neighbours, own, other in (("add_remove", "adding", "replacing"), ("replace_one", "replacing", "adding")):
        friends: dict[str, Any] = {"unit": "person", "ledger": ledger, "neighbours": neighbours}
        release = dps.Dataset(FRIENDS, account=own, **friends).best_date("free_on", **asked)
        assert release.neighbours == neighbours
        assert check(release.to_json(), ledger=ledger).charged
        with pytest.raises(dps.errors.InvalidAccountError, match=r"^neighbours="):
            dps.Dataset(FRIENDS, account=other, **friends).best_date("free_on", **asked)
    assert ledger.account("adding").spent == 1.0


def test_groups_are_charged_once_for_all(tmp_path: Path) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("friends", epsilon=10, unit="person")
    friends = dps.Dataset(FRIENDS, unit="person", ledger=ledger, account="friends")
    asked: dict[str, Any] = {"bounds": ("2026-12-01", "2026-12-31"), "by": "team", "groups": ["west", "south", "north"]}
    first = ask(friends, "best_date", "free_on", **asked, epsilon=1.0, request="a")
    assert ledger.account("friends").spent == 1.0
    assert ask(friends, "best_date", "free_on", **asked, epsilon=1.0, request="a") == first
    for changes in ({"groups": ["west", "south"]}, {"max_groups_per_unit": 2}, {"by": None, "groups": None}):
        with pytest.raises(dps.errors.RequestReusedError):
            ask(friends, "best_date", "free_on", **{**asked, **changes}, epsilon=1.0, request="a")
    ask(friends, "best_date", "free_on", **asked, max_groups_per_unit=2, epsilon=1.0)
    assert ledger.account("friends").spent == 2.0


def test_replaced_units_are_refused_groups_before_a_row_is_read() -> None:
    friends = dps.Dataset(FRIENDS, unit="person", neighbours="replace_one")
    with pytest.raises(dps.errors.InvalidParameterError, match="neighbours='add_remove' with groups"):
        friends.by("team", groups=["west"]).most_common("free_on", candidates=["a"], epsilon=1.0)
    assert friends.mean("free_on", bounds=(0, 1), step=1, epsilon=1.0).neighbours == "replace_one"
    with pytest.raises(dps.errors.InvalidParameterError, match=r"^neighbours='swap'"):
        dps.Dataset(FRIENDS, unit="person", neighbours="swap")  # type: ignore[arg-type]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"by": "person", "groups": ["x"]}, "by='person': expected another column than the unit"),
    ({"by": "teem", "groups": ["x"]}, "by='teem': expected a column of the data."),
    ({"by": "team"}, "groups=None"),
    ({"groups": ["x"]}, "by=None"),
    ({"by": "team", "groups": ["x"], "max_groups_per_unit": 2}, "max_groups_per_unit=2"),
    ({"candidates": pd.DataFrame({"a": ["x", "x"]})}, "unique() or value_counts()"),
]


@pytest.mark.parametrize(("changes", "reason"), REFUSED)
def test_bad_questions(changes: dict[str, Any], reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    friends = dps.Dataset(FRIENDS, unit="person")
    monkeypatch.setattr("dpselect.rows.duckdb.answer", None)
    for question in ("most_common", "least_common"):
        with pytest.raises(dps.errors.InvalidParameterError) as caught:
            ask(friends, question, "free_on", **{"candidates": ["x"], "epsilon": 1.0, **changes})
        assert reason in str(caught.value)


def test_groups_of_the_wrong_type_are_refused_by_that_name() -> None:
    table = pa.table({"who": [1], "city": [7], "what": ["x"]})
    with pytest.raises(dps.errors.InvalidDataError, match=r"^groups=<text>: expected groups of the column's type"):
        dps.Dataset(table, unit="who").by("city", groups=["Oslo"]).most_common("what", candidates=["x"], epsilon=1.0)
    with pytest.raises(dps.errors.InvalidDataError, match=r"^sum='what': expected a column of numbers"):
        dps.Dataset(table, unit="who").best_by("city", sum="what", clip=(0, 1), candidates=[7], epsilon=1.0)


def test_a_grouped_certificate_is_one_line_of_json() -> None:
    release = (
        dps.Dataset(FRIENDS, unit="person")
        .by("team", groups=["north", "west"])
        .least_common("free_on", candidates=["2026-12-12", "never"], epsilon=1.0)
    )
    held = json.loads(release.to_json())
    assert held["groups"]["count"] == len(held["value"]) == 2
    assert dps.verify(release.to_json()).release.value == release.value
