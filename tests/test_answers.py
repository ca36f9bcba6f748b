"""What is said of an answer: each task has its entry, and an unknown one is not spoken of as if it were another."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dpselect import answers, tasks
from dpselect.answers import answer_to


def named_tasks() -> set[str]:
    """What the tasks call themselves in their releases."""
    exported = (getattr(tasks, name) for name in tasks.__all__)
    return {each.name for each in exported if hasattr(each, "name")}


def test_every_task_has_an_entry_and_no_other() -> None:
    assert named_tasks() == set(answers._ANSWERS)
    with pytest.raises(KeyError):
        answer_to("mode")


ROWS = {"max_rows_per_unit": 1}
NUMBERS = {"source": "bounds", "lower": 0.0, "upper": 12.5}
GRID = {"source": "grid", "lower": -1.0, "upper": 1000.0, "step": 1.0, "count": 1002}
LISTED = {"count": 1, "lowest": 4.99, "highest": 4.99}
FROM_ONE = "from at most 1 row of each customer"
ORIGINS: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("most_common", {"count": 41270}, {}, "out of 41,270 candidates given by the caller"),
    ("top_k", {"count": 5}, {}, "out of 5 candidates given by the caller"),
    ("quantile", NUMBERS, ROWS, f"out of all numbers from 0 to 12.5, {FROM_ONE}"),
    ("quantiles", GRID, ROWS, f"out of the 1,002 numbers from -1 to 1000, {FROM_ONE}"),
    ("best_price", LISTED, ROWS, f"out of 1 price from 4.99 to 4.99, {FROM_ONE}"),
    ("best_price", NUMBERS, ROWS, f"out of all prices from 0 to 12.5, {FROM_ONE}"),
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
    assert answer_to(task).origin(release) == said


UNITS = [
    ("most_common", {}, None),
    ("top_k", {}, None),
    ("quantile", {}, "ranks"),
    ("quantiles", {"method": "joint"}, None),
    ("best_price", {}, "revenue"),
    ("density", {"method": "counts"}, None),
    ("density", {"method": "sample"}, "share"),
]


@pytest.mark.parametrize(("task", "arguments", "unit"), UNITS)
def test_units_of_errors(task: str, arguments: dict[str, Any], unit: str | None) -> None:
    release: Any = SimpleNamespace(arguments=arguments)
    assert answer_to(task).error_unit(release) == unit


def test_as_many_entries_as_values() -> None:
    release: Any = SimpleNamespace(value=[1.0, 2.0], arguments={"levels": [0.5]})
    with pytest.raises(ValueError, match="zip"):
        answer_to("quantiles").rows(release)
