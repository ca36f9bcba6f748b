"""Every question of a table, asked of a tiny universe: what chance leaves of a unit, and what loses too much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cache
from typing import Any

import polars as pl

from tests.laws.tiny_tables import UNLIMITED, Limits, Unit, Universe, singles
from tests.rows.table_questions import Question

NAN, INF = float("nan"), float("inf")
SLACK = 1e-9
"""Of logarithms of doubles."""

A_CROWD = 9  # rows of one person, more than any limit here


@dataclass(frozen=True, eq=False)
class Query:
    """A question, of which universe, and what chance leaves of a unit.

    Attributes:
        ask: at the epsilon given.
        less: by what the noise is divided in the control, which then has to lose more than is stated.
    """

    ask: Any
    universe: Universe
    limits: Limits = UNLIMITED
    less: float = 2.0
    epsilon: float = 2.0


@cache
def question(asked: Query, factor: float = 1.0) -> Question:
    """At so many times the epsilon; the same object each time, so that what was read is known."""
    return lambda questions: asked.ask(questions, asked.epsilon * factor)


def crowd(*row: Any) -> Unit:
    """Many equal rows."""
    return Unit((row,) * A_CROWD)


def nameless(*row: Any) -> Unit:
    """Many equal rows that name nobody."""
    return Unit((), (row,) * A_CROWD)


PAGES = Universe(
    {"page": pl.String},
    plain=singles([("x",), ("y",)]),
    odd=(
        Unit(),
        Unit((("x",), ("y",))),
        Unit((("y",), (None,), ("w",), ("x",), ("y",))),
        Unit(((None,), ("w",), ("",), ("X",))),
        crowd("x"),
        nameless("y"),
    ),
    always=singles([("x",)] * 3),
    most=3,
)
DAYS = Universe(
    {"free": pl.Date},
    plain=singles([(date(2026, 12, 1),), (date(2026, 12, 3),)]),
    odd=(
        Unit(((date(2026, 12, 1),), (date(2026, 12, 2),), (date(2026, 12, 3),), (None,))),
        Unit(((date(2026, 12, 9),), (None,))),
        crowd(date(2026, 12, 2)),
        nameless(date(2026, 12, 1)),
    ),
)
PAID = Universe(
    {"page": pl.String, "paid": pl.Float64},
    plain=singles([("x", 3.0), ("y", -2.0), ("y", 0.4)]),
    odd=(
        Unit((("x", INF), ("y", -INF))),
        Unit((("x", -INF), ("x", INF), ("y", INF))),
        Unit((("x", NAN), ("y", None), ("w", 3.0), (None, 3.0))),
        Unit((("x", -0.0), ("y", 0.5))),
        crowd("x", -3.0),
        crowd("y", 2.0),
        nameless("x", 3.0),
    ),
)


def numbers(always: Sequence[float], *odd: Unit, most: int = 2) -> Universe:
    """Between 0 and 3, cut at whole numbers."""
    common_odd = (
        Unit(((INF,),)),
        Unit(((-INF,), (None,))),
        Unit(((NAN,), (None,))),
        Unit(((-0.0,), (NAN,))),
        Unit(((1.0,), (2.0,), (-0.0,), (NAN,))),
        nameless(3.0),
    )
    return Universe(
        {"paid": pl.Float64},
        plain=singles([(1.0,), (2.0,), (3.0,)]),
        odd=(*common_odd, *odd),
        always=singles([(each,) for each in always]),
        most=most,
        cuts=tuple(map(Fraction, range(4))),
    )


def has_number(row: Any) -> bool:
    """Infinities are numbers."""
    return row[-1] is not None and row[-1] == row[-1]


NUMBERS = numbers([1.0, 2.0], crowd(3.0))
BALANCED = numbers([1.0, 1.0, 1.0, 2.0, 2.0, 2.0], crowd(3.0), most=1)
FEW = numbers([1.0, 2.0], crowd(3.0), most=0)
TWICE = numbers([1.0, 1.0, 1.0, 2.0, 2.0, 2.0], crowd(1.0), crowd(2.0), most=1)
ONE, TWO = Limits(rows=1, counts=has_number), Limits(rows=2, counts=has_number)
IN_GROUPS: dict[str, Any] = {"by": "part", "groups": ["a", "b"]}


def parted(cell: Any, other: Any, **more: Any) -> dict[str, Any]:
    """Units with rows in groups, for one kind of cell."""
    return {
        "plain": singles([("a", *cell), ("b", *other)]),
        "odd": (
            Unit((("a", *cell), ("b", *cell))),
            Unit((("a", *other), ("b", *cell), ("c", *cell), (None, *cell))),
            Unit((("a", *cell), ("a", *other), ("b", *other))),
            Unit((("c", *cell), ("", *other))),
            Unit((), (("a", *cell),) * A_CROWD),
            Unit((("b", *other),) * A_CROWD),
        ),
        "always": (Unit((("a", *cell),)), Unit((("a", *cell),)), Unit((("b", *other),)), Unit((("b", *other),))),
        "most": 1,
        **more,
    }


PAGES_BY = Universe({"part": pl.String, "page": pl.String}, **parted(("x",), ("y",)))
PAID_BY = Universe({"part": pl.String, "page": pl.String, "paid": pl.Float64}, **parted(("x", 3.0), ("y", INF)))
NUMBERS_BY = Universe(
    {"part": pl.String, "paid": pl.Float64}, **parted((3.0,), (1.0,), cuts=tuple(map(Fraction, range(4))))
)


def of_groups(most: int, *, rows: int = 0) -> Limits:
    """For units that take part in so many groups."""
    return Limits(
        rows=rows,
        groups=("a", "b"),
        most_groups=most,
        counts=has_number if rows else lambda row: row[1] in ("x", "y"),
        group_of=lambda row: row[0],
    )


def in_parts(most: int) -> dict[str, Any]:
    return {**IN_GROUPS, "max_groups_per_unit": most}


XY = ["x", "y"]
RANGE: dict[str, Any] = {"bounds": (0, 3)}
LINE: dict[str, Any] = {**RANGE, "continuous": True}
GRID: dict[str, Any] = {"bounds": (0, 3), "step": 1}


CONTROLS = {((0, 1), "halving"): 12.0, ((0.75, 0.25), "joint"): 3.0}
"""So few levels and units lose less than they may, or many would be needed to see that they do."""

OF_ONE_PAGE = Limits(groups=("x", "y"), counts=lambda row: row[0] in ("x", "y"), group_of=lambda row: row[0])
"""A unit counts for one of its pages."""

QUESTIONS: dict[str, Query] = {
    "count": Query(lambda q, e: q.count(epsilon=e), PAGES),
    "count of values": Query(lambda q, e: q.count("page", candidates=XY, epsilon=e), PAGES),
    "count between": Query(lambda q, e: q.count("paid", between=(0, 2), epsilon=e), NUMBERS),
    "count in groups": Query(
        lambda q, e: q.by(**in_parts(2)).count("page", candidates=XY, epsilon=e), PAGES_BY, of_groups(2)
    ),
    "histogram of one value": Query(lambda q, e: q.histogram("page", candidates=XY, epsilon=e), PAGES, OF_ONE_PAGE),
    "histogram of two values": Query(
        lambda q, e: q.histogram("page", candidates=XY, max_values_per_unit=2, epsilon=e), PAGES
    ),
    "histogram in groups": Query(
        lambda q, e: q.by(**in_parts(1)).histogram("page", candidates=XY, max_values_per_unit=2, epsilon=e),
        PAGES_BY,
        of_groups(1),
    ),
    **{
        f"sum {clip}": Query(lambda q, e, clip=clip: q.sum("paid", clip=clip, epsilon=e), NUMBERS)
        for clip in ((0, 3), (-2, 3), (-3, 0))
    },
    "sum scaled": Query(lambda q, e: q.sum("paid", clip=(-1, 2.5), scale=2, epsilon=e), NUMBERS),
    "sum in groups": Query(
        lambda q, e: q.by(**in_parts(1)).sum("paid", clip=(0, 2), epsilon=e), NUMBERS_BY, of_groups(1, rows=9)
    ),
    "most_common and its units": Query(
        lambda q, e: q.most_common("page", candidates=XY, epsilon=e, usable_epsilon=e / 2), PAGES
    ),
    "best_by and its units": Query(
        lambda q, e: q.best_by("page", sum="paid", clip=(0, 3), candidates=XY, epsilon=e, usable_epsilon=e / 2), PAID
    ),
    "median and its units": Query(lambda q, e: q.median("paid", epsilon=e, usable_epsilon=e / 2, **GRID), NUMBERS, ONE),
    "most_common": Query(lambda q, e: q.most_common("page", candidates=XY, epsilon=e), PAGES),
    "most_common of numbers": Query(lambda q, e: q.most_common("paid", candidates=[0.0, 3.0], epsilon=e), NUMBERS),
    "least_common": Query(lambda q, e: q.least_common("page", candidates=["y", "x", "v"], epsilon=e), PAGES),
    "best_date": Query(lambda q, e: q.best_date("free", bounds=("2026-12-01", "2026-12-03"), epsilon=e), DAYS),
    **{
        f"top_k {k}": Query(
            lambda q, e, k=k: q.top_k("page", k, candidates=["x", "v", "y"], epsilon=e), PAGES, less=2.5
        )
        for k in (1, 2, 3)
    },
    **{
        f"best_by {clip}": Query(
            lambda q, e, clip=clip: q.best_by("page", sum="paid", clip=clip, candidates=XY, epsilon=e), PAID
        )
        for clip in ((0, 3), (-2, 3), (-3, 0))
    },
    "top_k once": Query(
        lambda q, e: q.top_k("page", 2, candidates=["x", "v", "y"], epsilon=e, max_values_per_unit=1),
        PAGES,
        OF_ONE_PAGE,
    ),
    "top_k once of two values": Query(
        lambda q, e: q.top_k("page", 2, candidates=["x", "v", "y"], epsilon=e, max_values_per_unit=2, with_counts=True),
        PAGES,
    ),
    "top_k of one value in two draws": Query(
        lambda q, e: q.top_k("page", 1, candidates=["x", "v", "y"], epsilon=e, max_values_per_unit=1),
        PAGES,
        OF_ONE_PAGE,
    ),
    "most_common once": Query(
        lambda q, e: q.most_common("page", candidates=XY, epsilon=e, max_values_per_unit=1, with_counts=True),
        PAGES,
        OF_ONE_PAGE,
    ),
    "least_common once": Query(
        lambda q, e: q.least_common("page", candidates=XY, epsilon=e, max_values_per_unit=1, with_counts=True),
        PAGES,
        OF_ONE_PAGE,
    ),
    "top_k with counts": Query(
        lambda q, e: q.top_k("page", 2, candidates=["x", "v", "y"], epsilon=e, with_counts=True), PAGES
    ),
    "most_common with counts": Query(
        lambda q, e: q.most_common("page", candidates=["x", "v", "y"], epsilon=e, with_counts=True), PAGES
    ),
    "least_common with counts": Query(
        lambda q, e: q.least_common("page", candidates=["y", "x", "v"], epsilon=e, with_counts=True), PAGES
    ),
    "best_date with counts": Query(
        lambda q, e: q.best_date("free", bounds=("2026-12-01", "2026-12-03"), epsilon=e, with_counts=True), DAYS
    ),
    "best_by with counts": Query(
        lambda q, e: q.best_by("page", sum="paid", clip=(0, 3), candidates=XY, epsilon=e, with_counts=True), PAID
    ),
    "best_by scaled": Query(
        lambda q, e: q.best_by("page", sum="paid", clip=(-1, 2.5), scale=2, candidates=XY, epsilon=e), PAID
    ),
    **{
        f"quantile {level} {name}": Query(
            lambda q, e, level=level, domain=domain: q.quantile("paid", level, epsilon=e, **domain),
            NUMBERS,
            ONE,
            less=2.5 if level in (0, 1) else 2,
        )
        for level in (0, 0.25, 0.5, 1)
        for name, domain in (("line", LINE), ("grid", GRID))
    },
    "median": Query(lambda q, e: q.median("paid", epsilon=e, **GRID), NUMBERS, ONE),
    **{
        f"quantile {level} without bounds": Query(
            lambda q, e, level=level: q.quantile("paid", level, step=1, epsilon=e), NUMBERS, ONE, less=3.0
        )
        for level in (0.5, 0.9, 1)
    },
    **{
        f"upper_bound {rows}": Query(
            lambda q, e, rows=rows: q.upper_bound("paid", step=1, epsilon=e, max_rows_per_unit=rows),
            universe,
            limits,
            less=2.5,
        )
        for rows, universe, limits in ((1, NUMBERS, ONE), (2, TWICE, TWO))
    },
    **{
        f"quantile {level} {name} of two rows": Query(
            lambda q, e, level=level, domain=domain: q.quantile(
                "paid", level, epsilon=e, max_rows_per_unit=2, **domain
            ),
            TWICE,
            TWO,
            less=2.5,
            epsilon=8.0,
        )
        for level, name, domain in ((0.5, "line", LINE), (0, "grid", GRID))
    },
    **{
        f"quantiles {levels} {method} {name}": Query(
            lambda q, e, levels=levels, method=method, domain=domain: q.quantiles(
                "paid", levels, epsilon=e, method=method, **domain
            ),
            BALANCED if name == "line" else FEW,
            ONE,
            less=CONTROLS.get((levels, method), 4.0),
            epsilon=8.0,
        )
        for levels in ((0, 1), (0, 0.5, 1), (0.75, 0.25))
        for method in ("joint", "halving")
        for name, domain in (("line", LINE), ("grid", GRID))
    },
    **{
        f"quantiles {method} of two rows": Query(
            lambda q, e, method=method, levels=levels: q.quantiles(
                "paid", levels, epsilon=e, method=method, max_rows_per_unit=2, **LINE
            ),
            TWICE,
            TWO,
            less=4.0,
            epsilon=8.0,
        )
        for method, levels in (("joint", (0, 0.5)), ("halving", (0.375, 0.625)))
    },
    **{
        f"best_price {prices}": Query(
            lambda q, e, prices=prices: q.best_price("paid", prices=prices, epsilon=e), NUMBERS, ONE
        )
        for prices in ((1, 2, 3), (3, 1), (0.5, 2, 2.5))
    },
    "best_price of one": Query(lambda q, e: q.best_price("paid", prices=[3], epsilon=e), NUMBERS, ONE, less=0.0),
    "best_price of two rows": Query(
        lambda q, e: q.best_price("paid", prices=[1, 3], epsilon=e, max_rows_per_unit=2), TWICE, TWO, less=2.5
    ),
    "mean": Query(lambda q, e: q.mean("paid", epsilon=e, **GRID), NUMBERS, ONE),
    "variance": Query(lambda q, e: q.variance("paid", epsilon=e, **GRID), FEW, ONE),
    "std": Query(lambda q, e: q.std("paid", epsilon=e, **GRID), FEW, ONE),
    "histogram in bins": Query(lambda q, e: q.histogram("paid", bins=[0, 1, 3], epsilon=e), NUMBERS, ONE),
    "density": Query(lambda q, e: q.density("paid", bins=2, epsilon=e, **RANGE), NUMBERS, ONE),
    **{
        f"most_common in {most} groups": Query(
            lambda q, e, most=most: q.by(**in_parts(most)).most_common("page", candidates=XY, epsilon=e),
            PAGES_BY,
            of_groups(most),
        )
        for most in (1, 2)
    },
    "least_common in groups": Query(
        lambda q, e: q.by(**in_parts(2)).least_common("page", candidates=XY, epsilon=e), PAGES_BY, of_groups(2)
    ),
    "top_k in groups": Query(
        lambda q, e: q.by(**in_parts(1)).top_k("page", 2, candidates=["y", "v", "x"], epsilon=e), PAGES_BY, of_groups(1)
    ),
    "top_k once in groups": Query(
        lambda q, e: q.by(**in_parts(2)).top_k(
            "page", 2, candidates=XY, epsilon=e, max_values_per_unit=2, with_counts=True
        ),
        PAGES_BY,
        of_groups(2),
    ),
    "most_common with counts in groups": Query(
        lambda q, e: q.by(**in_parts(2)).most_common("page", candidates=["x", "v", "y"], epsilon=e, with_counts=True),
        PAGES_BY,
        of_groups(2),
    ),
    "best_by in groups": Query(
        lambda q, e: q.by(**in_parts(1)).best_by("page", sum="paid", clip=(-1, 2), candidates=XY, epsilon=e),
        PAID_BY,
        of_groups(1),
    ),
    **{
        f"{name} in {most} groups": Query(ask, NUMBERS_BY, of_groups(most, rows=1), less=3.5)
        for name, most, ask in (
            ("quantile", 1, lambda q, e: q.by(**in_parts(1)).quantile("paid", 0.25, epsilon=e, **GRID)),
            ("quantile", 2, lambda q, e: q.by(**in_parts(2)).quantile("paid", 1, epsilon=e, **LINE)),
            ("quantiles", 1, lambda q, e: q.by(**in_parts(1)).quantiles("paid", (0, 1), epsilon=e, **LINE)),
            (
                "halving",
                2,
                lambda q, e: q.by(**in_parts(2)).quantiles("paid", (0, 0.5), epsilon=e, method="halving", **LINE),
            ),
            ("upper_bound", 2, lambda q, e: q.by(**in_parts(2)).upper_bound("paid", step=0.5, epsilon=e)),
            ("best_price", 1, lambda q, e: q.by(**in_parts(1)).best_price("paid", prices=[1, 3], epsilon=e)),
            ("mean", 2, lambda q, e: q.by(**in_parts(2)).mean("paid", epsilon=e, **GRID)),
            ("density", 2, lambda q, e: q.by(**in_parts(2)).density("paid", bins=2, epsilon=e, **RANGE)),
        )
    },
}
