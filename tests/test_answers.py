"""What is said of an answer, by the question that it answers."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.privacy import as_text
from dpselect.questions.records import counted
from dpselect.questions.wording import (
    bound_shown,
    condition,
    cost_shown,
    ends_shown,
    html_notes,
    html_table,
    rounded_up,
)
from tests.question_words import TASKS


def test_every_question_is_registered_by_its_name() -> None:
    assert all(kind.name == name for name, kind in TASKS.items())


ROWS = {"max_rows_per_unit": 1}
NUMBERS = {"source": "bounds", "lower": 0.0, "upper": 12.5}
GRID = {"source": "grid", "lower": -1.0, "upper": 1000.0, "step": 1.0, "count": 1002}
GROWING = {"source": "growing", "lower": 0.0, "upper": 2.0**50, "step": 1.0, "growth": 1.01, "count": 3080}
LISTED = {"count": 1, "lowest": 4.99, "highest": 4.99}
FROM_ONE = "from at most 1 row of each customer"
ORIGINS: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("most_common", {"count": 41270}, {}, "out of 41,270 candidates given by the caller"),
    ("top_k", {"count": 5}, {}, "out of 5 candidates given by the caller"),
    ("quantile", NUMBERS, ROWS, f"out of all numbers from 0 to 12.5, {FROM_ONE}"),
    ("quantiles", GRID, ROWS, f"out of the 1,002 numbers from -1 to 1000, {FROM_ONE}"),
    ("upper_bound", GROWING, ROWS, f"out of 3,080 numbers (1 apart, later 1%) from 0 to 1125899906842624, {FROM_ONE}"),
    ("best_price", LISTED, ROWS, f"out of 1 price from 4.99 to 4.99, {FROM_ONE}"),
    ("best_features", {"count": 1024}, {"classes": 2}, "out of 1,024 features"),
    ("density", {**NUMBERS, "count": 2000}, ROWS, f"out of 2,000 bins from 0 to 12.5, {FROM_ONE}"),
    (
        "quantile",
        NUMBERS,
        {"max_rows_per_unit": 1000},
        "out of all numbers from 0 to 12.5, from at most 1,000 rows of each customer",
    ),
]


@pytest.mark.parametrize(("task", "candidates", "arguments", "said"), ORIGINS)
def test_origins(task: str, candidates: dict[str, Any], arguments: dict[str, Any], said: str) -> None:
    release: Any = SimpleNamespace(candidates=candidates, arguments=arguments, unit="customer")
    assert TASKS[task].origin(release) == said


UNITS = {
    "most_common": None,
    "top_k": None,
    "quantile": "ranks",
    "quantiles": None,
    "upper_bound": "ranks",
    "best_price": "revenue",
    "best_features": "weighted rows",
}


@pytest.mark.parametrize("task", UNITS)
def test_units_of_errors(task: str) -> None:
    assert TASKS[task].error_unit == UNITS[task]


@given(st.floats(min_value=5e-324, max_value=1e308))
def test_upwards_is_never_below_and_hardly_above(value: float) -> None:
    true = Decimal(repr(value))
    assert true <= Decimal(rounded_up(value).replace(",", "")) <= true * Decimal("1.01")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (12.0, "12"), (99.96, "100"), (999.7, "1,000"), (9.999e-4, "0.001"), (1e9, "1.00e+9")],
)
def test_figures_at_the_edges(value: float, text: str) -> None:
    assert rounded_up(value) == text


def test_numbers_in_sentences() -> None:
    assert [as_text(each) for each in (0.1 + 0.2, 37.0, "37.0")] == ["0.30000000000000004", "37", "37.0"]
    assert [counted(1, "row"), counted(1000, "price"), counted(0, "rank")] == ["1 row", "1,000 prices", "0 ranks"]
    costs = [0.24359999999999998, 0.1, 5e-06, 2.0, 0.6000000000000001, 0.15000000000000002, 0.6000000000001, 0.123401]
    assert [cost_shown(each) for each in costs] == ["0.2436", "0.1", "5e-06", "2", "0.6", "0.15", "0.6001", "0.1235"]
    bounds = [(18.4, None), (18.4, "ranks"), (0.0123401, "a sum"), (None, None)]
    assert [bound_shown(*each) for each in bounds] == ["18", "19 ranks", "0.0124", ""]
    wide = [0.0123401, 12340.0, 2.0, 0.1, 1.23456e-7, 12345678900.0]
    assert [rounded_up(each) for each in wide] == ["0.0124", "12,400", "2", "0.1", "1.24e-7", "1.24e+10"]
    assert ends_shown(38.55312, 38.61989, is_amount=False) == ("38.553", "38.620")
    assert ends_shown(91_018.2, 93_228.4, is_amount=True) == ("91,018", "93,229")


def test_conditions_in_sentences() -> None:
    listed = ((3, "0, 1 or 2"), (6, "0, 1, 2, 3, 4 or 5"), (9, "0, 1, 2, 3, 4 or one of 4 more"))
    for count, said in listed:
        assert condition({"column": "page", "values": [*range(count)]}) == f"page is {said}"
    assert condition({"column": "age", "between": [18, None]}) == "age is at least 18"


def test_what_is_shown_as_html_is_escaped() -> None:
    rows = "<tr><th>a &lt; b</th><th>c</th></tr><tr><td>d</td><td>1</td></tr>"
    assert html_table(("a < b", "c"), [("d", 1)]) == f"<table>{rows}</table>"
    assert html_notes("a < b", "", "WARNING: c") == '<p>a &lt; b</p><p class="loud">WARNING: c</p>'
