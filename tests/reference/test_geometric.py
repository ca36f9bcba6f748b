"""The geometric law: drawn as the pages say, private as they say, and not where they say so."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tests.reference import geometric
from tests.reference.randomness import exact_law

RATIOS = [Fraction(1, 2), Fraction(9, 10), Fraction(1, 1000)]


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("block", [1, 2, 3, 5])
def test_blocks_of_any_length_draw_the_law(ratio: Fraction, block: int) -> None:
    tries = exact_law(lambda randomness: geometric.noise(ratio, block=block, most_blocks=3, randomness=randomness))
    reach = 3 * block - 1
    drawn = {offset: chance / (1 - tries[None]) for offset, chance in tries.items() if offset is not None}
    total = sum(geometric.law(ratio, offset) for offset in range(-reach, reach + 1))
    assert drawn == {offset: geometric.law(ratio, offset) / total for offset in range(-reach, reach + 1)}


def test_zero_with_two_signs_would_come_too_often() -> None:
    def wrong(randomness: object) -> int | None:
        size = geometric.magnitude(Fraction(1, 2), block=1, most_blocks=9, randomness=randomness)  # type: ignore[arg-type]
        return size if size is None or randomness.coin(Fraction(1, 2)) else -size  # type: ignore[attr-defined]

    tries = exact_law(wrong)
    assert tries[0] / tries[1] == 4 != geometric.law(Fraction(1, 2), 0) / geometric.law(Fraction(1, 2), 1)


@pytest.mark.parametrize("ratio", RATIOS)
def test_sums_in_closed_form(ratio: Fraction) -> None:
    for offset in range(-4, 5):
        step = geometric.noise_up_to(ratio, offset) - geometric.noise_up_to(ratio, offset - 1)
        assert step == geometric.law(ratio, offset)
    for value in (-2, 0, 3, 9):
        assert sum(geometric.clamped_law(ratio, value, lower=0, upper=5).values()) == 1


def worst_ratio(before: dict[int, Fraction], after: dict[int, Fraction]) -> Fraction:
    return max(max(before[y] / after[y], after[y] / before[y]) for y in before)


@pytest.mark.parametrize("ratio", RATIOS)
def test_clamping_costs_nothing(ratio: Fraction) -> None:
    laws = [geometric.clamped_law(ratio, value, lower=0, upper=6) for value in range(-2, 10)]
    for move in (1, 2, 3):  # the sensitivity; exp(epsilon) is ratio**-sensitivity
        pairs = zip(laws, laws[move:], strict=False)
        assert max(worst_ratio(*pair) for pair in pairs) == ratio**-move


@pytest.mark.parametrize(("ratio", "move"), [(math.exp(-1.0), 1), (math.exp(-0.01), 100)])
def test_the_loss_of_a_range_without_the_factor_two(ratio: float, move: int) -> None:
    reach = 40 * move  # as good as endless
    before, after = (
        geometric.restricted_law(Fraction(ratio), value, lower=0, upper=reach) if move == 1 else None
        for value in (0, move)
    )
    totals = [sum(ratio ** abs(y - value) for y in range(reach + 1)) for value in (0, move)]
    loss = 1.0 + math.log(totals[1] / totals[0])  # at y = 0
    assert loss == pytest.approx(1.0 + math.log(1 + ratio - ratio ** (move + 1)), abs=1e-9)
    assert loss > (1.2 if move == 1 else 1.48)
    if before is not None and after is not None:
        assert math.log(worst_ratio(before, after)) == pytest.approx(loss, abs=1e-9)


@pytest.mark.parametrize("value", range(6))
def test_the_factor_two_makes_a_range_private(value: int) -> None:
    halved = Fraction(math.exp(-0.5))
    laws = [geometric.restricted_law(halved, each, lower=0, upper=6) for each in (value, value + 1)]
    assert math.log(worst_ratio(*laws)) <= 1.0


def test_the_loss_off_the_lattice() -> None:
    root = Fraction(math.exp(-1.0))  # b = sensitivity / epsilon = 1/2 at sensitivity 1/2, epsilon 1
    totals = [geometric.off_lattice_total(root, halves=halves) for halves in (0, 1)]
    by_hand = [sum(root ** abs(2 * y - halves) for y in range(-40, 41)) for halves in (0, 1)]
    assert [float(total) for total in totals] == pytest.approx([float(total) for total in by_hand], rel=1e-12)
    # At y = 1: f = 1/2 is nearer by the whole sensitivity, and has the smaller total.
    loss = math.log((root / totals[1]) / (root**2 / totals[0]))
    assert loss == pytest.approx(1.0 + math.log(math.cosh(1.0)), abs=1e-12)
    assert 1.43 < loss < 1.44
