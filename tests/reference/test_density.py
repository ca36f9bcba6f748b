"""The density mechanism: its model against its definition, its privacy by enumeration, and the product against both."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product

import numpy as np
import pytest

import dpselect as dps
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference.density import Rounds, Sample, binned, distance, law, rounded_up, samples
from tests.slow import SLOW

DECAY = Fraction(2, 3)
LENGTHS = [Fraction(1), Fraction(1, 3), Fraction(5, 2), Fraction(1, 7)]


def all_counts(*, n: int, cells: int) -> Iterator[Sample]:
    return samples(n, cells)


def jumps(data: Sequence[int], cells: int) -> tuple[list[int], list[int]]:
    """Cumulative counts of data that lie at places 0..cells of a line."""
    places = range(cells + 1)
    return [sum(each < place for each in data) for place in places], [
        sum(each <= place for each in data) for place in places
    ]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("cells", [1, 2, 3, 4])
@pytest.mark.parametrize("lengths", [None, LENGTHS])
def test_rounds_have_the_mechanisms_law_whatever_the_cuts(cells: int, lengths: list[Fraction] | None) -> None:
    for n, k in product(range(1, 10 - cells), range(1, 6)):
        for index, counts in enumerate(all_counts(n=n, cells=cells)):
            if (index + n + k) % 12 and not SLOW:
                continue
            cuts = [[], [3], [2, 5, 9], range(0, n * k, 2)][index % 4]
            lengths_here = None if lengths is None else lengths[:cells]
            arguments = {"k": k, "lengths": lengths_here, "decay": DECAY}
            assert Rounds(*binned(counts), **arguments, cuts=cuts).law() == law(*binned(counts), **arguments)


@pytest.mark.parametrize("data", [[0, 0, 1], [1, 2, 2, 3], [0, 3], [1, 1, 1]])
def test_rounds_have_the_law_on_a_line_too(data: list[int]) -> None:
    arguments = {"k": 3, "lengths": LENGTHS[:3], "decay": DECAY}
    rounds = Rounds(*jumps(data, 3), **arguments, cuts=[2, 4, 6])
    assert rounds.law() == law(*jumps(data, 3), **arguments)


def test_the_program_has_the_law_of_its_description() -> None:
    for counts, lengths in product([(2, 0, 1), (0, 3, 1)], [None, LENGTHS[:3]]):
        arguments = {"k": 2, "lengths": lengths, "decay": DECAY}
        rounds = Rounds(*binned(counts), **arguments, cuts=[2, 4])
        assert rounds.law_of_program() == rounds.law() == law(*binned(counts), **arguments)


def test_keeping_the_shell_after_a_rejection_is_another_law() -> None:
    arguments = {"k": 3, "lengths": None, "decay": DECAY}
    rounds = Rounds(*binned((2, 0, 3)), **arguments, cuts=[4, 8])
    wrong = rounds.law(keeps_the_shell=True)
    right = law(*binned((2, 0, 3)), **arguments)
    assert sum(abs(wrong[sample] - right[sample]) for sample in right) > Fraction(1, 100)


def test_bounds_round_up_and_hardly() -> None:
    for number in (Fraction(1), Fraction(7, 3), Fraction(1, 1000), Fraction(129)):
        assert number <= rounded_up(number, 16) <= number * Fraction(9, 8)


def replacements(counts: Sample) -> Iterator[Sample]:
    for source, target in product(range(len(counts)), repeat=2):
        if source != target and counts[source]:
            moved = list(counts)
            moved[source] -= 1
            moved[target] += 1
            yield tuple(moved)


def worst_ratio(laws: dict[object, dict[Sample, Fraction]], pairs: Iterator[tuple[object, object]]) -> Fraction:
    return max(laws[left][sample] / laws[right][sample] for left, right in pairs for sample in laws[left])


@pytest.mark.parametrize("lengths", [None, LENGTHS[:3]])
def test_no_replacement_loses_more_than_epsilon(lengths: list[Fraction] | None) -> None:
    for n, k in [(1, 1), (3, 2), (4, 3)]:
        laws = {c: law(*binned(c), k=k, lengths=lengths, decay=DECAY) for c in all_counts(n=n, cells=3)}
        pairs = ((left, right) for left in laws for right in replacements(left))
        e_to_the_epsilon = DECAY ** (-2 * k)
        assert worst_ratio(laws, pairs) <= e_to_the_epsilon  # type: ignore[arg-type]


def test_half_the_scale_would_lose_more() -> None:
    """Without the factor two: `decay` stands for exp(-epsilon / k) then."""
    k, n = 2, 4
    decay = Fraction(1, 100)
    laws = {c: law(*binned(c), k=k, lengths=None, decay=decay) for c in all_counts(n=n, cells=3)}
    pairs = ((left, right) for left in laws for right in replacements(left))
    e_to_the_epsilon = decay ** (-k)
    assert worst_ratio(laws, pairs) > e_to_the_epsilon  # type: ignore[arg-type]


def test_distances_on_a_line_move_by_k_and_without_left_limits_by_more() -> None:
    cells, n, k = 3, 3, 2
    data = list(combinations_with_replacement(range(cells + 1), n))
    neighbours = [(a, b) for a in data for b in data if sum((Counter(a) - Counter(b)).values()) == 1]

    def right_limits_only(values: Sequence[int], sample: Sample) -> int:
        through = jumps(values, cells)[1]
        return max(abs(n * sum(sample[:value]) - k * through[value]) for value in values)

    every = list(samples(k, cells))
    both = max(abs(distance(*jumps(a, cells), z) - distance(*jumps(b, cells), z)) for a, b in neighbours for z in every)
    right = max(abs(right_limits_only(a, z) - right_limits_only(b, z)) for a, b in neighbours for z in every)
    assert both == k
    assert right > k


@pytest.mark.parametrize("base", ["histograms", "points"])
def test_the_products_pmf_is_the_models(base: str) -> None:
    widths = None if base == "histograms" else [0.5, 2.0, 0.25]
    lengths = None if widths is None else [Fraction(width) for width in widths]
    k = 4
    epsilon = 2.0 * k * math.log(1.5)  # decay = 2/3, up to rounding
    mechanism = dps.mechanisms.DensityMechanism(epsilon=epsilon, k=k, base=base)  # type: ignore[arg-type]
    for counts in [(2, 0, 3), (0, 7, 0), (1, 1, 1)]:
        drawn, probabilities = mechanism.pmf(list(counts), widths)
        exact = law(*binned(counts), k=k, lengths=lengths, decay=Fraction(2, 3))
        assert [tuple(row) for row in drawn.tolist()] == sorted(exact, reverse=True)
        expected = [float(exact[tuple(row)]) for row in drawn.tolist()]
        np.testing.assert_allclose(probabilities, expected, rtol=1e-12)


@pytest.mark.parametrize("base", ["histograms", "points"])
@pytest.mark.parametrize("counts", [[0, 5, 0, 2], [3, 1, 1, 2], [40, 0, 0, 3]])
def test_draws_have_the_law(counts: list[int], base: str) -> None:
    mechanism = dps.mechanisms.DensityMechanism(epsilon=3.0, k=4, base=base)  # type: ignore[arg-type]
    every, probabilities = mechanism.pmf(counts)
    drawn = mechanism.draw_many(counts, 2_000)  # p below 1e-50 at half the epsilon, by ten standard deviations
    powers = 5 ** np.arange(4)
    order = np.argsort(every @ powers)
    places = order[np.searchsorted((every @ powers)[order], drawn @ powers)]
    seen = np.bincount(places, minlength=len(every))
    assert p_value(seen, probabilities) > NEVER
    halved = dps.mechanisms.DensityMechanism(epsilon=1.5, k=4, base=base).pmf(counts)[1]  # type: ignore[arg-type]
    assert p_value(seen, halved) < NEVER


def test_points_have_the_law_of_their_gaps_and_are_uniform_inside() -> None:
    values, k = [0.5, 0.5, 2.0, 9.0], 3
    ends = [0.0, 0.5, 2.0, 4.0]
    mechanism = dps.mechanisms.DensityMechanism(epsilon=4.0, k=k)
    drawn = np.stack([mechanism.draw_points(values, bounds=(0, 4)) for _ in range(2_000)])
    assert drawn.shape == (2_000, k)
    assert (np.diff(drawn, axis=1) >= 0).all()
    counts = np.stack([((low <= drawn) & (drawn < high)).sum(axis=1) for low, high in pairwise(ends)], axis=1)
    # The value beyond the bounds is moved onto the upper one.
    before, through = [0, 0, 2, 3], [0, 2, 3, 4]
    weights = {}
    for sample in samples(k, 3):
        lengths = [high - low for low, high in pairwise(ends)]
        base = math.prod(length**count / math.factorial(count) for length, count in zip(lengths, sample, strict=True))
        weights[sample] = base * math.exp(-4.0 / (2 * k) * distance(before, through, sample))
    probabilities = np.array(list(weights.values())) / sum(weights.values())
    seen = Counter(map(tuple, counts.tolist()))
    frequencies = np.array([seen[sample] for sample in weights])
    assert frequencies.sum() == len(drawn)
    assert p_value(frequencies, probabilities) > NEVER
    right_only = [
        weights[s] * math.exp(4.0 / (2 * k) * (distance(before, through, s) - distance(through, through, s)))
        for s in weights
    ]
    assert p_value(frequencies, np.array(right_only) / sum(right_only)) < NEVER
    inside = drawn[(drawn >= 2.0) & (drawn < 4.0)]
    tenths = np.bincount(((inside - 2.0) * 5.0).astype(int), minlength=10)
    assert p_value(tenths, np.full(10, 0.1)) > NEVER
