"""The claims of ``proofs/partition_selection.md`` and ``proofs/unknown_candidates.md``, enumerated."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import pytest

from tests.reference.counting import add_remove_pairs, bounded_counts, replace_one_pairs
from tests.reference.partition_selection import failure, in_closed_form, law, lazy_heads, named_by_number, probabilities
from tests.reference.randomness import Randomness, exact_law

PRICES = [
    (Fraction(2), Fraction(1, 10)),
    (Fraction(3, 2), Fraction(1, 50)),
    (Fraction(101, 100), Fraction(1, 1000)),
    (Fraction(20), Fraction(1, 7)),
    (Fraction(5, 4), Fraction(9, 10)),
    (Fraction(3), Fraction(1, 2)),
]
PRICED = pytest.mark.parametrize(("growth", "delta"), PRICES)


@PRICED
def test_the_formulas_are_the_recursion(growth: Fraction, delta: Fraction) -> None:
    assert probabilities(growth, delta, 40) == [in_closed_form(growth, delta, count) for count in range(41)]


@PRICED
def test_one_unit_moves_a_coin_by_no_more_than_is_paid(growth: Fraction, delta: Fraction) -> None:
    chances = probabilities(growth, delta, 40)
    worst = max(
        failure(law([one]), law([other]), growth)
        for before, after in pairwise(chances)
        for one, other in ((before, after), (after, before))
    )
    assert worst == delta  # attained


@PRICED
def test_no_rule_names_more(growth: Fraction, delta: Fraction) -> None:
    """A probability above pi(n), at any n, fails beside whatever came before: its bounds only grow."""
    chances = probabilities(growth, delta, 40)
    for before, after in pairwise(chances):
        more = after + Fraction(1, 10**9)
        if more <= 1:
            laws = law([before]), law([more])
            assert max(failure(*laws, growth), failure(*reversed(laws), growth)) > delta


def worst_failure(most: int, replaced: bool, growth: Fraction, share: Fraction) -> Fraction:
    """Over all neighbours of up to three units with up to three values, chance in the choice of values included.

    `growth` is that of one count: of all together it is the power of the number of counts that a unit moves.
    """
    candidates = ("x", "y", "z")
    contributions = [(), ("x",), ("x", "y"), ("x", "y", "z")]
    pairs = (replace_one_pairs if replaced else add_remove_pairs)(("ann", "bob"), contributions)
    chances = probabilities(growth, share, 5)
    moved = 2 * most if replaced else most

    def released(data: dict[str, tuple[str | None, ...]]) -> dict[tuple[bool, ...], Fraction]:
        found: dict[tuple[bool, ...], Fraction] = {}
        for counts, probability in bounded_counts(data, candidates=candidates, most=most).items():
            for named, chance in law([chances[count] for count in counts]).items():
                found[named] = found.get(named, Fraction(0)) + probability * chance
        return found

    return max(failure(released(one), released(other), growth**moved) for one, other in pairs)


@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_several_values_of_a_unit_divide_epsilon_and_delta(most: int, replaced: bool) -> None:
    growth, share = Fraction(6, 5), Fraction(1, 20)
    delta = 1 - (1 - share) ** (2 * most if replaced else most)
    assert Fraction(0) < worst_failure(most, replaced, growth, share) <= delta


def test_delta_itself_for_each_value_would_fail_too_often() -> None:
    """Control."""
    share = Fraction(1, 20)
    assert worst_failure(3, False, Fraction(6, 5), share) > share


def test_more_values_than_are_paid_for_would_fail_too_often() -> None:
    """Control: a unit that counts for two values at the price of one."""
    growth, share = Fraction(6, 5), Fraction(1, 20)
    chances = probabilities(growth, share, 2)
    assert failure(law([chances[1]] * 2), law([chances[0]] * 2), growth) > share


@pytest.mark.parametrize("chance", [Fraction(1, 3), Fraction(5, 8), Fraction(0), Fraction(1), Fraction(7, 9)])
@pytest.mark.parametrize("base", [2, 3])
def test_coins_compared_together_are_independent_coins(chance: Fraction, base: int) -> None:
    size = 3

    def program(randomness: Randomness) -> tuple[bool, ...]:
        (heads,) = lazy_heads(chance, [size], base=base, rounds=2, randomness=randomness)
        return named_by_number(heads, size, randomness)

    found = exact_law(program)
    for named in product((False, True), repeat=size):
        expected = law([chance] * size)[named]
        assert found.get(named, Fraction(0)) == expected
