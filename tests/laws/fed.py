"""What a question hands to its mechanisms, and the exact law of what they draw from it, by the reference models.

The product runs until it would draw: the mechanism is written down with what it was given. Laws are probabilities, or
densities at points that stand for everything between them; only ratios between laws of one question are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, pairwise, permutations, product
from math import isqrt, lcm, prod
from typing import Any, NamedTuple

import numpy as np
import pytest

from dpselect import Neighbours
from dpselect.mechanisms import (
    DiscreteGaussianMechanism,
    ExponentialNoiseTopK,
    GaussianThresholdCounts,
    GeometricMechanism,
    Mechanism,
    PartitionSelection,
    QuantileMechanism,
    QuantilesMechanism,
    StopCandidate,
    ThresholdCounts,
    UnboundedQuantileMechanism,
)
from dpselect.questions.query import Query
from dpselect.questions.records import Drawn
from dpselect.questions.values import TopUnknown, Values
from dpselect.summaries import NameCounts
from tests.reference import (
    discrete_gaussian,
    exponential,
    geometric,
    halving,
    joint_quantiles,
    partition_selection,
    permute_and_flip,
    quantile,
    stop_candidate,
    threshold_counts,
    top_k,
)
from tests.reference.precision import exponential as exp
from tests.reference.precision import flip_probabilities, logarithm
from tests.reference.unit_values import on_grid


def parts_for(levels: Sequence[Any]) -> int:
    """Of a grid point's cell, where values are spread: 2^32 in the product. The proofs hold for any number of them."""
    return 2 if len(levels) < 3 else 1


NAMES = ("X", "w", "x", "y")
"""All values in tiny tables that could be named without a list."""


SELECTING: tuple[Any, ...] = (Mechanism, ExponentialNoiseTopK)
"""Kinds that select by scores."""


class Fed(NamedTuple):
    """A mechanism, what it draws from, and how many times."""

    mechanism: Any
    given: tuple[Any, ...]
    rounds: int = 1


class Branches(NamedTuple):
    """Selections, and what is drawn after each of their outcomes: noise of the counts of what was selected."""

    selections: tuple[Fed, ...]
    then: tuple[tuple[Fed, ...], ...]


@contextmanager
def written_down(winners: Sequence[tuple[int, ...]] = ()) -> Iterator[list[Fed]]:
    """Mechanisms note what they are given, and draw nothing; selections reply with `winners`, if there are any."""
    fed: list[Fed] = []
    replies = iter(winners)

    def noting(reply: Callable[[Any, Any, int], Any], *, is_sorted: bool) -> Callable[..., Any]:
        def draw(mechanism: Any, given: Any, rounds: int = 1) -> Any:
            numbers = np.atleast_1d(given).tolist()
            fed.append(Fed(mechanism, tuple(sorted(numbers) if is_sorted else numbers), rounds))
            return reply(mechanism, given, rounds)

        return draw

    def low(mechanism: Any, given: Any, rounds: int) -> float:
        return float(mechanism.bounds[0])

    with pytest.MonkeyPatch.context() as patch:

        def order(_: Any, given: Any, rounds: int) -> np.ndarray:
            return np.array(next(replies, tuple(range(rounds))))

        patch.setattr(Mechanism, "select", noting(lambda *asked: int(order(*asked)[0]), is_sorted=False))
        patch.setattr(Mechanism, "peel", noting(order, is_sorted=False))
        at_once = noting(lambda *asked: order(*asked).tolist(), is_sorted=False)
        patch.setattr(ExponentialNoiseTopK, "select", lambda mechanism, given: at_once(mechanism, given, mechanism.k))

        patch.setattr(QuantileMechanism, "draw", noting(low, is_sorted=True))
        first = noting(lambda mechanism, *_: float(mechanism.candidates[0]), is_sorted=True)
        patch.setattr(UnboundedQuantileMechanism, "draw", first)
        several = noting(lambda mechanism, *_: mechanism.levels, is_sorted=True)
        patch.setattr(QuantilesMechanism, "draw", several)
        several_ways = ((GeometricMechanism, "draw_many"), (GeometricMechanism, "draw"))
        for kind, name in (*several_ways, (DiscreteGaussianMechanism, "draw_many")):
            same = noting(lambda _, given, rounds: given if np.ndim(given) == 0 else np.asarray(given), is_sorted=False)
            patch.setattr(kind, name, same)
        nothing = Drawn([], counted=[])
        for question in (Values, TopUnknown):
            patch.setattr(
                question, "released", lambda task, summary: fed.append(Fed(task.mechanism, _counts(summary))) or nothing
            )
        yield fed


def _counts(summary: NameCounts) -> tuple[int, ...]:
    """Of each of the `NAMES`."""
    found = dict(zip(summary.names.to_pylist(), summary.counts.tolist(), strict=True))
    assert found.keys() <= set(NAMES)
    return tuple(found.get(name, 0) for name in NAMES)


def laws_of(task: Query, summary: list[list[Any]]) -> tuple[Fed | Branches, ...]:
    """What `task` hands to its mechanisms if this is the summary: in groups one after the other."""
    with written_down() as fed:
        task.released(summary)
    if task.counting is None:
        return tuple(fed)
    selections = tuple(each for each in fed if isinstance(each.mechanism, SELECTING))
    then: list[tuple[Fed, ...]] = []
    for winners in product(*(permutations(range(len(each.given)), each.rounds) for each in selections)):
        with written_down(winners) as fed:
            task.released(summary)
        then.append(tuple(each for each in fed if not isinstance(each.mechanism, SELECTING)))
    return (Branches(selections, tuple(then)),)


@cache
def log_law(fed: tuple[tuple[Fraction, tuple[Fed | Branches, ...]], ...], cuts: tuple[Fraction, ...]) -> np.ndarray:
    """Logarithms of the law of all draws together, if chance decides before it what is handed to the mechanisms.

    Args:
        fed: what that may be, and how likely it is.
        cuts: on the line, where laws may change: all values and both bounds.
    """
    total = sum(float(chance) * _joint(each, cuts) for chance, each in fed)
    with np.errstate(divide="ignore"):  # some answers may be impossible
        return np.log(total)


def _joint(fed: Sequence[Fed | Branches], cuts: tuple[Fraction, ...]) -> np.ndarray:
    law = np.ones(1)
    for each in fed:
        law = np.outer(law, _law(each, cuts)).ravel()
    return law


@cache
def _law(fed: Fed | Branches, cuts: tuple[Fraction, ...]) -> np.ndarray:
    if isinstance(fed, Branches):
        chances = _joint(fed.selections, cuts)
        return np.concatenate([chance * _joint(then, cuts) for chance, then in zip(chances, fed.then, strict=True)])
    mechanism, given = fed.mechanism, fed.given
    match mechanism:
        case Mechanism():
            law = _selection(mechanism, given, fed.rounds)
        case ExponentialNoiseTopK():
            coins = flip_probabilities(given, scale=Fraction(mechanism.scale))
            law = [chance for _, chance in sorted(top_k.exponential_noise_once(coins, k=fed.rounds).items())]
        case QuantileMechanism():
            law = _quantile(mechanism, given, cuts)
        case QuantilesMechanism() if mechanism.method == "joint":
            law = _jointly(mechanism, given, cuts)
        case QuantilesMechanism():
            law = _halving(mechanism, given, cuts)
        case GeometricMechanism():
            law = _noise(mechanism, given)
        case DiscreteGaussianMechanism():
            law = _gaussian(mechanism, given)
        case PartitionSelection():
            law = _names(mechanism, given)
        case UnboundedQuantileMechanism():
            law = _unbounded(mechanism, given)
        case GaussianThresholdCounts():
            law = _reaching_with_gaussian_noise(mechanism, given)
        case ThresholdCounts():
            law = _reaching(mechanism, given)
        case StopCandidate():
            law = _stopping(mechanism, given)
        case _:
            raise AssertionError(mechanism)
    return np.array([float(each) for each in law])


def _selection(mechanism: Mechanism, scores: tuple[Any, ...], rounds: int) -> list[Fraction]:
    """Of each order of winners."""
    one = {"permute_and_flip": permute_and_flip.law_by_positions, "exponential": exponential.law}[mechanism.terms[0]]
    coins = flip_probabilities(scores, scale=Fraction(mechanism.scale))
    return [chance for _, chance in sorted(top_k.peeled(one, coins, k=rounds).items())]


def _names(mechanism: PartitionSelection, counts: tuple[int, ...]) -> list[Fraction]:
    """Of each set of names, by the recursion."""
    rate, share = _shares(mechanism)
    chances = partition_selection.probabilities(exp(rate), share, max(counts))
    return [*partition_selection.law([chances[count] for count in counts]).values()]


def _reaching(mechanism: ThresholdCounts, counts: tuple[int, ...]) -> list[Fraction]:
    """Of the noisy counts that reach the threshold, and everything well beyond it together."""
    rate, share = _shares(mechanism)
    ratio = exp(-rate)
    return [*threshold_counts.law(counts, ratio, threshold_counts.threshold(ratio, share), cells=4).values()]


def _reaching_with_gaussian_noise(mechanism: GaussianThresholdCounts, counts: tuple[int, ...]) -> list[Fraction]:
    """The same with Gaussian noise, which is cut off far outside."""
    variance, least = Fraction(mechanism.noise.variance), mechanism.threshold
    each = [_gaussian_cells(count, variance, least) for count in counts]
    return [prod(outcome) for outcome in product(*each)]


@cache
def _gaussian_cells(count: int, variance: Fraction, least: int) -> list[Fraction]:
    """Of one value: not released, the first few noisy counts, and all others together."""
    law = threshold_counts.gaussian_of_one(count, variance, least, reach=10 * (isqrt(int(variance)) + 1))
    cells = [law.get(noisy, Fraction(0)) for noisy in (None, *range(least, least + 3))]
    return [*cells, 1 - sum(cells, Fraction(0))]


def _stopping(mechanism: StopCandidate, counts: tuple[int, ...]) -> list[Fraction]:
    """Of each order of names."""
    growth = exp(1 / Fraction(mechanism.rounds.scale))
    base = mechanism.max_values_per_unit / Fraction(mechanism.stop_delta)
    found = stop_candidate.law(counts, growth, base, k=mechanism.k)
    orders = (order for size in range(mechanism.k + 1) for order in permutations(range(len(counts)), size))
    return [found.get(order, Fraction(0)) for order in orders]


def _shares(mechanism: PartitionSelection | ThresholdCounts) -> tuple[Fraction, Fraction]:
    """What one count may cost."""
    moved = mechanism.max_values_per_unit * (2 if mechanism.neighbours is Neighbours.REPLACE_ONE else 1)
    return Fraction(mechanism.epsilon) / moved, 1 - exp(logarithm(1 - Fraction(mechanism.delta)) / moved)


def _inner(cuts: Sequence[Fraction]) -> list[Fraction]:
    return [(low + high) / 2 for low, high in pairwise(cuts)]


def _points(mechanism: Any) -> list[Fraction]:
    lower, upper, step = (Fraction(each) for each in (*mechanism.bounds, mechanism.step))
    return [lower + step * place for place in range(int((upper - lower) / step) + 1)]


def _places(values: Sequence[Any], points: list[Fraction]) -> list[int]:
    exact = tuple(min(max(value, points[0]), points[-1]) for value in values)
    return [points.index(Fraction(point)) for point in on_grid(tuple(map(Fraction, exact)), points)]


def _quantile(mechanism: QuantileMechanism, values: tuple[float, ...], cuts: Sequence[Fraction]) -> Sequence[Fraction]:
    """Of each point; or the density in each cell."""
    level = Fraction(mechanism.level)
    decay = exp(-1 / (Fraction(mechanism.scale) * level.denominator))
    exact = [Fraction(value) for value in values]
    if mechanism.step is not None:
        return quantile.grid_law(exact, level=level, points=_points(mechanism), decay=decay)
    steps = [-quantile.score(exact, at, level=level) * level.denominator for at in _inner(cuts)]
    weights = [decay ** int(step) for step in steps]
    total = sum((each * (high - low) for each, (low, high) in zip(weights, pairwise(cuts), strict=True)), Fraction())
    return [each / total for each in weights]


def joint_scale(mechanism: QuantilesMechanism) -> Fraction:
    """b, in values: what the product says that the noise is made for."""
    return Fraction(mechanism.score_range / mechanism.epsilon)


def _jointly(mechanism: QuantilesMechanism, values: tuple[float, ...], cuts: Sequence[Fraction]) -> list[Fraction]:
    levels = [Fraction(level) for level in sorted(mechanism.levels)]
    unit = 2 * lcm(*(level.denominator for level in levels))
    decay: Any = float(exp(-1 / (joint_scale(mechanism) * unit)))  # doubles, as there are very many products
    if mechanism.step is None:
        exact = [Fraction(value) for value in values]
        return list(joint_quantiles.answer_law(exact, levels=levels, pieces=cuts, decay=decay).values())
    points = _points(mechanism)
    law = joint_quantiles.spread_law(
        _places(values, points), len(points), parts=parts_for(levels), levels=levels, decay=decay
    )
    return [chance for _, chance in sorted(law.items())]


def node_scale(mechanism: QuantilesMechanism) -> halving.Scale:
    """Of a node at a level: that of a quantile at this level, for the share of epsilon that a node has."""
    epsilon = mechanism._node_epsilon  # what the core is given

    @cache
    def scale(level: Fraction) -> Fraction:
        return Fraction(QuantileMechanism(epsilon=epsilon, level=float(level), bounds=(0, 1)).scale)

    return scale


def _halving(mechanism: QuantilesMechanism, values: tuple[float, ...], cuts: Sequence[Fraction]) -> list[Fraction]:
    """Of the points; or the density where answers that lie in one cell are evenly far from each other."""
    levels, scale = [Fraction(level) for level in sorted(mechanism.levels)], node_scale(mechanism)
    if mechanism.step is not None:
        points = _points(mechanism)
        law = halving.grid_law(
            _places(values, points), len(points), parts=parts_for(levels), levels=levels, scale=scale
        )
        return [chance for _, chance in sorted(law.items())]
    exact, bounds = [Fraction(value) for value in values], (cuts[0], cuts[-1])
    found: list[Fraction] = []
    for chosen in combinations_with_replacement(range(len(cuts) - 1), len(levels)):
        answers = [
            cuts[cell]
            + (cuts[cell + 1] - cuts[cell]) * Fraction(chosen[: place + 1].count(cell), chosen.count(cell) + 1)
            for place, cell in enumerate(chosen)
        ]
        found.append(halving.density(exact, answers, levels=levels, bounds=bounds, scale=scale))
    return found


def _noise(mechanism: GeometricMechanism, counts: tuple[int, ...]) -> list[Fraction]:
    """Of numbers beyond all counts to either side, and of those between."""
    ratio = exp(-1 / Fraction(mechanism.scale))
    of_each = [[geometric.law(ratio, answer - count) for answer in (-1, 0, 1, 2, 3, 4, 5, 9)] for count in counts]
    return [prod(chances) for chances in product(*of_each)]


def _unbounded(mechanism: UnboundedQuantileMechanism, values: tuple[float, ...]) -> np.ndarray:
    """Of candidates up to beyond all values, some of those after them, and the last: the scores are equal from there.

    By the product's own law, which `tests/mechanisms/test_unbounded_quantile.py` compares with the model's.
    """
    assert all(value < mechanism.candidates[10] or value == mechanism.candidates[-1] for value in values)
    return mechanism.pmf(np.array(values))[[*range(12), 20, 100, 1000, -1]]


def _gaussian(mechanism: DiscreteGaussianMechanism, counts: tuple[int, ...]) -> list[Fraction]:
    """Of all numbers around small counts, as far as they have any weight."""
    noise = discrete_gaussian.law(Fraction(mechanism.variance), reach=40)
    of_each = [[noise[answer - count] for answer in range(-18, 28)] for count in counts]
    return [prod(chances) for chances in product(*of_each)]
