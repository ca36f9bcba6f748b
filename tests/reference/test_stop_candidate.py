"""The claims of ``proofs/stop_candidate.md``, enumerated over all neighbours of small tables, with controls."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from tests.reference.counting import add_remove_pairs, bounded_counts, replace_one_pairs
from tests.reference.stop_candidate import Law, by_coins, failure, law

GROWTH, FAILING = Fraction(5, 4), Fraction(1, 50)
NAMES = ("x", "y", "z")
SETTLED = (30, 30, 0)
"""Units of a larger table, which both neighbours have: as many as make values come before "stop"."""
CONTRIBUTIONS = [(), ("x",), ("x", "y"), ("x", "y", "z")]


def worst_failure(
    k: int,
    most: int,
    *,
    paid: Fraction,
    base: Fraction | None = None,
    more: int = 1,
    replaced: bool = False,
    settled: tuple[int, ...] = (0, 0, 0),
    growth: Fraction = GROWTH,
) -> Fraction:
    """Over all neighbours of two units with up to three values, chance in the choice of values included."""
    pairs = (replace_one_pairs if replaced else add_remove_pairs)(("ann", "bob"), CONTRIBUTIONS)
    stop = most / FAILING if base is None else base

    @cache
    def released(data: tuple[tuple[str, tuple[str | None, ...]], ...]) -> Law:
        found: Law = {}
        for counts, probability in bounded_counts(dict(data), candidates=NAMES, most=most).items():
            together = [count + known for count, known in zip(counts, settled, strict=True)]
            for order, chance in law(together, growth, stop, k=k, more=more).items():
                found[order] = found.get(order, Fraction(0)) + probability * chance
        return found

    return max(failure(released(tuple(one.items())), released(tuple(other.items())), paid) for one, other in pairs)


def price(k: int, *, range_of_a_round: int = 1, growth: Fraction = GROWTH) -> Fraction:
    """e^(k epsilon_0) (1 + delta_1)^k, where a round's loss has a range of so many times 1/b."""
    return (growth**range_of_a_round * (1 + FAILING)) ** k


@pytest.mark.parametrize("settled", [(0, 0, 0), SETTLED, (30, 3, 1)])
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_delta_is_paid_once_when_a_unit_is_added_or_removed(k: int, most: int, settled: tuple[int, ...]) -> None:
    found = worst_failure(k, most, paid=price(k), settled=settled)
    assert (FAILING / 2 if not any(settled) else 0) <= found <= FAILING


@pytest.mark.parametrize("settled", [(0, 0, 0), SETTLED])
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("most", [1, 2])
def test_delta_is_paid_once_when_a_unit_is_replaced(k: int, most: int, settled: tuple[int, ...]) -> None:
    found = worst_failure(k, most, paid=price(k, range_of_a_round=2), replaced=True, settled=settled)
    assert (FAILING / 2 if not any(settled) else 0) <= found <= FAILING


@pytest.mark.parametrize("k", [1, 2])
def test_without_the_unit_more_the_stop_candidate_comes_too_late(k: int) -> None:
    """Control: "stop" with the score 0, without the 1 that the values of one unit have."""
    assert worst_failure(k, 1, paid=price(k), more=0) > FAILING


def test_several_values_of_a_unit_have_to_be_paid_for() -> None:
    """Control: the stop candidate for one value, and three of a unit."""
    assert worst_failure(2, 3, paid=price(2), base=1 / FAILING) > FAILING


STEEP: dict[str, Any] = {"growth": Fraction(6), "settled": (3, 3, 3)}
"""Where a round's loss is large."""


def test_a_replaced_unit_costs_twice_as_much() -> None:
    """Control: scores that move against each other, at the price of those that move together."""
    together, apart = (price(2, range_of_a_round=times, growth=STEEP["growth"]) for times in (1, 2))
    assert worst_failure(2, 2, paid=together, replaced=True, **STEEP) > FAILING
    assert worst_failure(2, 2, paid=apart, replaced=True, **STEEP) <= FAILING


def test_rounds_cost_more_than_one_round() -> None:
    """Control: the epsilon of one round for three."""
    one, three = price(1, growth=STEEP["growth"]), price(3, growth=STEEP["growth"])
    assert worst_failure(3, 1, paid=one, **STEEP) > FAILING
    assert worst_failure(3, 1, paid=three, **STEEP) <= FAILING


@pytest.mark.parametrize("counts", [(), (1,), (0, 3), (1, 1, 2), (4, 2, 2, 1)])
@pytest.mark.parametrize("k", [1, 2, 9])
def test_coins_after_the_draw_are_rounds_with_a_stop_candidate(counts: tuple[int, ...], k: int) -> None:
    base = Fraction(7, 2)
    found = by_coins(counts, GROWTH, base, k=k)
    assert found == law(counts, GROWTH, base, k=k)
    assert sum(found.values()) == 1
