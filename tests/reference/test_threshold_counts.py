"""Claim 3 of ``proofs/unknown_candidates.md``, enumerated over all neighbours of small tables, with controls."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.reference.counting import add_remove_pairs, bounded_counts, replace_one_pairs
from tests.reference.threshold_counts import Law, failure, law, of_one, threshold

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


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_threshold_keeps_delta_when_a_unit_is_added_or_removed(most: int) -> None:
    found = worst_failure(most, most, threshold(RATIO, SHARE))
    assert Fraction(0) < found <= delta(most)


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
