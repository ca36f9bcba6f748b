"""How samples of the density mechanism are drawn: gates, groups, bounds, and the exact law of a round."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from dpselect.mechanisms import distance_shells
from dpselect.mechanisms.distance_shells import (
    Band,
    Cells,
    CumulativeCounts,
    Groups,
    Histograms,
    Positions,
    Shells,
    log2,
)
from dpselect.mechanisms.numbers import accepts
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference.density import distance, samples

LENGTHS = np.array([0.5, 3.0, 2.0**-20, 1e-9, 40.0])
POSITIONS = np.array([-1.0, 0.0, 0.25, 4.0, 4.5, 1e6])
Base = Histograms | Cells | Positions


def binned(counts: list[int], k: int) -> CumulativeCounts:
    reached = np.cumsum([0, *counts])
    return CumulativeCounts(reached, reached, k)


def on_a_line(at: list[int], k: int) -> CumulativeCounts:
    """Data on some of the boundaries of five cells."""
    counts = np.bincount(at, minlength=6)
    through = np.cumsum(counts)
    return CumulativeCounts(through - counts, through, k)


DATA = [
    *(binned(counts, k) for counts in ([3, 0, 1, 0, 2], [0, 0, 9, 0, 0], [1, 1, 1, 1, 1]) for k in (1, 2, 5)),
    *(on_a_line(at, 4) for at in ([0, 0, 1, 5], [2, 2, 2], [5], [0, 1, 2, 3, 4, 5])),
]


def bases(k: int) -> list[Base]:
    return [Histograms(5, k), Cells(LENGTHS, k), Positions(POSITIONS, k)]


def cells_of(sample: tuple[int, ...]) -> np.ndarray:
    return np.repeat(np.arange(len(sample)), sample)


@pytest.mark.parametrize("data", DATA)
def test_distances_are_the_models_and_gates_let_through_what_is_near_enough(data: CumulativeCounts) -> None:
    every = list(samples(data.k, 5))
    away = {sample: distance(data.before.tolist(), data.through.tolist(), sample) for sample in every}
    assert all(data.distance(cells_of(sample)) == away[sample] for sample in every)
    assert data.least_distance() == min(away.values())
    for radius in sorted({data.least_distance(), *away.values(), data.n * data.k}):
        at, low, high = data.gates(radius)
        reached = {sample: np.concatenate([[0], np.cumsum(sample)])[at] for sample in every}
        assert {sample for sample in every if (low <= reached[sample]).all() and (reached[sample] <= high).all()} == {
            sample for sample in every if away[sample] <= radius
        }


def test_with_left_limits_forgotten_other_samples_are_near() -> None:
    data = on_a_line([2, 2, 2], 4)
    wrong = CumulativeCounts(data.through, data.through, 4)
    assert any(data.distance(cells_of(sample)) != wrong.distance(cells_of(sample)) for sample in samples(4, 5))


@pytest.mark.parametrize("base", bases(6))
def test_a_groups_weight_is_the_sum_over_all_ways_and_its_logarithm_is_near(base: Base) -> None:
    for (start, end), count in product([(0, 1), (1, 4), (0, 5), (2, 3)], range(7)):
        ways = [
            math.prod(
                [Fraction(*base.weight(start + place, start + place + 1, points)) for place, points in enumerate(way)]
            )
            for way in samples(count, end - start)
        ]
        exact = Fraction(*base.weight(start, end, count))
        assert exact == sum(ways)
        assert abs(base.logs(start, end, 6)[count] - log2(exact)) < 1e-12 * max(1.0, base.largest_log)
        assert abs(log2(exact)) <= base.largest_log


@pytest.mark.parametrize("base", bases(3))
def test_points_of_a_group_are_placed_by_their_weights(base: Base) -> None:
    start, end = 0, 3
    draws = [base.place(start, end, 2) for _ in range(4000)]
    counts = Counter(tuple(cells.tolist()) for cells, _ in draws)
    every = list(combinations_with_replacement(range(start, end), 2))
    assert set(counts) <= set(every)

    def weight(cells: tuple[int, ...]) -> float:
        return math.prod(float(Fraction(*base.weight(each, each + 1, cells.count(each)))) for each in set(cells))

    seen = np.array([counts[each] for each in every])
    law = np.array([weight(each) for each in every])
    assert p_value(seen, law / law.sum()) > NEVER
    assert p_value(seen, np.full(len(every), 1 / len(every)) if law.std() else np.arange(1, 7) / 21) < NEVER
    if isinstance(base, Positions):
        for cells, points in draws[:200]:
            assert (np.diff(points) >= 0).all()
            assert (points >= POSITIONS[cells]).all()
            assert (points <= POSITIONS[cells + 1]).all()


def test_points_that_round_to_a_position_are_on_either_side_of_it() -> None:
    """Just above 1 doubles are twice as far apart as below: so is the room for what rounds to it."""
    around = np.array([math.nextafter(1.0, 0.0), 1.0, math.nextafter(1.0, 2.0)])
    line = Positions(around, 1)
    drawn = [line.place(0, 2, 1) for _ in range(6000)]
    at_one = np.bincount([cells[0] for cells, points in drawn if points[0] == 1.0], minlength=2)
    assert p_value(at_one, np.array([1.0, 2.0]) / 3) > NEVER
    assert p_value(at_one, np.array([0.5, 0.5])) < NEVER
    every = np.bincount([cells[0] for cells, _ in drawn], minlength=2)
    assert p_value(every, np.array([1.0, 2.0]) / 3) > NEVER


def paths(band: Band, at: list[int], gate: int = 0, count: int = 0) -> Iterator[tuple[Groups, Fraction]]:
    """All proposals of a band, each with its chance."""
    if gate == len(at) - 1:
        yield [], Fraction(1)
        return
    weights, total = band.steps(gate, count)
    assert int(weights.sum()) == total
    for step, weight in enumerate(weights.tolist()):
        more = max(0, int(band._low[gate + 1]) - count) + step
        here = [(at[gate], at[gate + 1], more)] if more else []
        for rest, chance in paths(band, at, gate + 1, count + more):
            yield [*here, *rest], Fraction(weight, total) * chance


def exceeded(data: CumulativeCounts, base: Base, radius: int, *, lowered: float = 0.0) -> tuple[float, float]:
    """By how many octaves weights over chances exceed the bound of a band at most; the same for the sum of weights."""
    band = Band(data, base, radius)
    at = data.gates(radius)[0].tolist()
    if lowered:
        band._bounds[1] = band._bounds[1] - lowered
        band.bound -= lowered
    worst, total = -math.inf, Fraction(0)
    for groups, chance in paths(band, at):
        weight = math.prod([Fraction(*base.weight(*group)) for group in groups])
        worst = max(worst, log2(weight / chance) - band.bound)
        total += weight
    return worst, log2(total) - band.bound


@pytest.mark.parametrize("data", DATA)
def test_no_sample_weighs_more_than_its_band_promises_and_promises_are_hardly_too_large(data: CumulativeCounts) -> None:
    for base in bases(data.k):
        for radius in sorted({data.least_distance(), data.n * data.k // 2, data.n * data.k}):
            if radius >= data.least_distance():
                worst, whole = exceeded(data, base, radius)
                assert worst <= 0.0
                assert -1e-6 < whole <= 0.0


def test_bounds_that_are_too_low_would_be_noticed() -> None:
    worst, _ = exceeded(DATA[2], Histograms(5, 5), DATA[2].n * 3, lowered=2.0**-18)
    assert worst > 0.0


@pytest.mark.parametrize("is_wide", [False, True])
def test_sums_of_powers_are_right_however_far_apart_the_powers_are(is_wide: bool) -> None:
    random = np.random.default_rng(4)
    for size, ahead, length in [(1, 0, 1), (4, 0, 6), (3, 2, 5), (7, 9, 2), (5, 1, 40)]:
        logs = random.normal(size=ahead + length) * (900.0 if is_wide else 3.0)
        after = random.normal(size=length) * (900.0 if is_wide else 3.0)
        found = distance_shells._sums(logs, after, ahead, size)
        for index in range(size):
            terms = [logs[ahead + j - index] + after[j] for j in range(length) if ahead + j >= index]
            top = max(terms)
            expected = top + math.log2(sum(2.0 ** max(term - top, -1074.0) for term in terms))
            assert found[index] == pytest.approx(expected, abs=1e-9, rel=1e-12)


def law_of_a_round(shells: Shells, octaves: int) -> dict[tuple[int, ...], Fraction]:
    """What a round returns with which probability, but for its sample's exponential; each coin at most 1."""
    data, whole, masses = shells.data, int(shells.shares.sum()), Counter[tuple[int, ...]]()
    for shell, band in enumerate(shells.bands):
        at = data.gates(shells._radii[shell])[0].tolist()
        for groups, chance in paths(band, at):
            for placed in product(*(list(combinations_with_replacement(range(a, b), c)) for a, b, c in groups)):
                cells = np.array([cell for part in placed for cell in part])
                away = data.distance(cells)
                share = Fraction(*shells.accepted(shell, groups, chance.as_integer_ratio(), away))
                assert log2(share) - shells._octaves * (away - shells._least) <= 0.0
                ways = [Fraction(*shells._base.weight(*group)) for group in groups]
                singles = [
                    Fraction(*shells._base.weight(cell, cell + 1, int(count)))
                    for cell, count in Counter(cells.tolist()).items()
                ]
                part = math.prod(singles) / math.prod(ways)  # of this way to place the points of the groups
                masses[tuple(cells.tolist())] += Fraction(int(shells.shares[shell]), whole) * chance * part * share
    return {cells: mass * 2**octaves for cells, mass in masses.items()}


@pytest.mark.parametrize("epsilon", [0.3, 4.0, 40.0])
def test_a_round_returns_each_sample_in_proportion_to_its_weight_exactly(epsilon: float) -> None:
    for data in DATA[1::3]:
        for base in bases(data.k):
            law = law_of_a_round(Shells(data, base, epsilon=epsilon), 200)
            assert len(law) == math.comb(data.k + 4, 4)
            ratios = {
                mass
                / math.prod(Fraction(*base.weight(cell, cell + 1, count)) for cell, count in Counter(cells).items())
                for cells, mass in law.items()
            }
            assert len(ratios) == 1


def test_the_test_above_sees_heights_that_do_not_add_up() -> None:
    shells = Shells(DATA[4], Histograms(5, 2), epsilon=40.0)
    assert len(shells.bands) > 1
    shells._heights[0] *= 1 - Fraction(1, 2**60)
    assert len(set(law_of_a_round(shells, 200).values())) > 1


@pytest.mark.parametrize("epsilon", [5e-324, 1e-9, 1.0, 1e9, 1e300])
def test_all_scales_and_all_lengths_end(epsilon: float) -> None:
    far = np.array([-1.7e308, -5e-324, 0.0, 5e-324, 1.0, 1.7e308])
    for data in [binned([2**57, 0, 1, 0, 2], 8), on_a_line([0, 2, 3, 5], 8), binned([0, 0, 0, 0, 1], 8)]:
        for base in [Histograms(5, 8), Cells(np.array([5e-324, 1e-200, 1.0, 1e200, 1e307]), 8), Positions(far, 8)]:
            with np.errstate(all="raise"):
                cells, points = Shells(data, base, epsilon=epsilon).draw()
            assert cells.size == 8
            assert points.size == (8 if isinstance(base, Positions) else 0)


def test_with_much_epsilon_the_nearest_sample_is_drawn_and_with_little_any() -> None:
    data = binned([40, 0, 0, 0, 40], 2)
    nearest = Shells(data, Cells(np.ones(5), 2), epsilon=1e6)
    assert {tuple(nearest.draw()[0].tolist()) for _ in range(50)} == {(0, 4)}
    any_of_them = Shells(data, Cells(np.ones(5), 2), epsilon=1e-9)
    assert len({tuple(any_of_them.draw()[0].tolist()) for _ in range(300)}) > 10


@pytest.mark.parametrize(("share", "x"), [((1, 3), 0), ((2**3000 * 3, 10), 2079), ((9, 10), 1)])
def test_coins_have_the_share_times_the_exponential(share: tuple[int, int], x: int) -> None:
    heads = math.exp(math.log(share[0]) - math.log(share[1]) - x)
    assert 0.05 < heads < 1.0
    seen = sum(accepts(share, Fraction(x)) for _ in range(4000))
    assert p_value(np.array([seen, 4000 - seen]), np.array([heads, 1.0 - heads])) > NEVER
    assert p_value(np.array([seen, 4000 - seen]), np.array([0.6 * heads, 1.0 - 0.6 * heads])) < NEVER
