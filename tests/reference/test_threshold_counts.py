"""Claim 3 of ``proofs/unknown_candidates.md``, enumerated over all neighbours of small tables, with controls."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.reference import discrete_gaussian
from tests.reference.counting import add_remove_pairs, bounded_counts, replace_one_pairs
from tests.reference.precision import exponential
from tests.reference.threshold_counts import (
    Law,
    failure,
    gaussian_failure,
    gaussian_law,
    gaussian_threshold,
    law,
    of_one,
    threshold,
)

RATIO, SHARE, CELLS = Fraction(2, 3), Fraction(1, 10), 3


def worst_failure(most: int, moved: int, least: int, *, replaced: bool = False, ratio: Fraction = RATIO) -> Fraction:
    """Over all neighbours of two units with up to three values, chance in the choice of values included."""
    candidates, contributions = ("x", "y", "z"), [(), ("x",), ("x", "y"), ("x", "y", "z")]
    pairs = (replace_one_pairs if replaced else add_remove_pairs)(("ann", "bob"), contributions)

    def released(data: dict[str, tuple[str | None, ...]]) -> Law:
        found: Law = {}
        for counts, probability in bounded_counts(data, candidates=candidates, most=most).items():
            for outcome, chance in law(counts, ratio, least, cells=CELLS).items():
                found[outcome] = found.get(outcome, Fraction(0)) + probability * chance
        return found

    return max(failure(released(one), released(other), (1 / RATIO) ** moved) for one, other in pairs)


def delta(counts: int) -> Fraction:
    return 1 - (1 - SHARE) ** counts


@pytest.mark.sampled(1)
@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_threshold_keeps_delta_when_a_unit_is_added_or_removed(most: int) -> None:
    found = worst_failure(most, most, threshold(RATIO, SHARE))
    assert Fraction(0) < found <= delta(most)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("most", [1, 2])
def test_a_threshold_keeps_delta_when_a_unit_is_replaced(most: int) -> None:
    assert Fraction(0) < worst_failure(most, 2 * most, threshold(RATIO, SHARE), replaced=True) <= delta(2 * most)


def test_a_lower_threshold_fails_too_often() -> None:
    """Control: without the 1 that a lone unit adds."""
    assert worst_failure(1, 1, threshold(RATIO, SHARE) - 1) > SHARE


def test_delta_itself_for_each_count_would_fail_too_often() -> None:
    """Control: each of three counts at the whole delta, as far as noise on whole numbers can use it up."""
    tight = RATIO**4 / (1 + RATIO)
    assert worst_failure(3, 3, threshold(RATIO, tight)) > tight


def test_noise_for_one_count_fails_where_a_unit_has_three() -> None:
    """Control."""
    least = threshold(RATIO, SHARE)
    assert worst_failure(3, 1, least) > delta(1)


@pytest.mark.parametrize("count", [0, 1, 4, 9])
def test_laws_are_laws(count: int) -> None:
    assert sum(of_one(count, RATIO, 4, cells=5).values()) == 1


VARIANCE, EPSILON, REACH = Fraction(1), Fraction(1), 7
LITTLE = Fraction(1, 50)


def worst_gaussian_failure(most: int, least: int, *, replaced: bool = False) -> Fraction:
    """As above, for two values and Gaussian noise, beside nothing and beside values that many units have."""
    candidates, contributions = ("x", "y"), [(), ("x",), ("x", "y")]
    pairs = list((replace_one_pairs if replaced else add_remove_pairs)(("ann",), contributions))
    grown = exponential(EPSILON)

    def released(data: dict[str, tuple[str | None, ...]], settled: tuple[int, int]) -> Law:
        found: Law = {}
        for counts, probability in bounded_counts(data, candidates=candidates, most=most).items():
            together = [count + more for count, more in zip(counts, settled, strict=True)]
            for outcome, chance in gaussian_law(together, VARIANCE, least, reach=REACH).items():
                found[outcome] = found.get(outcome, Fraction(0)) + probability * chance
        return found

    return max(
        failure(released(one, settled), released(other, settled), grown)
        for one, other in pairs
        for settled in ((0, 0), (30, 0), (30, 30))
    )


def allowed(moved: int) -> Fraction:
    """What the noise of so many moved counts fails by, and their share of delta."""
    noise = discrete_gaussian.worst_delta(VARIANCE, moves=moved, epsilon=EPSILON, reach=REACH)
    return noise + 1 - (1 - LITTLE) ** moved


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("most", "replaced"), [(1, False), (2, False), (1, True)])
def test_gaussian_noise_and_its_threshold_keep_delta(most: int, replaced: bool) -> None:
    moved = 2 * most if replaced else most
    found = worst_gaussian_failure(most, gaussian_threshold(VARIANCE, LITTLE), replaced=replaced)
    assert Fraction(0) < found <= allowed(moved)


def test_the_whole_of_delta_for_the_threshold_leaves_none_for_the_noise() -> None:
    """Control: the noise of two moved counts fails too, as far as it was not paid for."""
    assert worst_gaussian_failure(2, gaussian_threshold(VARIANCE, LITTLE)) > 1 - (1 - LITTLE) ** 2


def test_a_lower_threshold_of_gaussian_noise_fails_too_often() -> None:
    """Control: without the 1 that a lone unit adds."""
    for less, is_kept in ((0, True), (1, False)):
        found, most = gaussian_failure(Fraction(4), LITTLE, epsilon=Fraction(1), less=less)
        assert (found <= most) is is_kept
