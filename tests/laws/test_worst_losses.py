"""The claim of every certificate: between neighbouring tables no answer's probability moves by more than it says.

Every question of a table, each relation, and all pairs of neighbours over a tiny universe: the product reads the tables
and plans the noise, and the reference models say what law that makes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dpselect import Neighbours
from dpselect.errors import InvalidParameterError
from tests.laws.fed import NAMES
from tests.laws.tiny_questions import (
    OF_ONE_PAGE,
    PAGES,
    PAGES_BY,
    QUESTIONS,
    SLACK,
    XY,
    Query,
    in_parts,
    of_groups,
    question,
)
from tests.laws.tiny_tables import (
    UNLIMITED,
    Limits,
    each_row_a_unit,
    nameless_rows_counted,
    singles,
    stated,
    worst_delta,
    worst_loss,
)
from tests.rows.laws import Questions, planned
from tests.slow import SLOW
from tests.views import ask as asked_of


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
    """So that ``"replace_one"`` never gets the noise of add-remove; and a name that is none is refused."""
    ask = question(QUESTIONS[name])
    for relation in relations(name):
        by_name, by_relation = planned(ask, str(relation)), planned(ask, relation)  # type: ignore[arg-type]
        assert by_name.terms == by_relation.terms
        assert isinstance(by_name.terms.neighbours, Neighbours)
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
        Query(values(2, **in_parts(1)), PAGES_BY, of_groups(1), epsilon=0.5),
        values(2, 2 * FAILING, **in_parts(1)),
    ),
    "values in two groups": (
        Query(values(2, **in_parts(2)), PAGES_BY, of_groups(2), epsilon=0.5),
        values(2, 2 * FAILING, **in_parts(1)),
    ),
    "top_k of one": (Query(top(1), WORDS, of_words(1), epsilon=0.5), top(1, 3 * FAILING)),
    "top_k of two": (Query(top(2), WORDS, of_words(2), epsilon=0.5), top(2, 4.9 * FAILING)),
    "top_k of three": (Query(top(3), WORDS, of_words(3), epsilon=0.5), top(3, 4.9 * FAILING)),
    "top_k of two, steep": (Query(top(2), WORDS, of_words(2), epsilon=2.0), top(2, 3 * FAILING)),
    "top_k first of three": (Query(top(3, k=1), WORDS, of_words(3), epsilon=2.0), top(3, 4 * FAILING, k=1)),
    "top_k three of four": (Query(top(4, k=3), WORDS, of_words(4), epsilon=2.0), top(4, 4.9 * FAILING, k=3)),
    "top_k first in groups": (
        Query(top(3, k=1, **in_parts(1)), PAGES_BY, of_groups(1), epsilon=2.0),
        top(3, 4 * FAILING, k=1, **in_parts(1)),
    ),
    "top_k in groups": (
        Query(top(2, **in_parts(1)), PAGES_BY, of_groups(1), epsilon=0.5),
        top(2, 4 * FAILING, **in_parts(1)),
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
    """Under add-remove the rule prefers other noise in tables this small: `tests/reference/test_noisy_order.py`."""
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
