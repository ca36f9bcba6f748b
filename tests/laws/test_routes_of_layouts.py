"""Draws follow the law at every limit of the index's layout: lanes, rows, stripes, turns of threads; few and many.

With all types of numbers, in any form in memory, from subnormal to the largest, with zeros of both signs, and epsilon
from the smallest double to 1e300; in rounds, on four threads, and by the weighted mechanism, too.
Laws are computed in another way, from exact fractions: see `tests/laws/cell_laws.py`. Each test decides on its
instances one by one and once on all together: by day 150 decisions, each of which refutes a right law less than once in
10^9 runs. Draws from wrong laws, as many as there are of the right one, have to be refuted.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import dpselect as dps
from tests.laws.cell_laws import LAWS, exponential, laplace, permute_and_flip, with_weights
from tests.laws.goodness_of_fit import NEVER, Together, p_value
from tests.laws.layouts import FEW, Instance, an_instance
from tests.laws.subjects import KINDS
from tests.reference.noisy_max import laplace_noise_law
from tests.reference.permute_and_flip import law_by_dynamic_program
from tests.reference.weighted_candidates import law as weighted_law
from tests.slow import EXAMPLES, SLOW

INSTANCES = range(EXAMPLES)
WRONG: dict[str, dict[str, float]] = {
    "the last lane is left out": {},
    "the first stripe counts twice": {},
    "the last row is left out": {},
    "another epsilon": {"stretch": 1.15},
}
"""Laws that are noticed: of other sizes of cells, or other arguments of the law."""
OF_WEIGHTS = {"a weight half too large": {"heavier": 1.5}}
Draw = Callable[[Any, NDArray[Any]], NDArray[np.intp]]


def one_by_one(mechanism: Any, scores: NDArray[Any]) -> NDArray[np.intp]:
    return np.array([mechanism.select(scores) for _ in range(1000)])


def some_at_a_time(mechanism: Any, scores: NDArray[Any]) -> NDArray[np.intp]:
    return np.concatenate([mechanism.select_many(scores, 20) for _ in range(100)])


def all_at_once(mechanism: Any, scores: NDArray[Any]) -> NDArray[np.intp]:
    return np.asarray(mechanism.select_many(scores, 10_000))


def by_rows(mechanism: Any, scores: NDArray[Any]) -> NDArray[np.intp]:
    rows = 1000 if scores.size <= FEW else 300
    return np.asarray(mechanism.select_rows(np.broadcast_to(scores, (rows, scores.size))))


def on_four_threads(mechanism: Any, scores: NDArray[Any]) -> NDArray[np.intp]:
    with ThreadPoolExecutor(4) as threads:
        some = [threads.submit(lambda: [mechanism.select(scores) for _ in range(250)]) for _ in range(4)]
        return np.array([index for each in some for index in each.result()])


def two_rounds(mechanism: Any, scores: NDArray[Any]) -> NDArray[np.intp]:
    return np.array([mechanism.peel(scores, min(2, scores.size)) for _ in range(600)])


DRAWS: dict[str, Draw] = {
    each.__name__: each for each in (one_by_one, some_at_a_time, all_at_once, by_rows, on_four_threads, two_rounds)
}


def law_of_rounds(law: Any, sizes: NDArray[np.intp], draws: int) -> NDArray[np.float64]:
    """Of each cell as the first, and each as the second after it; by the first alone where that hardly ever comes."""
    firsts = law(sizes)
    table = np.zeros((sizes.size, sizes.size))
    for cell, chance in enumerate(firsts):
        left = sizes - (np.arange(sizes.size) == cell)
        table[cell] = (
            chance * law(left) if chance * draws >= 1.0 and left.any() else chance * (np.arange(sizes.size) == 0)
        )
    return table


def counted(drawn: NDArray[np.intp], firsts: NDArray[np.float64]) -> NDArray[np.intp]:
    """How often each pair of cells came, as `law_of_rounds` tells them apart."""
    first, second = drawn[:, 0], drawn[:, -1] if drawn.shape[1] > 1 else 0 * drawn[:, 0]
    second = np.where(firsts[first] * len(drawn) >= 1.0, second, 0)
    return np.bincount(first * firsts.size + second, minlength=firsts.size**2)


def assert_the_law(draw: Draw, instances: list[tuple[Instance, Any, Any]], wrong: dict[str, dict[str, float]]) -> None:
    """Draws of each instance by its mechanism have its law, and those from wrong laws would be refuted."""
    seen, told, rng = Together(), {name: Together() for name in wrong}, np.random.default_rng(1)
    for instance, mechanism, law in instances:
        drawn = instance.cell_of[draw(mechanism, instance.scores)]
        single = law(instance.sizes)
        if draw is two_rounds:
            right, counts = law_of_rounds(law, instance.sizes, len(drawn)).ravel(), counted(drawn, single)
        else:
            right, counts = single, np.bincount(drawn, minlength=single.size)
        assert p_value(counts, right) >= NEVER, instance.context
        seen.add(counts, right)
        for name, arguments in wrong.items():
            other = np.minimum(1.0, law(instance.wrong_sizes(name), **arguments))
            told[name].add(rng.multinomial(len(drawn), other), single)
    assert seen.p_value >= NEVER, f"all instances together: {seen.statistic:.1f} of {seen.freedom}"
    assert seen.freedom > len(instances), "few instances have anything to tell"
    assert {name: each.p_value for name, each in told.items() if each.p_value >= NEVER} == {}, "wrong laws pass"


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_every_limit_has_the_law(draw: Draw) -> None:
    names = list(KINDS)
    made: list[tuple[Instance, Any, Any]] = []
    for seed in INSTANCES:
        instance, name = an_instance(seed, rounds=draw is two_rounds), names[seed % len(names)]
        made.append((instance, KINDS[name](**instance.terms), instance.law_of(LAWS[name])))
    assert_the_law(draw, made, WRONG)


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_every_limit_has_the_law_with_weights(draw: Draw) -> None:
    made: list[tuple[Instance, Any, Any]] = []
    for seed in INSTANCES:
        instance = an_instance(seed, weighted=True, rounds=draw is two_rounds)
        mechanism = dps.ExponentialMechanism(**instance.terms, weights=instance.weights)
        made.append((instance, mechanism, instance.law_of(LAWS["exponential mechanism"])))
    assert_the_law(draw, made, WRONG | OF_WEIGHTS)


def test_laws_of_cells_are_those_of_the_models() -> None:
    """Each item in a cell of its own, or with others that are alike; and an empty cell changes nothing."""
    growth = Fraction(3, 2)
    falls, sizes = [3, 1, 0, 5, 2], np.array([2, 1, 1, 0, 2])
    each = [fall for fall, size in zip(falls, sizes.tolist(), strict=True) for _ in range(size)]
    heads = [1 / growth**fall for fall in each]
    weights = [Fraction(2), Fraction(1, 3), Fraction(5), Fraction(7), Fraction(0)]
    exponents = np.array(falls) * np.log(1.5)
    of_each = [weight for weight, size in zip(weights, sizes.tolist(), strict=True) for _ in range(size)]
    models = {
        "exponential": (exponential(sizes, exponents), [head / sum(heads) for head in heads]),
        "permute-and-flip": (permute_and_flip(sizes, exponents), law_by_dynamic_program(heads)),
        "Laplace": (laplace(sizes, exponents), [chance.value() for chance in laplace_noise_law(heads)]),
        "weights": (
            with_weights([Fraction(each) for each in exponents.tolist()], weights)(sizes),
            weighted_law([-fall for fall in each], of_each, growth),
        ),
    }
    for name, (found, model) in models.items():
        cells = np.repeat(np.arange(sizes.size), sizes)
        expected = np.bincount(cells, weights=[float(chance) for chance in model], minlength=sizes.size)
        np.testing.assert_allclose(found, expected, rtol=1e-9, err_msg=name)


def test_instances_reach_every_limit() -> None:
    """Few and many, one stripe and several, last rows full and not, more than threads share, all types and forms."""
    made = [an_instance(seed) for seed in range(200 if SLOW else 40)]
    sizes = [each.scores.size for each in made]
    assert min(sizes) < 256
    assert max(size * each.scores.itemsize for size, each in zip(sizes, made, strict=True)) >= 2**21
    assert {size - 2**15 for size in sizes} >= {0, 1}
    assert len({each.scores.dtype for each in made}) == 10
    assert any(not each.scores.flags.aligned for each in made)
    assert any(each.scores.strides[0] < 0 for each in made)
    assert {each.terms["epsilon"] for each in made} >= {5e-324, 1e300}
    assert any(np.signbit(each.scores[each.scores == 0]).any() for each in made if each.scores.dtype.kind == "f")
    assert any(
        abs(each.scores).max() < np.finfo(each.scores.dtype).tiny for each in made if each.scores.dtype.kind == "f"
    )
    assert any(abs(each.scores).max() == np.finfo("f8").max for each in made if each.scores.dtype == "f8")
    weighted = [an_instance(seed, weighted=True) for seed in range(30)]
    assert any(0 in each.weight_of for each in weighted)
    assert any(max(each.weight_of) > 10**400 * min(filter(None, each.weight_of)) for each in weighted)
    assert any(isinstance(each.weights, list) for each in weighted)
    assert any(each.exponents[each.cell_of[0]] > 2**31 for each in weighted)
