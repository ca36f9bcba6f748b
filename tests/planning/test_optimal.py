"""The best mechanism on a lattice: against the whole program in fractions, the paper's claims, and bad guesses."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from dpselect.errors import InsufficientMemoryError
from dpselect.planning import optimal as ratio
from dpselect.planning import optimal_error, optimal_ratio
from dpselect.planning.optimal import Lattice, lattice_of, program_size, solve
from tests.laws.subjects import every_kind
from tests.reference.optimal import lattice, least_mean_error, risen
from tests.slow import crossed

Kind = Callable[..., Any]
THRESHOLD = math.log((3 + math.sqrt(5)) / 2)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("size", "p"),
    crossed([(2, 1), (2, 3), (3, 1), (3, 2)], [Fraction(1, 100), Fraction(1, 3), Fraction(2, 3), Fraction(9, 10)]),
    ids=str,
)
def test_the_optimum_is_that_of_the_whole_program_in_fractions(size: tuple[int, int], p: Fraction) -> None:
    n, levels = size
    exact = 2 * float(least_mean_error(n, levels, p=p))
    found = optimal_error(n=n, levels=levels, epsilon=-math.log(p))
    assert found.lower == pytest.approx(exact, rel=1e-9)
    assert found.lower <= exact * (1 + 1e-12)
    assert found.upper >= exact * (1 - 1e-12)


def test_that_comparison_can_fail() -> None:
    """One privacy constraint less, and the optimum is another."""
    forgetful = 2 * float(least_mean_error(2, 3, p=Fraction(1, 3), leave_out=1))
    assert optimal_error(n=2, levels=3, epsilon=math.log(3)).lower > forgetful * (1 + 1e-6)


@pytest.mark.parametrize(("n", "levels"), [(2, 3), (3, 2), (4, 2), (3, 4)])
def test_states_places_and_links_are_those_of_the_lattice(n: int, levels: int) -> None:
    made, vectors = lattice_of(n, levels), lattice(n, levels)
    states = {tuple(row): index for index, row in enumerate(made.rows.tolist())}
    assert set(states) == {tuple(sorted(steps)) for steps in vectors}
    for row, index in states.items():
        orders = sum(tuple(sorted(steps)) == row for steps in vectors)
        assert made.weights[index] == pytest.approx(orders / len(vectors), rel=1e-12)
    places = {(int(made.state[place]), int(made.level[place])): place for place in range(made.level.size)}
    for (state, level), place in places.items():
        row = tuple(made.rows[state].tolist())
        assert made.count[place] == row.count(level)
        after = risen(row, row.index(level))
        expected = places[states[tuple(sorted(after))], max(level - 1, 0)] if max(after) <= levels else -1
        assert made.better[place] == expected
    assert program_size(n, levels)[:2] == (len(states), len(places))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 0.1, 0.3, 0.5, 0.7, THRESHOLD, 1.5, 5.0, 10.0, 50.0, 700.0])
@pytest.mark.parametrize(("n", "levels"), [(3, 4), (4, 4), (4, 8), (6, 4)])
def test_permute_and_flip_is_within_two_percent_and_optimal_above_the_threshold(
    n: int, levels: int, epsilon: float
) -> None:
    found = optimal_ratio(dps.PermuteAndFlip, n=n, levels=levels, epsilon=epsilon)
    assert 1 - 1e-12 <= found < 1.02
    assert optimal_error(n=n, levels=levels, epsilon=epsilon).gap < 1e-8
    if epsilon >= THRESHOLD:
        assert found == pytest.approx(1.0, abs=1e-9)


def test_below_the_threshold_it_is_not_optimal() -> None:
    assert optimal_ratio(dps.PermuteAndFlip, n=3, levels=4, epsilon=0.4) > 1.005


@pytest.mark.sampled(2)
@pytest.mark.parametrize("levels", [2, 4, 6, 8])
def test_the_exponential_mechanism_tends_to_twice_the_optimum(levels: int) -> None:
    ratios = [
        optimal_ratio(dps.ExponentialMechanism, n=4, levels=levels, epsilon=e) for e in (0.01, 0.3, 1.0, 3.0, 10.0)
    ]
    assert ratios == sorted(ratios)
    assert 1.0 < ratios[0] < 1.01
    assert 1.8 < ratios[-1] < 2.0


@every_kind
@pytest.mark.parametrize("epsilon", [0.05, 0.7, 4.0])
def test_no_private_mechanism_is_below_the_optimum(kind: Kind, epsilon: float) -> None:
    assert optimal_ratio(kind, n=4, levels=3, epsilon=epsilon) >= 1 - 1e-12


def test_one_that_is_not_private_enough_is() -> None:
    cheating = partial(dps.PermuteAndFlip)

    def at_twice_the_epsilon(*, epsilon: float, **rest: Any) -> dps.PermuteAndFlip:
        return cheating(epsilon=2 * epsilon, **rest)

    assert optimal_ratio(at_twice_the_epsilon, n=4, levels=3, epsilon=0.7) < 0.9


@pytest.mark.parametrize(("n", "levels"), [(3, 2), (4, 3)])
def test_the_mean_error_is_that_of_every_vector_written_out(n: int, levels: int) -> None:
    mechanism = dps.ExponentialMechanism(epsilon=0.8, sensitivity=1.0)
    errors = [mechanism.expected_error(-2.0 * np.array(steps)) for steps in lattice(n, levels)]
    found = optimal_ratio(dps.ExponentialMechanism, n=n, levels=levels, epsilon=0.8)
    assert found * optimal_error(n=n, levels=levels, epsilon=0.8).lower == pytest.approx(np.mean(errors), rel=1e-12)


LATTICE = lattice_of(3, 3)


@given(seed=st.integers(0, 10**6), epsilon=st.floats(0.02, 3.0), noise=st.sampled_from([0.0, 1e-6, 0.1, 10.0]))
def test_both_bounds_hold_for_any_guess(seed: int, epsilon: float, noise: float) -> None:
    """However wrong the solver were."""
    p, generator = math.exp(-epsilon), np.random.default_rng(seed)
    known = optimal_error(n=3, levels=3, epsilon=epsilon)
    scaled, prices, top_multipliers = solve(LATTICE, p)

    def spoilt(values: np.ndarray) -> np.ndarray:
        return values * (1 + noise * generator.standard_normal(values.size))

    lower = ratio.lower_bound(LATTICE, p, spoilt(prices), np.abs(spoilt(top_multipliers)))
    upper = ratio.upper_bound(LATTICE, p, np.abs(spoilt(scaled)))
    assert 2 * p * lower <= known.upper * (1 + 1e-12)
    assert 2 * p * upper >= known.lower * (1 - 1e-12)


@given(epsilon=st.floats(0.02, 3.0))
def test_without_any_guess_the_upper_bound_is_permute_and_flips_error(epsilon: float) -> None:
    p = math.exp(-epsilon)
    upper = 2 * p * ratio.upper_bound(LATTICE, p, np.zeros(LATTICE.level.size))
    found = optimal_ratio(dps.PermuteAndFlip, n=3, levels=3, epsilon=epsilon)
    assert upper == pytest.approx(found * optimal_error(n=3, levels=3, epsilon=epsilon).lower, rel=1e-9)


@pytest.mark.parametrize(
    ("n", "levels"), [(10**9, 10**9), (20, 20), (10**18, 2), (10**9, 1), (2, 10**9), (10**5, 1), (10**18, 300)]
)
def test_a_lattice_that_does_not_fit_is_refused_before_it_is_built(
    n: int, levels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def built(n: int, levels: int) -> Lattice:
        raise AssertionError("it was built")

    monkeypatch.setattr(ratio, "lattice_of", built)
    with pytest.raises(InsufficientMemoryError, match=r"needs about [0-9.e+]+ GiB"):
        optimal_error(n=n, levels=levels, epsilon=1.0)


def test_one_step_more_than_fits_is_refused_with_its_size() -> None:
    """And what fits has no more than the limit; both by the sizes alone."""
    levels = next(levels for levels in range(1, 100) if program_size(4, levels)[2] > 2**32)
    assert program_size(4, levels - 1)[2] <= 2**32
    with pytest.raises(InsufficientMemoryError, match=r"needs about 4.* GiB of memory; 4 GiB are"):
        optimal_ratio(dps.PermuteAndFlip, n=4, levels=levels, epsilon=1.0)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"n": 1}, "n=1: expected at least 2"),
        ({"n": 0}, "n=0"),
        ({"n": 2.0}, r"n=2\.0"),
        ({"levels": 0}, "levels=0"),
        ({"levels": True}, "levels=True"),
        ({"epsilon": 0.0}, "epsilon=0"),
        ({"epsilon": math.nan}, "epsilon=nan"),
        ({"epsilon": 701}, "epsilon=701.*<= 700"),
        ({"mechanism": "PF"}, "mechanism="),
    ],
)
def test_bad_input(arguments: dict[str, Any], match: str) -> None:
    valid: dict[str, Any] = {"mechanism": dps.PermuteAndFlip, "n": 3, "levels": 2, "epsilon": 1.0}
    with pytest.raises(dps.errors.InvalidParameterError, match=match):
        optimal_ratio(**valid | arguments)
