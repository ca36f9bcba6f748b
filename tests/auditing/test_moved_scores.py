"""Scores that move too far are found on tables of every form; scores that do not are let pass."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dpselect as dps
from dpselect.errors import InvalidParameterError

AGES = [{"who": who, "age": age} for who, age in zip("abcdefgh", [41, 17, 30, 22, 80, 51, 33, 9], strict=True)]
COLUMNS = {name: [row[name] for row in AGES] for name in ("who", "age")}
FORMS: dict[str, Any] = {
    "rows": AGES,
    "columns": COLUMNS,
    "arrays": {name: np.array(cells) for name, cells in COLUMNS.items()},
    "pandas": pd.DataFrame(COLUMNS),
    "Polars": pl.DataFrame(COLUMNS),
}


def ages(rows: Any) -> list[tuple[Any, float]]:
    """Whose age it is, and the age, of any form."""
    if isinstance(rows, list):
        return [(row["who"], row["age"]) for row in rows]
    return list(zip(list(rows["who"]), list(rows["age"]), strict=True))


def clipped_total(rows: Any) -> float:
    """One age of each, from 0 to 100."""
    return sum({who: min(max(age, 0), 100) for who, age in ages(rows)}.values())


def units_by_age(rows: Any) -> list[int]:
    return [len({who for who, age in ages(rows) if age >= least}) for least in (20, 40, 60)]


@pytest.mark.parametrize("rows", FORMS.values(), ids=FORMS)
def test_what_is_bounded_is_not_falsified(rows: Any) -> None:
    assert dps.falsify_sensitivity(clipped_total, rows, unit="who", sensitivity=100, monotonic=True) is None
    assert dps.falsify_sensitivity(units_by_age, rows, unit="who", sensitivity=1, monotonic=True) is None
    assert dps.falsify_sensitivity(units_by_age, rows, unit="who", sensitivity=1, neighbours="replace_one") is None


@pytest.mark.parametrize("rows", FORMS.values(), ids=FORMS)
def test_what_is_not_bounded_is_found_and_the_pair_shows_it(rows: Any) -> None:
    def total(rows: Any) -> float:
        return sum(age for _, age in ages(rows))

    found = dps.falsify_sensitivity(total, rows, unit="who", sensitivity=100)
    assert found is not None
    assert type(found.first) is type(found.second) is type(rows)
    assert abs(total(found.first) - total(found.second)) == found.distance > 100
    assert "age" not in repr(found)  # tables are for who asks for them
    with pytest.raises(AttributeError):
        found.distance = 0.0  # type: ignore[misc]


WRONG: dict[str, tuple[Callable[[Any], Any], float, str]] = {
    "rows instead of units": (lambda rows: len(rows), 1, "8 rows"),
    "candidates from the data": (lambda rows: [1.0] * len({row["age"] for row in rows}), 1, "scores become"),
    "fails without rows": (lambda rows: max(row["age"] for row in rows) * 0, 1, "fails once"),
    "a mean": (lambda rows: sum(row["age"] for row in rows) / (len(rows) or 1), 10, "moves by"),
    "the first row decides": (lambda rows: rows[0]["age"] if rows else 0, 60, "moves by"),
    "the oldest": (lambda rows: max((min(row["age"], 100) for row in rows), default=0), 50, "moves by"),
    "the largest doubles": (lambda rows: 1.7e308 * (-1) ** len(rows), 1, "infinite"),
    "an infinity of one": (lambda rows: 1e308 * sum(row["age"] > 100 for row in rows) * 10, 1, "infinite"),
}


@pytest.mark.parametrize(("score", "sensitivity", "said"), WRONG.values(), ids=WRONG)
def test_usual_mistakes_are_found(score: Any, sensitivity: float, said: str) -> None:
    found = dps.falsify_sensitivity(score, AGES, unit="who", sensitivity=sensitivity)
    assert found is not None
    assert said in str(found)


def test_scores_of_both_directions_are_not_monotonic() -> None:
    """The balance of an age: its distance from the middle of all ages falls for some and rises for others."""

    def balance(values: np.ndarray) -> list[float]:
        return [-abs(float((values < least).sum()) - float((values >= least).sum())) for least in (20, 40)]

    values = np.array([41.0, 17, 30, 22, 80, 51, 33, 9])
    assert dps.falsify_sensitivity(balance, values, unit=dps.ROWS, sensitivity=1) is None
    found = dps.falsify_sensitivity(balance, values, unit=dps.ROWS, sensitivity=1, monotonic=True)
    assert found is not None
    assert "both directions" in str(found)


def test_the_order_of_a_float_sum_counts() -> None:
    """In 32 bits small amounts are lost beside a large sum; without rounding no move would be above 1."""

    def total(amounts: np.ndarray) -> float:
        sum_ = np.float32(2.0**23)
        for amount in np.clip(np.nan_to_num(amounts), 0, 1).astype(np.float32):
            sum_ = np.float32(sum_ + amount)
        return float(sum_)

    amounts = np.array([1.0, *[0.5] * 20])
    found = dps.falsify_sensitivity(total, amounts, unit=dps.ROWS, sensitivity=1)
    assert found is not None
    assert found.distance == 2.0


def test_rows_in_another_order_are_tried() -> None:
    """One unit changes by at most 2 how often ages rise from row to row; another order changes it by more."""
    found = dps.falsify_sensitivity(
        lambda rows: sum(a["age"] < b["age"] for a, b in pairwise(rows)), AGES, unit="who", sensitivity=2
    )
    assert found is not None
    assert re.search("rows (rising|falling|backwards): a score moves by", str(found))


def test_a_sum_without_rounding_has_no_order() -> None:
    """Control of the test above."""
    amounts = np.array([1.0, *[0.5] * 20])
    clipped: Callable[[Any], Any] = lambda amounts: float(np.clip(np.nan_to_num(amounts), 0, 1).sum())  # noqa: E731
    assert dps.falsify_sensitivity(clipped, amounts, unit=dps.ROWS, sensitivity=1) is None


def test_cells_without_an_order_are_left_as_they_are() -> None:
    rows = [{"who": who, "what": {"age": 3}, "seen": seen} for who, seen in (("ann", None), ("bob", 7))]
    assert (
        dps.falsify_sensitivity(lambda rows: len({row["who"] for row in rows}), rows, unit="who", sensitivity=1) is None
    )


def test_cells_that_the_table_does_not_have_are_tried() -> None:
    """Every age of the table is below 100, so only a made-up one shows that nothing clips."""
    amounts = np.array([[1, 5.0], [2, 7.0], [3, 9.0]])
    found = dps.falsify_sensitivity(lambda rows: rows[:1, 1].sum(), amounts, unit=0, sensitivity=50)
    assert found is None
    unclipped: Callable[[Any], Any] = lambda rows: sum({who: pay for who, pay in rows.tolist()}.values())  # noqa: C416, E731
    found = dps.falsify_sensitivity(unclipped, amounts, unit=0, sensitivity=50)
    assert found is not None
    assert "huge" in str(found) or "infinity" in str(found)


def test_of_many_units_those_with_extreme_cells_are_replaced() -> None:
    """Not every unit can be tried, and every fourth has the same cell."""
    rows = [{"amount": at % 4} for at in range(32)]

    def total(table: list[dict[str, int]]) -> int:
        return sum(min(3, max(-3, row["amount"])) for row in table)

    found = dps.falsify_sensitivity(total, rows, unit=dps.ROWS, sensitivity=5, neighbours="replace_one")
    assert found is not None
    assert found.distance == 6


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"score": 3}, "score=3: expected a function"),
        ({"score": lambda rows: "many"}, "score=<fails on rows, or returns no finite numbers>"),
        ({"score": lambda rows: []}, "score=<fails on rows, or returns no finite numbers>"),
        ({"score": lambda rows: [math.nan]}, "score=<fails on rows, or returns no finite numbers>"),
        ({"score": lambda rows: [None]}, "score=<fails on rows, or returns no finite numbers>"),
        ({"score": lambda rows: [math.inf, 0]}, "score=<fails on rows, or returns no finite numbers>"),
        ({"score": lambda rows: 1 / 0}, "score=<fails on rows, or returns no finite numbers>"),
        ({"score": iter(range(10**6)).__next__}, "score=<fails on rows"),
        ({"rows": []}, "rows=<list>: expected"),
        ({"rows": [{"who": 1}, {"age": 2}]}, "rows=<list>: expected"),
        ({"rows": {"who": [1], "age": [1, 2]}}, "rows=<dict>: expected"),
        ({"rows": 3}, "rows=3: expected"),
        ({"rows": np.zeros((2, 2, 2))}, "rows=<ndarray>: expected"),
        ({"unit": "whom"}, "unit='whom': expected the name of a column"),
        ({"rows": {"who": [None, None], "age": [1, 2]}, "score": len}, "unit=<a column of neither>"),
        ({"rows": [{"who": ["ann"], "age": 1}]}, "unit=<a column of neither>"),
        ({"sensitivity": 0}, "sensitivity=0: expected"),
        ({"monotonic": 1}, "monotonic=1: expected"),
        ({"monotonic": True, "neighbours": "replace_one"}, "monotonic=True: expected False"),
        ({"neighbours": "both"}, "neighbours='both': expected"),
        ({"unit": np.array([1.0, 2.0])}, "unit="),
        ({"unit": ["who"]}, "unit="),
    ],
)
def test_bad_input_is_refused_in_one_line(changed: dict[str, Any], said: str) -> None:
    given = {"score": len, "rows": AGES, "unit": "who", "sensitivity": 1} | changed
    with pytest.raises(InvalidParameterError) as refused:
        dps.falsify_sensitivity(given.pop("score"), given.pop("rows"), **given)
    assert str(refused.value).startswith(said)
    assert "\n" not in str(refused.value)


def test_a_score_that_draws_is_refused() -> None:
    rng = np.random.default_rng(1)
    with pytest.raises(InvalidParameterError, match="two answers for the same rows"):
        dps.falsify_sensitivity(lambda rows: rng.random(), AGES, unit="who", sensitivity=1)
