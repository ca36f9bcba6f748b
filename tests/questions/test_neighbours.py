"""Both relations: each task's law moves by at most epsilon between all neighbours, and the other scale would not do."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from dpselect import Neighbours
from tests.drawn_answers import handed, planned
from tests.reference import clipped_sums, counting

BOTH = list(Neighbours)
XY = ["x", "y"]
ROWS = [(), ("x",), ("y",), ("x", "y")]
PAIRS = {Neighbours.ADD_REMOVE: counting.add_remove_pairs, Neighbours.REPLACE_ONE: counting.replace_one_pairs}


def worst_loss(laws: Iterable[tuple[Any, Any]]) -> float:
    return max(float(np.abs(np.log(np.asarray(first) / np.asarray(second))).max()) for first, second in laws)


def counted(data: dict[str, counting.Contribution]) -> list[int]:
    return [*counting.distinct_unit_counts(counting.rows_of(data), candidates=("x", "y"))]


@pytest.mark.parametrize("kind", ["most_common", "least_common"])
@pytest.mark.parametrize("neighbours", BOTH)
def test_counts(kind: str, neighbours: Neighbours) -> None:
    pairs = list(PAIRS[neighbours](("ann", "bob", "cid"), ROWS))

    def loss(planned_for: Neighbours) -> float:
        task = planned(kind, candidates=XY, epsilon=1.0, neighbours=planned_for)
        return worst_loss(
            tuple(task.mechanism.pmf(task.scores(handed(task, counted(data)))) for data in pair) for pair in pairs
        )

    assert 0.99 < loss(neighbours) <= 1.0 + 1e-9
    if neighbours is Neighbours.REPLACE_ONE:
        assert loss(Neighbours.ADD_REMOVE) > 1.9


@pytest.mark.parametrize("neighbours", BOTH)
def test_top_k(neighbours: Neighbours) -> None:
    for delta in (0.0, 1e-3):
        plan = planned("top_k", candidates=XY, k=2, epsilon=1.0, delta=delta, neighbours=neighbours).plan
        assert plan.mechanism.neighbours is neighbours
        assert plan.mechanism.monotonic is (neighbours is Neighbours.ADD_REMOVE)


@pytest.mark.parametrize("clip", [(-2, 5), (0, 3), (-3, 0)])
@pytest.mark.parametrize("neighbours", BOTH)
def test_sums(clip: tuple[int, int], neighbours: Neighbours) -> None:
    ends: list[clipped_sums.Contribution] = [((what, end),) for what in ("x", "y") for end in clip]
    both: list[clipped_sums.Contribution] = [(("x", clip[0]), ("y", clip[1])), (("x", clip[1]), ("y", clip[0]))]
    pairs = {
        Neighbours.ADD_REMOVE: clipped_sums.add_remove_pairs,
        Neighbours.REPLACE_ONE: clipped_sums.replace_one_pairs,
    }[neighbours](("ann", "bob"), [(), *ends, *both])
    task = planned("best_by", candidates=XY, sum="paid", clip=clip, epsilon=1.0, neighbours=neighbours)
    laws = [
        tuple(task.mechanism.pmf(clipped_sums.sums(data, ("x", "y"), clip=clip)) for data in pair) for pair in pairs
    ]
    assert 0.95 < worst_loss(laws) <= 1.0 + 1e-9


@pytest.mark.parametrize("level", [0.25, 0.5])
@pytest.mark.parametrize("neighbours", BOTH)
def test_quantiles(level: float, neighbours: Neighbours) -> None:
    task = planned("quantile", level=level, bounds=(0, 3), step=1, epsilon=1.0, neighbours=neighbours)
    pairs = [
        ([*rest, *one], [*rest, *other])
        for rest in ([], [0], [3], [1, 2], [0, 0, 3])
        for one in ([], [0], [1], [3])
        for other in ([[]] if neighbours is Neighbours.ADD_REMOVE else [[], [0], [2], [3]])
    ]
    loss = worst_loss(tuple(task.mechanism.pmf(values) for values in pair) for pair in pairs)
    assert loss <= 1.0 + 1e-9
    narrow = planned("quantile", level=level, bounds=(0, 3), step=1, epsilon=2.5, neighbours=neighbours)
    assert worst_loss(tuple(narrow.mechanism.pmf(values) for values in pair) for pair in pairs) > 1.0


PLANS: dict[str, Callable[[Neighbours], Any]] = {
    "most_common": lambda relation: planned("most_common", candidates=XY, epsilon=1.0, neighbours=relation),
    "least_common": lambda relation: planned("least_common", candidates=XY, epsilon=1.0, neighbours=relation),
    "top_k": lambda relation: planned("top_k", candidates=XY, k=2, epsilon=1.0, neighbours=relation),
    "best_by": lambda relation: planned(
        "best_by", candidates=XY, sum="a", clip=(0, 1), epsilon=1.0, neighbours=relation
    ),
    "quantile": lambda relation: planned(
        "quantile", level=0.25, bounds=(0, 3), continuous=True, epsilon=1.0, neighbours=relation
    ),
    "quantiles": lambda relation: planned(
        "quantiles", levels=[0.25, 0.5], bounds=(0, 3), continuous=True, epsilon=1.0, neighbours=relation
    ),
    "best_price": lambda relation: planned("best_price", prices=[1, 2, 4], epsilon=1.0, neighbours=relation),
    "upper_bound": lambda relation: planned("upper_bound", lower=0, step=1, epsilon=1.0, neighbours=relation),
    "density": lambda relation: planned("density", bounds=(0, 1), bins=4, epsilon=1.0, neighbours=relation),
}


@pytest.mark.parametrize("question", PLANS)
@pytest.mark.parametrize("neighbours", BOTH)
def test_the_certificate_says_the_relation_that_the_noise_is_made_for(question: str, neighbours: Neighbours) -> None:
    task = PLANS[question](neighbours)
    assert task.terms.neighbours is neighbours
    assert not (task.terms.monotonic and neighbours is Neighbours.REPLACE_ONE)
    mechanism = getattr(task.mechanism, "mechanism", task.mechanism)  # of a plan, that of a round
    assert getattr(task, "neighbours", mechanism.neighbours) is neighbours


@pytest.mark.parametrize(
    ("question", "more"),
    [("most_common", 2), ("least_common", 2), ("top_k", 2), ("best_by", 2), ("quantile", 4 / 3), ("density", 2)],
)
def test_how_much_more_noise_replacing_takes(question: str, more: float) -> None:
    asked = [task.mechanism for task in map(PLANS[question], reversed(BOTH))]
    scales = [getattr(each, "mechanism", each).scale for each in asked]
    assert math.isclose(scales[0] / scales[1], more)
