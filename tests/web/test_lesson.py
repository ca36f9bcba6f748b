"""The learn page's content: real draws beside exact probabilities, and the factor that privacy promises."""

from __future__ import annotations

import math

import pytest

import dpselect as dps
from dpselect.web.lesson import DRAWS, EXAMPLE, lesson


def test_draws_are_those_of_the_mechanisms_beside_their_exact_probabilities() -> None:
    shown = lesson(EXAMPLE, "0.5")
    for kind, each in zip((dps.PermuteAndFlip, dps.ExponentialMechanism), shown.demonstrations, strict=True):
        mechanism = kind(epsilon=0.5, sensitivity=1.0, monotonic=True)
        numbers = [bar.number for bar in each.bars]
        assert [bar.probability for bar in each.bars] == pytest.approx(mechanism.pmf(numbers))
        assert each.expected_error == mechanism.expected_error(numbers)
        assert sum(bar.drawn for bar in each.bars) == DRAWS
        assert each.average_error == pytest.approx(sum(bar.drawn * (12 - bar.number) for bar in each.bars) / DRAWS)
        # 7 standard deviations: below 1e-11 by Bernstein's inequality, unless few are expected.
        spread = [7 * math.sqrt(bar.expected * (1 - bar.probability)) + 20 for bar in each.bars]
        gaps = [abs(bar.drawn - bar.expected) for bar in each.bars]
        assert [gap for gap, most in zip(gaps, spread, strict=True) if gap > most] == []
    assert shown.demonstrations[0].expected_error < shown.demonstrations[1].expected_error


def test_no_probability_changes_by_more_than_epsilon_promises_and_half_the_epsilon_would_not_do() -> None:
    for each in lesson(EXAMPLE, "0.5").demonstrations:
        assert each.largest_factor is not None
        assert math.exp(0.25) < each.largest_factor <= math.exp(0.5) * (1 + 1e-12)


def test_a_factor_that_a_double_cannot_tell_is_left_out() -> None:
    shown = lesson(["1000000000", "0", "0", "0", "0"], "1000")
    assert [each.largest_factor for each in shown.demonstrations] == [None, None]
    assert shown.promised == math.inf


@pytest.mark.parametrize("wrong", ["", "x", "nan", "inf", "-1", "1e10"])
def test_the_error_names_the_field(wrong: str) -> None:
    with pytest.raises(dps.errors.InvalidParameterError) as refused:
        lesson(["1", "2", wrong, "4", "5"], "1")
    assert refused.value.name == "C"
    with pytest.raises(dps.errors.InvalidParameterError) as refused:
        lesson(EXAMPLE, wrong)
    assert refused.value.name == "epsilon"
