"""The claim of every certificate: between neighbouring tables no answer's probability moves by more than it says.

Every question of a table, each relation, and all pairs of neighbours over a tiny universe: the product reads the tables
and plans the noise, and the reference models say what law that makes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import cache
from typing import Any

import polars as pl
import pytest

from dpselect import Neighbours
from dpselect.errors import InvalidParameterError
from tests.laws.fed import NAMES
from tests.laws.tiny_tables import (
    UNLIMITED,
    Limits,
    Unit,
    Universe,
    each_row_a_unit,
    nameless_rows_counted,
    singles,
    stated,
    worst_delta,
    worst_loss,
)
from tests.rows.laws import Questions, planned
from tests.rows.table_questions import Question
from tests.slow import SLOW
from tests.views import ask as asked_of

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


def _by(most: int) -> dict[str, Any]:
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
        lambda q, e: q.by(**_by(2)).count("page", candidates=XY, epsilon=e), PAGES_BY, of_groups(2)
    ),
    "histogram of one value": Query(lambda q, e: q.histogram("page", candidates=XY, epsilon=e), PAGES, OF_ONE_PAGE),
    "histogram of two values": Query(
        lambda q, e: q.histogram("page", candidates=XY, max_values_per_unit=2, epsilon=e), PAGES
    ),
    "histogram in groups": Query(
        lambda q, e: q.by(**_by(1)).histogram("page", candidates=XY, max_values_per_unit=2, epsilon=e),
        PAGES_BY,
        of_groups(1),
    ),
    **{
        f"sum {clip}": Query(lambda q, e, clip=clip: q.sum("paid", clip=clip, epsilon=e), NUMBERS)
        for clip in ((0, 3), (-2, 3), (-3, 0))
    },
    "sum scaled": Query(lambda q, e: q.sum("paid", clip=(-1, 2.5), scale=2, epsilon=e), NUMBERS),
    "sum in groups": Query(
        lambda q, e: q.by(**_by(1)).sum("paid", clip=(0, 2), epsilon=e), NUMBERS_BY, of_groups(1, rows=9)
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
            lambda q, e, most=most: q.by(**_by(most)).most_common("page", candidates=XY, epsilon=e),
            PAGES_BY,
            of_groups(most),
        )
        for most in (1, 2)
    },
    "least_common in groups": Query(
        lambda q, e: q.by(**_by(2)).least_common("page", candidates=XY, epsilon=e), PAGES_BY, of_groups(2)
    ),
    "top_k in groups": Query(
        lambda q, e: q.by(**_by(1)).top_k("page", 2, candidates=["y", "v", "x"], epsilon=e), PAGES_BY, of_groups(1)
    ),
    "top_k once in groups": Query(
        lambda q, e: q.by(**_by(2)).top_k("page", 2, candidates=XY, epsilon=e, max_values_per_unit=2, with_counts=True),
        PAGES_BY,
        of_groups(2),
    ),
    "most_common with counts in groups": Query(
        lambda q, e: q.by(**_by(2)).most_common("page", candidates=["x", "v", "y"], epsilon=e, with_counts=True),
        PAGES_BY,
        of_groups(2),
    ),
    "best_by in groups": Query(
        lambda q, e: q.by(**_by(1)).best_by("page", sum="paid", clip=(-1, 2), candidates=XY, epsilon=e),
        PAID_BY,
        of_groups(1),
    ),
    **{
        f"{name} in {most} groups": Query(ask, NUMBERS_BY, of_groups(most, rows=1), less=3.5)
        for name, most, ask in (
            ("quantile", 1, lambda q, e: q.by(**_by(1)).quantile("paid", 0.25, epsilon=e, **GRID)),
            ("quantile", 2, lambda q, e: q.by(**_by(2)).quantile("paid", 1, epsilon=e, **LINE)),
            ("quantiles", 1, lambda q, e: q.by(**_by(1)).quantiles("paid", (0, 1), epsilon=e, **LINE)),
            (
                "halving",
                2,
                lambda q, e: q.by(**_by(2)).quantiles("paid", (0, 0.5), epsilon=e, method="halving", **LINE),
            ),
            ("upper_bound", 2, lambda q, e: q.by(**_by(2)).upper_bound("paid", step=0.5, epsilon=e)),
            ("best_price", 1, lambda q, e: q.by(**_by(1)).best_price("paid", prices=[1, 3], epsilon=e)),
            ("mean", 2, lambda q, e: q.by(**_by(2)).mean("paid", epsilon=e, **GRID)),
            ("density", 2, lambda q, e: q.by(**_by(2)).density("paid", bins=2, epsilon=e, **RANGE)),
        )
    },
}


def relations(name: str) -> list[Neighbours]:
    """In groups only what is added or removed is guaranteed."""
    return [Neighbours.ADD_REMOVE] if "groups" in name else list(Neighbours)


AT_NIGHT = (
    *("top_k once of two values", "best_by and its units", "upper_bound 2"),
    *("quantile 0.9 without bounds", "quantile 1 without bounds"),
    *("sum (-2, 3)", "sum scaled", "best_by (-3, 0)"),
    *("best_price (0.5, 2, 2.5)", "quantiles joint of two rows", "quantile 0.5 line of two rows"),
    *(name for name in QUESTIONS if "groups" in name and not name.startswith(("count", "most_common in", "mean"))),
)
"""By day their parts are tried by themselves, other levels, clips and prices, and other questions in groups."""


def tried(name: str) -> list[Neighbours]:
    """By day one relation for each question, the other for the next."""
    known = relations(name)
    if name in AT_NIGHT and not SLOW:
        return []
    return known if SLOW else [known[[*QUESTIONS].index(name) % len(known)]]


EVERY = [pytest.param(name, relation, id=f"{name}-{relation}") for name in QUESTIONS for relation in tried(name)]


@pytest.mark.parametrize(("name", "neighbours"), EVERY)
def test_no_more_is_lost_than_is_stated(name: str, neighbours: Neighbours) -> None:
    asked = QUESTIONS[name]
    ask = question(asked)
    loss = worst_loss(ask, asked.universe, asked.limits, neighbours)
    assert loss <= stated(ask, neighbours) + SLACK
    if asked.less:
        control = worst_loss(ask, asked.universe, asked.limits, neighbours, noise_for=question(asked, asked.less))
        assert control > stated(ask, neighbours) + SLACK


BOUNDED = (
    "count",
    "histogram of one value",
    "sum (0, 3)",
    "most_common and its units",
    "most_common",
    "least_common",
    "best_date",
    "top_k 2",
    "top_k once",
    "top_k with counts",
    "best_by (0, 3)",
    "best_by with counts",
    "median",
    "quantile 0.5 line",
    "upper_bound 1",
    "quantiles (0.75, 0.25) joint line",
    "quantiles (0, 0.5, 1) halving line",
    "best_price (1, 2, 3)",
    "mean",
    "variance",
    "histogram in bins",
    "density",
    "most_common in 1 groups",
    "quantile in 1 groups",
)
"""One of each way that contributions are bounded and weighed."""


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_name_of_a_relation_plans_what_the_relation_does(name: str) -> None:
    """So that ``"replace_one"`` never gets the noise of add/remove; and a name that is none is refused."""
    ask = question(QUESTIONS[name])
    for relation in relations(name):
        by_name, by_relation = planned(ask, str(relation)), planned(ask, relation)  # type: ignore[arg-type]
        assert by_name.terms == by_relation.terms
        assert by_name.event == by_relation.event
        assert isinstance(by_name.terms.sensitivity.neighbours, Neighbours)
    with pytest.raises(InvalidParameterError, match=r"^neighbours='replace one'"):
        planned(ask, "replace one")  # type: ignore[arg-type]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("broken", [each_row_a_unit, nameless_rows_counted])
@pytest.mark.parametrize("name", BOUNDED)
def test_the_law_notices_contributions_that_are_not_bounded(name: str, broken: Any) -> None:
    """Controls: a unit's rows are different units; rows of nobody are somebody's."""
    asked = QUESTIONS[name]
    universe = replace(asked.universe, broken=broken, most=min(asked.universe.most, 1))
    for neighbours in tried(name):
        ask = question(asked)
        assert worst_loss(ask, universe, UNLIMITED, neighbours) > stated(ask, neighbours) + SLACK


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [name for name in BOUNDED if QUESTIONS[name].limits.rows])
def test_more_rows_than_chance_may_leave_are_noticed(name: str) -> None:
    """Control: what is gathered is compared with the choices there are."""
    asked = QUESTIONS[name]
    broken = replace(asked.universe, broken=each_row_a_unit, most=0)
    with pytest.raises(AssertionError, match="more is left of a unit"):
        worst_loss(question(asked), broken, asked.limits, Neighbours.ADD_REMOVE)


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_epsilon_fails_no_more_often_than_delta(neighbours: Neighbours) -> None:
    def ask(asked: Questions, factor: float = 1.0) -> Any:
        return asked.top_k("page", 2, candidates=["x", "v", "y"], epsilon=0.5 * factor, delta=0.4)

    task = planned(ask, neighbours)
    assert (task.terms.mechanism, task.terms.delta) == ("ExponentialMechanism", 0.4)
    assert worst_loss(ask, PAGES, UNLIMITED, neighbours) > task.terms.epsilon + SLACK  # it does fail
    assert 0.0 < worst_delta(ask, PAGES, UNLIMITED, neighbours) <= task.terms.delta + SLACK
    much_less = worst_delta(ask, PAGES, UNLIMITED, neighbours, noise_for=lambda asked: ask(asked, 16.0))
    assert much_less > task.terms.delta + SLACK  # control


WORDS = replace(PAGES, always=singles([("x",)] * 2), most=2)


def of_words(most: int) -> Limits:
    """A unit counts for so many of its values, whatever they are."""
    return Limits(groups=NAMES, most_groups=most, counts=lambda row: row[0] in NAMES, group_of=lambda row: row[0])


FAILING = 0.2


def values(most: int, delta: float = FAILING, **more: Any) -> Any:
    """The question without candidates."""
    return lambda q, e: asked_of(q, "values", "page", max_values_per_unit=most, epsilon=e, delta=delta, **more)


def top(most: int, delta: float = FAILING, *, k: int = 2, **more: Any) -> Any:
    """The most common values without candidates, with their counts unless there is a stop candidate."""
    return lambda q, e: asked_of(q, "top_k", "page", k, max_values_per_unit=most, epsilon=e, delta=delta, **more)


UNKNOWN: dict[str, tuple[Query, Any]] = {
    "values of one": (Query(values(1), WORDS, of_words(1), epsilon=0.5), values(1, 2 * FAILING)),
    "values of two": (Query(values(2), WORDS, of_words(2), epsilon=0.5), values(2, 2 * FAILING)),
    "values of three": (Query(values(3), WORDS, of_words(3), epsilon=0.5), values(3, 3 * FAILING)),
    "values in groups": (
        Query(values(2, **_by(1)), PAGES_BY, of_groups(1), epsilon=0.5),
        values(2, 2 * FAILING, **_by(1)),
    ),
    "values in two groups": (
        Query(values(2, **_by(2)), PAGES_BY, of_groups(2), epsilon=0.5),
        values(2, 2 * FAILING, **_by(1)),
    ),
    "top_k of one": (Query(top(1), WORDS, of_words(1), epsilon=0.5), top(1, 3 * FAILING)),
    "top_k of two": (Query(top(2), WORDS, of_words(2), epsilon=0.5), top(2, 4.9 * FAILING)),
    "top_k of three": (Query(top(3), WORDS, of_words(3), epsilon=0.5), top(3, 4.9 * FAILING)),
    "top_k of two, steep": (Query(top(2), WORDS, of_words(2), epsilon=2.0), top(2, 3 * FAILING)),
    "top_k first of three": (Query(top(3, k=1), WORDS, of_words(3), epsilon=2.0), top(3, 4 * FAILING, k=1)),
    "top_k three of four": (Query(top(4, k=3), WORDS, of_words(4), epsilon=2.0), top(4, 4.9 * FAILING, k=3)),
    "top_k first in groups": (
        Query(top(3, k=1, **_by(1)), PAGES_BY, of_groups(1), epsilon=2.0),
        top(3, 4 * FAILING, k=1, **_by(1)),
    ),
    "top_k in groups": (
        Query(top(2, **_by(1)), PAGES_BY, of_groups(1), epsilon=0.5),
        top(2, 4 * FAILING, **_by(1)),
    ),
}
"""Questions without candidates, and for controls the noise of one that pays for less."""


def by_night(name: str) -> list[pytest.MarkDecorator]:
    """The longest, and the same as of one and of two, and in groups of `values`."""
    at_night = name.endswith(("three", "four", "steep")) or {"top_k", "groups"} <= {*name.split()}
    return [pytest.mark.slow] if at_night else []


@pytest.mark.parametrize("name", [pytest.param(name, marks=by_night(name)) for name in UNKNOWN])
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_without_candidates_epsilon_fails_no_more_often_than_delta(name: str, neighbours: Neighbours) -> None:
    asked, cheap = UNKNOWN[name]
    if neighbours not in relations(name):
        return
    ask = question(asked)
    task = planned(ask, neighbours)
    assert task.terms.delta == FAILING
    found = worst_delta(ask, asked.universe, asked.limits, neighbours)
    assert 0.0 < found <= FAILING + SLACK
    less = question(replace(asked, ask=cheap))
    assert worst_delta(ask, asked.universe, asked.limits, neighbours, noise_for=less) > FAILING + SLACK  # control


def test_all_ways_without_candidates_are_enumerated() -> None:
    found = {
        (str(neighbours), planned(question(asked), neighbours).terms.mechanism)
        for name, (asked, _) in UNKNOWN.items()
        for neighbours in relations(name)
    }
    kinds = ("PartitionSelection", "ThresholdCounts", "GaussianThresholdCounts", "StopCandidate")
    assert found >= {(str(neighbours), kind) for neighbours in Neighbours for kind in kinds[:1] + kinds[2:]}
    assert found >= {("add_remove", kind) for kind in kinds}


@pytest.mark.parametrize("broken", [each_row_a_unit, nameless_rows_counted])
def test_contributions_that_are_not_bounded_fail_more_often(broken: Any) -> None:
    """Controls, as above."""
    asked, _ = UNKNOWN["values of one"]
    universe = replace(asked.universe, broken=broken)
    for neighbours in Neighbours:
        assert worst_delta(question(asked), universe, UNLIMITED, neighbours) > FAILING + SLACK


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize(("most", "limits"), [(1, OF_ONE_PAGE), (2, UNLIMITED)])
def test_gaussian_noise_fails_no_more_often_than_delta(neighbours: Neighbours, most: int, limits: Limits) -> None:
    def ask(asked: Questions, delta: float = 0.2) -> Any:
        return asked.histogram("page", candidates=XY, max_values_per_unit=most, epsilon=0.5, delta=delta)

    task = planned(ask, neighbours)
    assert (task.terms.mechanism, task.terms.delta) == ("DiscreteGaussianMechanism", 0.2)
    assert worst_loss(ask, PAGES, limits, neighbours) > task.terms.epsilon + SLACK  # it does fail
    assert 0.0 < worst_delta(ask, PAGES, limits, neighbours) <= task.terms.delta + SLACK
    with_less = worst_delta(ask, PAGES, limits, neighbours, noise_for=lambda asked: ask(asked, 0.9))
    assert with_less > task.terms.delta + SLACK  # control


@pytest.mark.slow
def test_order_and_counts_of_gaussian_noise_fail_no_more_often_than_delta() -> None:
    """Under add/remove the rule prefers other noise in tables this small: `tests/reference/test_noisy_order.py`."""
    neighbours = Neighbours.REPLACE_ONE

    def ask(asked: Questions, factor: float = 1.0) -> Any:
        return asked.top_k(
            "page", 2, candidates=XY, max_values_per_unit=2, with_counts=True, epsilon=0.5 * factor, delta=0.2
        )

    task = planned(ask, neighbours)
    assert (task.terms.mechanism, task.terms.delta) == ("DiscreteGaussianMechanism", 0.2)
    assert 0.0 < worst_delta(ask, PAGES, UNLIMITED, neighbours) <= task.terms.delta + SLACK
    with_less = worst_delta(ask, PAGES, UNLIMITED, neighbours, noise_for=lambda asked: ask(asked, 4.0))
    assert with_less > task.terms.delta + SLACK  # control


def test_every_question_is_asked() -> None:
    public = {name for name in dir(Questions) if not name.startswith("_")}
    assert public == {name.split()[0] for name in (*QUESTIONS, *UNKNOWN)} - {"halving"} | {"by", "where"}
