"""A table and every question about it. The laws of all engines are compared on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa

from tests.views import seen

Question = Callable[[Any], Any]
"""Asks a `dpselect.Dataset`, or anything with its methods, one question."""

PEOPLE = 24
NOBODY = ["", " ", "NA", None] * 3
DAYS = [date(2026, 12, day) for day in range(1, 6)]


def table(nobody: Sequence[str | None]) -> pa.Table:
    """People with two or three rows each, who have one city and one age; and some rows of nobody's."""
    whose = [*(person for person in range(PEOPLE) for _ in range(2 + person % 2)), *range(100, 100 + len(nobody))]
    place = np.arange(len(whose))
    return pa.table(
        {
            "who": [f" p{person}" if person < 100 else nobody[person - 100] for person in whose],
            "page": pa.array([(7 * at + at // 5) % 5 if at % 9 else None for at in place], pa.int16()),
            "name": [["x", "y", "z", "X", None, "w"][(at * at) % 6] for at in place],
            "free": [DAYS[(3 * at) % 5] for at in place],
            "paid": [float(at % 7) * 1.25 - 2.0 if at % 8 else None for at in place],
            "city": [["north", "south", "west"][person % 3] for person in whose],
            "age": pa.array([20 + (person * 11) % 50 for person in whose], pa.int64()),
        }
    )


ROWS = table(NOBODY)
BY_CITY: dict[str, Any] = {"by": "city", "groups": ["south", "north"]}
BY_PAGE: dict[str, Any] = {"by": "page", "groups": range(1, 4), "max_groups_per_unit": 3}


def by_city(asked: Any) -> Any:
    """The questions of two cities; each unit has rows in one."""
    return seen(asked, **BY_CITY)


def by_page(asked: Any) -> Any:
    """The questions of three pages; units have rows in several."""
    return seen(asked, **BY_PAGE)


NAMES, PAGES = ["z", "x", "y", "v"], range(5)
ANY: dict[str, Any] = {"continuous": True}
AGES = (20, 60)

QUESTIONS: dict[str, Question] = {
    "count": lambda asked: asked.count(epsilon=0.5),
    "count-values": lambda asked: asked.count("name", candidates=["x", "z"], epsilon=0.5),
    "count-between": lambda asked: asked.count("paid", between=(-0.5, 3), epsilon=0.5),
    "count-by": lambda asked: by_city(asked).count("age", between=(30, 50.5), epsilon=0.5),
    "histogram": lambda asked: asked.histogram("name", candidates=NAMES, max_values_per_unit=4, epsilon=0.5),
    "histogram-by": lambda asked: by_city(asked).histogram(
        "page", candidates=[0, 3], max_values_per_unit=2, epsilon=0.5
    ),
    "sum": lambda asked: asked.sum("paid", clip=(-1.5, 6), scale=100, epsilon=0.5),
    "sum-by": lambda asked: by_page(asked).sum("age", clip=(0, 60), epsilon=0.5),
    "values": lambda asked: asked.values("page", kind="integer", max_values_per_unit=5, epsilon=0.2, delta=0.01),
    "values-text": lambda asked: asked.values("name", max_values_per_unit=3, epsilon=0.2, delta=0.01),
    "values-dates": lambda asked: asked.values("free", kind="date", max_values_per_unit=3, epsilon=0.2, delta=0.01),
    "values-numbers": lambda asked: asked.values("paid", kind="number", max_values_per_unit=3, epsilon=0.2, delta=0.01),
    "values-by": lambda asked: by_city(asked).values("name", max_values_per_unit=4, epsilon=0.2, delta=0.01),
    "values-gaussian": lambda asked: asked.values("name", max_values_per_unit=4, epsilon=1.0, delta=0.001),
    "most_common": lambda asked: asked.most_common("page", candidates=PAGES, epsilon=0.5),
    "most_common-list": lambda asked: asked.most_common("page", candidates=[4, 9, 2], epsilon=0.5),
    "most_common-by": lambda asked: by_city(asked).most_common("name", candidates=NAMES, epsilon=0.5),
    "least_common": lambda asked: asked.least_common("name", candidates=NAMES, epsilon=0.5),
    "least_common-by": lambda asked: by_page(asked).least_common("name", candidates=NAMES, epsilon=0.5),
    "best_date": lambda asked: asked.best_date("free", bounds=("2026-12-01", "2026-12-04"), epsilon=0.5),
    "best_date-by": lambda asked: by_city(asked).best_date("free", dates=["2026-12-05", "2026-12-02"], epsilon=0.5),
    "top_k": lambda asked: asked.top_k("name", 2, candidates=NAMES, epsilon=0.5),
    "top_k-delta": lambda asked: asked.top_k("page", 3, candidates=PAGES, epsilon=0.5, delta=1e-6),
    "top_k-by": lambda asked: by_page(asked).top_k("name", 2, candidates=NAMES, epsilon=0.5),
    "top_k-once": lambda asked: asked.top_k(
        "name", 3, candidates=NAMES, epsilon=0.5, max_values_per_unit=4, with_counts=True
    ),
    "top_k-counts-by": lambda asked: by_page(asked).top_k("name", 2, candidates=NAMES, epsilon=0.5, with_counts=True),
    "most_common-counts": lambda asked: asked.most_common("page", candidates=PAGES, epsilon=0.5, with_counts=True),
    "least_common-counts": lambda asked: asked.least_common("name", candidates=NAMES, epsilon=0.5, with_counts=True),
    "best_date-counts": lambda asked: asked.best_date(
        "free", bounds=("2026-12-01", "2026-12-04"), epsilon=0.5, with_counts=True
    ),
    "best_by-counts": lambda asked: asked.best_by(
        "name", sum="paid", clip=(-1.5, 6), scale=100, candidates=NAMES, epsilon=0.5, with_counts=True
    ),
    "top_k-unknown": lambda asked: asked.top_k("name", 2, max_values_per_unit=3, epsilon=2.0, delta=0.2),
    "top_k-unknown-gaussian": lambda asked: asked.top_k(
        "page", 2, max_values_per_unit=5, epsilon=0.5, delta=0.01, with_counts=True
    ),
    "top_k-unknown-stop": lambda asked: asked.top_k("name", 1, max_values_per_unit=3, epsilon=0.5, delta=0.01),
    "top_k-unknown-by": lambda asked: by_city(asked).top_k("name", 3, max_values_per_unit=3, epsilon=0.5, delta=0.01),
    "best_by": lambda asked: asked.best_by(
        "name", sum="paid", clip=(-1.5, 6), scale=100, candidates=NAMES, epsilon=0.5
    ),
    "best_by-by": lambda asked: by_city(asked).best_by(
        "page", sum="paid", clip=(0, 4), candidates=PAGES, epsilon=0.5
    ),
    "median": lambda asked: asked.median("age", bounds=AGES, step=1, epsilon=0.5),
    "median-dates": lambda asked: asked.median("free", bounds=(DAYS[0], DAYS[3]), epsilon=0.5, max_rows_per_unit=3),
    "quantile-dates-by": lambda asked: by_city(asked).quantile(
        "free", 0.7, bounds=("2026-11-28", "2026-12-06"), step=2, epsilon=0.5, max_rows_per_unit=3
    ),
    "quantile": lambda asked: asked.quantile("paid", 0.25, bounds=(-2, 5), **ANY, epsilon=0.5, max_rows_per_unit=3),
    "quantile-by": lambda asked: by_city(asked).quantile("age", 0.75, bounds=AGES, step=2, epsilon=0.5),
    "quantiles": lambda asked: asked.quantiles("age", [0.25, 0.75], bounds=AGES, **ANY, epsilon=0.5),
    "quantiles-halving": lambda asked: asked.quantiles("age", [0.5], bounds=AGES, **ANY, epsilon=0.5, method="halving"),
    "quantile-unbounded": lambda asked: asked.quantile("age", 0.9, step=1, epsilon=0.5),
    "median-unbounded": lambda asked: asked.median("paid", lower=-3, step=0.25, epsilon=0.5, max_rows_per_unit=3),
    "upper_bound": lambda asked: asked.upper_bound("age", step=1, epsilon=0.5),
    "upper_bound-by": lambda asked: by_city(asked).upper_bound(
        "paid", lower=-2, step=0.25, epsilon=0.5, max_rows_per_unit=3
    ),
    "best_price": lambda asked: asked.best_price("age", prices=[19.5, 30, 45], epsilon=0.5),
    "best_price-rows": lambda asked: asked.best_price("paid", prices=[1, 2.5, 5], epsilon=0.5, max_rows_per_unit=3),
    "best_price-by": lambda asked: by_city(asked).best_price("age", prices=range(20, 80, 20), epsilon=0.5),
    "mean": lambda asked: asked.mean("age", bounds=AGES, step=0.5, epsilon=0.5),
    "mean-by": lambda asked: by_city(asked).mean("age", bounds=AGES, epsilon=0.5),
    "variance": lambda asked: asked.variance("age", bounds=AGES, step=0.5, epsilon=0.5),
    "variance-by": lambda asked: by_city(asked).variance("age", bounds=AGES, epsilon=0.5),
    "histogram-bins": lambda asked: asked.histogram("age", bins=[20, 30, 50], epsilon=0.5),
    "histogram-bins-by": lambda asked: by_city(asked).histogram("age", bins=[0, 30, 45], epsilon=0.5),
    "std": lambda asked: asked.std("age", bounds=AGES, step=0.5, epsilon=0.5),
    "std-by": lambda asked: by_city(asked).std("age", bounds=AGES, epsilon=0.5),
    "density": lambda asked: asked.density("age", bounds=AGES, bins=4, epsilon=0.5),
    "density-by": lambda asked: by_city(asked).density("age", bounds=AGES, bins=4, epsilon=0.5),
}  # fmt: skip
PLAINLY = tuple(name for name in QUESTIONS if "-" not in name)
"""One of each question."""
