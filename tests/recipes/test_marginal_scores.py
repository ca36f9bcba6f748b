"""MWEM, adaptive marginals and parents: what one row changes, over all small tables, and what they cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect.recipes import MWEM, AdaptiveMarginals, ParentChoice, synthetic
from dpselect.testing import seeded
from tests.reference import marginal_scores as model

UNIT = 65536


def largest_change(score: Callable[[Any], Any], shape: tuple[int, int], rows: int) -> Any:
    found = {table: score(table) for table in model.tables(shape, rows)}
    return max(abs(found[table] - found[moved]) for table in found for moved in model.replaced(table))


def product(table: Any) -> np.ndarray:
    return np.array(table, np.int64)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("shape", "rows"), [((2, 2), 9), ((2, 3), 6), ((3, 3), 4)])
def test_the_distance_from_independence(shape: tuple[int, int], rows: int) -> None:
    for table in model.tables(shape, rows):
        exact = model.independence_distance(table) * 2 * rows**2
        assert synthetic.distance_from_independence(product(table)) == exact
    change = largest_change(lambda table: synthetic.distance_from_independence(product(table)), shape, rows)
    allowed = ParentChoice(epsilon=1.0, sizes=shape, rows=rows, score="R").selecting.sensitivity
    assert 0.6 * allowed < change <= allowed


@pytest.mark.sampled(1)
@pytest.mark.parametrize("rows", [1, 4, 7, 8])
def test_the_nearness_to_certainty(rows: int) -> None:
    for table in model.tables((2, 3), rows):
        assert synthetic.nearness_to_certainty(product(table)) == model.certainty_distance(table) * 2 * rows
    change = largest_change(lambda table: synthetic.nearness_to_certainty(product(table)), (2, 3), rows)
    allowed = ParentChoice(epsilon=1.0, sizes=(2, 2), rows=rows, score="F").selecting.sensitivity
    assert change == (allowed if rows > 1 else 0)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("shape", "rows"), [((2, 2), 8), ((2, 3), 6), ((3, 3), 5)])
def test_the_mutual_information(shape: tuple[int, int], rows: int) -> None:
    for table in model.tables(shape, rows):
        exact = model.mutual_information(table) * rows * UNIT
        assert synthetic.mutual_information(product(table)) == pytest.approx(exact, abs=4)
    allowed = synthetic.mutual_information_sensitivity(rows, binary=2 in shape)
    if shape != (2, 3):  # a network with an attribute of three values may also ask about two such attributes
        choice = ParentChoice(epsilon=1.0, sizes=shape, rows=rows, score="mutual_information")
        assert choice.selecting.sensitivity == allowed
    change = largest_change(lambda table: synthetic.mutual_information(product(table)), shape, rows)
    assert 0.95 * allowed < change <= allowed


def test_with_two_values_on_a_side_the_mutual_information_needs_less_noise() -> None:
    assert synthetic.mutual_information_sensitivity(100, binary=True) < synthetic.mutual_information_sensitivity(
        100, binary=False
    )


class Recorder:
    """Takes the place of a mechanism that selects: keeps the scores and answers by a script."""

    def __init__(self, mechanism: Any, winners: list[int]) -> None:
        self.mechanism, self.winners, self.seen = mechanism, list(winners), list[np.ndarray]()

    def select(self, scores: Any) -> int:
        self.seen.append(np.array(scores))
        return self.winners.pop(0)


class Silent:
    """Takes the place of a mechanism that measures: answers the same whatever the truth is."""

    expected_error = dps.GeometricMechanism(epsilon=1.0, sensitivity=1).expected_error

    def __init__(self, answer: int = 3) -> None:
        self.answer = answer

    def draw(self, value: int) -> int:
        return self.answer

    def draw_many(self, values: Any) -> np.ndarray:
        return np.full(len(values), self.answer, np.int64)


def scores_of(recipe: Any, winners: list[int], *data: Any, answer: int = 3) -> np.ndarray:
    """All scores of a run whose releases are fixed."""
    recorder = Recorder(recipe.selecting, winners)
    object.__setattr__(recipe, "selecting", recorder)
    for name in ("measuring", "totalling"):
        if getattr(recipe, name, None) is not None:
            object.__setattr__(recipe, name, Silent(answer))
    recipe.fit(*data)
    return np.array(recorder.seen)


QUERIES = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 1, 1]], bool)


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_one_row_changes_the_scores_of_mwem_by_at_most_their_sensitivity(neighbours: Any) -> None:
    def run(counts: list[int]) -> np.ndarray:
        recipe = MWEM(epsilon=1.0, rounds=3, neighbours=neighbours)
        return scores_of(recipe, [0, 2, 0], np.array(counts), QUERIES)

    recipe = MWEM(epsilon=1.0, rounds=3, neighbours=neighbours)
    base = run([4, 0, 2, 1])
    others = [[4, 1, 2, 1], [4, 0, 2, 2]] if neighbours == "add_remove" else [[3, 1, 2, 1], [4, 1, 1, 1], [4, 0, 3, 0]]
    changes = np.abs(np.array([run(each) - base for each in others]))
    assert changes.max() == recipe.selecting.sensitivity == UNIT
    assert recipe.selecting.scale == pytest.approx(2 * UNIT / recipe.selecting.epsilon)


@pytest.mark.parametrize("answer", [3, 2**62])
@pytest.mark.parametrize("largest", [2**30, 2**45 - 1, 2**46, 2**53, 2**62, 2**64 - 2])
def test_one_row_of_very_many_changes_the_scores_of_mwem_by_at_most_their_sensitivity(
    largest: int, answer: int
) -> None:
    def run(counts: list[int]) -> np.ndarray:
        return scores_of(MWEM(epsilon=1.0, rounds=3), [0, 2, 0], np.array(counts, np.uint64), QUERIES, answer=answer)

    base, changes = run([largest] * 4), [run([largest + 1, *[largest] * 3]), run([*[largest] * 3, largest + 1])]
    exact = np.minimum([2 * largest, 2 * largest, 3 * largest], 2**46)
    assert (np.abs(np.array(changes) - base) <= UNIT).all()
    assert answer != 3 or np.abs(base[0] / UNIT - exact).max() <= 3
    assert (base >= 0).all()


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_one_row_changes_the_scores_of_marginals_by_at_most_their_sensitivity(neighbours: Any) -> None:
    codes = np.array([[0, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0]])

    def fresh() -> AdaptiveMarginals:
        marginals = ((0, 1), (1, 2), (2,))
        return AdaptiveMarginals(epsilon=1.0, sizes=(2, 2, 2), marginals=marginals, rounds=2, neighbours=neighbours)

    def run(table: np.ndarray) -> np.ndarray:
        return scores_of(fresh(), [2, 0], table)

    moved = 1 if neighbours == "add_remove" else 2
    base = run(codes)
    if moved == 1:
        others = [codes[1:], np.concatenate([codes, [[1, 1, 1]]])]
    else:
        others = [np.concatenate([codes[1:], [each]]) for each in ([1, 0, 0], [0, 1, 1], [1, 1, 1])]
    assert fresh().selecting.sensitivity == moved * UNIT == max(np.abs(run(each) - base).max() for each in others)
    assert fresh().measuring.sensitivity == moved
    assert fresh().selecting.scale == pytest.approx(2 * moved * UNIT / fresh().selecting.epsilon)


@pytest.mark.parametrize("answer", [3, 2**62, -(2**62)])
@pytest.mark.parametrize("epsilon", [1.0, 1e-9, 1e-18, 1e-300])
def test_noise_that_hides_everything_changes_no_sensitivity(epsilon: float, answer: int) -> None:
    """Scores stay within 64 bits, and one row moves them by no more, whatever was released before."""
    codes = np.array([[0, 1], [1, 1], [1, 0]])
    tables = [
        scores_of(marginals_of(epsilon=epsilon, sizes=(2, 2), rounds=3), [0, 1, 1], rows, answer=answer)
        for rows in (codes, codes[1:])
    ]
    assert np.abs(tables[0] - tables[1]).max() <= UNIT
    assert np.abs(tables[0]).max() <= 2**62
    found = [
        scores_of(MWEM(epsilon=epsilon, rounds=3), [0, 2, 0], np.array(each), QUERIES, answer=answer)
        for each in ([4, 0, 2, 1], [4, 1, 2, 1])
    ]
    assert np.abs(found[0] - found[1]).max() <= UNIT
    assert marginals_of(epsilon=epsilon).fit(codes).sum() >= 0.0
    assert MWEM(epsilon=epsilon, rounds=2).fit(np.array([3, 4, 0, 1]), QUERIES).sum() >= 0.0


def test_each_recipe_costs_its_epsilon() -> None:
    recipes = [
        MWEM(epsilon=1.0, rounds=4),
        MWEM(epsilon=1.0, rounds=4, neighbours=dps.Neighbours.REPLACE_ONE),
        AdaptiveMarginals(epsilon=1.0, sizes=(2, 2), marginals=((0,), (1,)), rounds=3),
        ParentChoice(epsilon=1.0, sizes=(2, 3, 4), rows=100),
    ]
    for recipe in recipes:
        assert dps.accounting.compose([recipe.event]).epsilon(0.0) == pytest.approx(1.0)


def test_parents_that_determine_a_child_are_found() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.integers(0, 2, (2, 4000))
    codes = np.stack([first, second, first ^ second, rng.integers(0, 2, 4000)], axis=1)
    for score in ("R", "F", "mutual_information"):
        chosen = dict(ParentChoice(epsilon=100.0, sizes=(2, 2, 2, 2), rows=4000, score=score).choose(codes))
        assert any({child, *above} == {0, 1, 2} for child, above in chosen.items())


def test_a_synthetic_table_has_the_marginals_of_the_rows() -> None:
    rng = np.random.default_rng(4)
    first = rng.integers(0, 3, 6000)
    codes = np.stack([first, (first + (rng.random(6000) < 0.2)) % 3, rng.integers(0, 2, 6000)], axis=1)
    loop = AdaptiveMarginals(epsilon=5.0, sizes=(3, 3, 2), marginals=((0, 1), (1, 2), (0, 2)), rounds=4)
    found, truth = loop.fit(codes), np.zeros((3, 3, 2))
    np.add.at(truth, tuple(codes.T), 1)
    assert np.abs(found.sum(axis=2) - truth.sum(axis=2)).sum() < 600


def test_a_histogram_meets_the_answers_that_it_measured() -> None:
    counts = np.array([500, 20, 0, 3000, 0, 0, 80, 400])
    queries = np.tril(np.ones((7, 8), bool))
    with seeded(5):
        made = MWEM(epsilon=10_000.0, rounds=14).fit(counts, queries)
    assert np.abs(queries @ made - queries @ counts).max() < 20


def marginals_of(**changed: Any) -> AdaptiveMarginals:
    settings: dict[str, Any] = {"epsilon": 1.0, "sizes": (2, 3), "marginals": ((0,), (0, 1)), "rounds": 1}
    return AdaptiveMarginals(**settings | changed)


def test_lists_and_arrays_are_taken_as_tuples_are() -> None:
    lists = marginals_of(sizes=np.array([2, 3]), marginals=[[0], [0, 1]])
    assert (lists.sizes, lists.marginals) == ((2, 3), ((0,), (0, 1)))


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: MWEM(epsilon=1.0, rounds=0), "rounds"),
        (lambda: MWEM(epsilon=1.0, rounds=1, total_share=0.0), "total_share"),
        (lambda: AdaptiveMarginals(epsilon=1.0, sizes=(2,), marginals=((1,),), rounds=1), "marginals"),
        (lambda: marginals_of(marginals=()), "marginals=<0 of them>: expected tuples of increasing positions"),
        (lambda: marginals_of(marginals=(0, 1)), "marginals=0: expected tuples of increasing positions"),
        (lambda: marginals_of(marginals=(("a",),)), "marginals=<str>: expected tuples of increasing positions"),
        (lambda: marginals_of(marginals="01"), "marginals=<str>: expected tuples of increasing positions"),
        (lambda: marginals_of(marginals=((1, 0),)), r"marginals=\(1, 0\): expected tuples of increasing positions"),
        (lambda: marginals_of(marginals=((),)), r"marginals=\(\): expected tuples of increasing positions"),
        (lambda: marginals_of(sizes=()), "sizes=<0 of them>: expected the number of values of each attribute"),
        (lambda: marginals_of(sizes=5), "sizes=5: expected the number of values of each attribute"),
        (lambda: marginals_of(sizes={2, 3}), "sizes=<set>: expected the number of values of each attribute"),
        (lambda: marginals_of(sizes=(2**21, 4)), "sizes=<a large product>"),
        (lambda: ParentChoice(epsilon=1.0, sizes=2, rows=9), "sizes"),  # pyright: ignore
        (lambda: ParentChoice(epsilon=1.0, sizes=(2,), rows=9), "sizes"),
        (lambda: ParentChoice(epsilon=1.0, sizes=(2, 3), rows=9, score="F"), "score"),
        (lambda: ParentChoice(epsilon=1.0, sizes=(2, 3), rows=9, score="MI"), "score"),  # pyright: ignore
        (lambda: ParentChoice(epsilon=1.0, sizes=(2, 3), rows=0), "rows"),
        (lambda: ParentChoice(epsilon=1.0, sizes=(2, 3, 2), rows=9, degree=9), "degree"),
        (lambda: ParentChoice(epsilon=1.0, sizes=(2, 3, 2), rows=9, degree=3), "degree"),
        (lambda: ParentChoice(epsilon=1.0, sizes=(2, 3, 2), rows=9, degree=0), "degree"),
    ],
)
def test_bad_arguments_are_named(make: Callable[[], Any], named: str) -> None:
    with pytest.raises(dps.errors.InvalidParameterError, match=f"^{named}{'' if '=' in named else '='}"):
        make()


def test_an_attribute_has_two_parents_at_most_by_default() -> None:
    assert [ParentChoice(epsilon=1.0, sizes=(2,) * count, rows=9).degree for count in (2, 3, 5)] == [1, 2, 2]
    assert ParentChoice(epsilon=1.0, sizes=(2,) * 5, rows=9, degree=4).degree == 4


def test_bad_shapes_and_types_are_refused() -> None:
    with pytest.raises(dps.errors.InvalidDataError, match=r"^queries="):
        MWEM(epsilon=1.0, rounds=1).fit(np.array([1, 2]), QUERIES)
    with pytest.raises(dps.errors.InvalidDataError, match=r"^counts="):
        MWEM(epsilon=1.0, rounds=1).fit(np.array([1.0, 2.0, 3.0, 4.0]), QUERIES)
    with pytest.raises(
        dps.errors.InvalidDataError, match=r"^counts=<a negative one among them>: expected whole numbers >= 0"
    ):
        MWEM(epsilon=1.0, rounds=1).fit(np.array([1, 2, 3, -4]), QUERIES)
    for counts, queries, named in (
        (np.ma.masked_array([1, 9, 3, 4], mask=[0, 1, 0, 0]), QUERIES, "counts"),
        (np.array([1, 9, 3, 4]), np.ma.masked_array(QUERIES), "queries"),
    ):
        with pytest.raises(
            dps.errors.InvalidDataError, match=f"^{named}=<masked array>: expected an array without a mask"
        ):
            MWEM(epsilon=1.0, rounds=1).fit(counts, queries)
    with pytest.raises(dps.errors.InvalidDataError, match=r"^codes=<masked array>"):
        marginals_of().fit(np.ma.masked_array([[0, 0], [1, 2]], mask=[[0, 1], [0, 0]]))
    with pytest.raises(dps.errors.InvalidDataError, match=r"^codes="):
        ParentChoice(epsilon=1.0, sizes=(2, 3), rows=9).choose(np.zeros((8, 2), int))
