"""Quantiles of many values: the law where values are not sorted, the types they come in, and what is refused."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from dpselect.errors import InvalidDataError, InvalidParameterError
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.laws.test_bad_input import BAD_SCORES, SECRET, assert_says_nothing
from tests.slow import crossed

RNG = np.random.default_rng(17)
MANY = {
    "all different": RNG.permutation(40_000) / 400.0,
    "rounded": np.round(RNG.normal(50.0, 15.0, 40_000), 1),
    "mostly outside": RNG.normal(150.0, 200.0, 40_000),
    "few different": RNG.integers(0, 90, 40_000).astype(float),
}


def drawn(values: Any, level: float, **arguments: Any) -> float:
    return dps.mechanisms.QuantileMechanism(level=level, **arguments).draw(values)


every_many = pytest.mark.parametrize("values", MANY.values(), ids=MANY)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "level", "step"), crossed([*MANY], [0.0, 0.1, 0.5, 0.999], [None, 1, 0.1, 25]))
def test_many_values(name: str, level: float, step: float | None) -> None:
    values = MANY[name]
    mechanism = dps.mechanisms.QuantileMechanism(epsilon=0.2, level=level, bounds=(0, 100), step=step)
    draws = np.array([mechanism.draw(values) for _ in range(1000)])
    # Cells of the range, and finer ones around the target, by the formula on the sorted values.
    near = np.quantile(values.clip(0, 100), np.clip(level + 1e-4 * np.arange(-9, 10), 0, 1), method="lower")
    fine = np.unique(np.concatenate([np.linspace(0.0, 100.0, 1001), near]))
    below = mechanism.cdf(values, fine)
    counts = np.diff(np.searchsorted(np.sort(draws), fine, side="right"), prepend=0)
    chances = np.diff(below, prepend=0.0).clip(0.0)
    assert chances.sum() == pytest.approx(1.0, abs=1e-9)
    chances = (chances + 1e-12) / (1.0 + 1e-12 * chances.size)  # a difference of doubles may be 0 where a chance is not
    assert p_value(counts, chances) >= NEVER


def test_another_epsilon_and_another_level_are_told_apart() -> None:
    values = MANY["all different"]
    draws = np.sort([drawn(values, 0.5, bounds=(0, 100), epsilon=0.2) for _ in range(1500)])
    fine = 50.0 + np.arange(-40, 41) / 400.0
    for epsilon, level in ((0.4, 0.5), (0.2, 0.5001)):
        other = dps.mechanisms.QuantileMechanism(epsilon=epsilon, level=level, bounds=(0, 100))
        chances = np.diff(other.cdf(values, fine), prepend=0.0, append=1.0)
        counts = np.diff(np.searchsorted(draws, fine, side="right"), prepend=0, append=draws.size)
        assert p_value(counts, chances) < NEVER


@pytest.mark.parametrize("step", [None, 1])
def test_values_of_every_type(step: int | None) -> None:
    numbers = list(range(100)) * 40
    forms: list[Any] = [
        numbers,
        tuple(numbers),
        range(4000),
        np.array(numbers, dtype=np.int8),
        np.array(numbers, dtype=np.uint64),
        np.array(numbers, dtype=np.float32),
        np.array(numbers, dtype=np.float64)[::-1],
        np.array(numbers * 2, dtype=np.float64)[::2],
        np.frombuffer(b"\0" + np.array(numbers, dtype=np.float64).tobytes(), dtype=np.uint8)[1:].view(np.float64),
        np.array(numbers, dtype=">f8"),
        pa.array(numbers),
        pa.chunked_array([numbers, numbers]),
        pl.Series(numbers, dtype=pl.Float64),
    ]
    for values in forms:
        answer = drawn(values, 0.5, bounds=(0, 4000), epsilon=1.0, step=step)
        assert 1900 < answer < 2100 if values is forms[2] else 40 < answer < 60


def test_ends_and_extremes() -> None:
    for values in ([], [math.inf], [-math.inf, 1e308], [0.0] * 5000, [1e300] * 5000):
        for bounds in ((0, 120), (1e-300, 1e300), (-1.7e308, 1.7e308), (0.0, 5e-324), (1.0, math.nextafter(1.0, 2.0))):
            for epsilon in (1e-6, 1.0, 1e3):
                for level in (0, 0.5, 1):
                    answer = drawn(values, level, bounds=bounds, epsilon=epsilon)
                    assert bounds[0] <= answer <= bounds[1]
                    assert isinstance(answer, float)
    assert drawn([1e300] * 5000, 0.5, bounds=(0, 1e300), step=1e299, epsilon=1.0) == 1e300
    assert drawn([2e-300] * 5000, 0.5, bounds=(1e-300, 9e-300), step=1e-300, epsilon=1.0) == 2e-300


@given(
    st.lists(st.integers(0, 32).map(lambda quarters: quarters / 4), max_size=8),
    st.integers(0, 32).map(lambda quarters: quarters / 4),
    st.sampled_from([0.0, 0.1, 0.5, 0.75, 1.0]),
    st.sampled_from(["add_remove", "replace_one"]),
    st.sampled_from([None, 0.5]),
)
def test_the_loss_is_at_most_epsilon(
    values: list[float], new: float, level: float, neighbours: str, step: float | None
) -> None:
    mechanism = dps.mechanisms.QuantileMechanism(
        epsilon=1.0, level=level, bounds=(0, 8), step=step, neighbours=neighbours
    )  # type: ignore[arg-type]
    pairs = [(values, [*values, new])] if neighbours == "add_remove" else [([*values, 0.0], [*values, new])]
    for before, after in pairs:
        assert worst_loss(mechanism, before, after) <= 1.0 + 1e-9


def test_the_law_above_can_fail() -> None:
    """The sensitivity of add-remove does not do for replace-one."""
    mechanism = dps.mechanisms.QuantileMechanism(epsilon=1.0, level=0.5, bounds=(0, 8))
    crowds = [0.01] * 5 + [7.99] * 6
    assert worst_loss(mechanism, [*crowds, 0.0], [*crowds, 8.0]) > 1.5


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_half_the_noise_is_used_up_at_the_extremes(level: float) -> None:
    """Nearly all answers fall by one when a value is added next to the bound; the little room beyond it does not."""
    mechanism = dps.mechanisms.QuantileMechanism(epsilon=1.0, level=level, bounds=(0, 8))
    assert 0.99 < worst_loss(mechanism, [], [7.99 if level else 0.01]) <= 1.0 + 1e-9


def worst_loss(mechanism: dps.mechanisms.QuantileMechanism, before: list[float], after: list[float]) -> float:
    if mechanism.step is not None:
        chances = [mechanism.pmf(values) for values in (before, after)]
    else:
        ends = np.unique([0.0, *before, *after, 8.0])
        chances = [np.diff(mechanism.cdf(values, ends)) for values in (before, after)]
    return float(np.abs(np.log(chances[0] / chances[1])).max())


@pytest.mark.parametrize(
    ("level", "neighbours", "sensitivity", "factor"),
    [
        (0.5, "add_remove", 0.5, 2),
        (0.1, "add_remove", 0.9, 2),
        (5e-324, "add_remove", 1.0, 2),
        (0, "add_remove", 1.0, 1),
        (1, "add_remove", 1.0, 1),
        (0.5, "replace_one", 1.0, 2),
        (0, "replace_one", 1.0, 2),
        (1, "replace_one", 1.0, 2),
    ],
)
def test_the_sensitivity(level: float, neighbours: Any, sensitivity: float, factor: int) -> None:
    mechanism = dps.mechanisms.QuantileMechanism(epsilon=0.5, level=level, bounds=(0, 1), neighbours=neighbours)
    assert mechanism.sensitivity == pytest.approx(sensitivity)
    assert Fraction(mechanism.sensitivity) >= (1 - Fraction(level) if level < 0.5 else Fraction(level))
    assert mechanism.scale == pytest.approx(2 * factor * sensitivity)
    assert mechanism.monotonic is (factor == 1)
    assert mechanism.event == dps.accounting.BoundedRangeEvent(epsilon=0.5)


def test_copies_of_fractions() -> None:
    third = Fraction(1, 3)
    mechanism = dps.mechanisms.QuantileMechanism(epsilon=1.0, level=0.25, bounds=(third, 3), step=third)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism


def test_the_grid_is_that_of_the_decimals() -> None:
    mechanism = dps.mechanisms.QuantileMechanism(epsilon=9.0, level=0.5, bounds=(0.1, 0.7), step=0.1)
    assert mechanism.pmf([0.3] * 9).argmax() == 2
    assert {mechanism.draw([0.3] * 9) for _ in range(200)} <= {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7}
    with pytest.raises(InvalidParameterError):
        dps.mechanisms.QuantileMechanism(epsilon=1.0, level=0.5, bounds=(0, 1)).pmf([0.5])


@pytest.mark.parametrize("epsilon", [1.0, 1e-6])
@pytest.mark.parametrize("step", [None, 0.5])
def test_a_nan_among_many_values_is_refused(epsilon: float, step: float | None) -> None:
    values = np.linspace(0.0, 1.0, 5000)
    mechanism = dps.mechanisms.QuantileMechanism(epsilon=epsilon, level=0.5, bounds=(0, 1), step=step)
    assert 0.0 <= mechanism.draw(values) <= 1.0
    for place in (0, 2500, 4999):
        with pytest.raises(InvalidDataError):
            mechanism.draw(np.insert(values, place, math.nan))


BAD_ARGUMENTS: dict[str, dict[str, Any]] = {
    "reversed bounds": {"bounds": (120, 0)},
    "equal bounds": {"bounds": (1, 1.0)},
    "infinite bound": {"bounds": (0, math.inf)},
    "NaN bound": {"bounds": (math.nan, 1)},
    "one bound": {"bounds": (0,)},
    "text bounds": {"bounds": "01"},
    "no bounds": {"bounds": None},
    "boolean bound": {"bounds": (False, 1)},
    "huge bound": {"bounds": (0, 10**400)},
    "level below": {"level": -0.1},
    "level above": {"level": 1.0000001},
    "level NaN": {"level": math.nan},
    "level boolean": {"level": True},
    "level text": {"level": "0.5"},
    "step that does not divide": {"step": 7},
    "step zero": {"step": 0},
    "step negative": {"step": -1},
    "step NaN": {"step": math.nan},
    "step too fine": {"step": 2.0**-60},
    "step beyond": {"step": 240},
    "epsilon zero": {"epsilon": 0},
    "epsilon NaN": {"epsilon": math.nan},
    "neighbours": {"neighbours": "swap"},
}


@pytest.mark.parametrize("wrong", BAD_ARGUMENTS.values(), ids=BAD_ARGUMENTS)
def test_bad_arguments(wrong: dict[str, Any]) -> None:
    arguments = {"level": 0.5, "bounds": (0, 120), "epsilon": 1.0} | wrong
    with pytest.raises(InvalidParameterError) as caught:
        drawn([SECRET], **arguments)
    assert caught.value.name == next(iter(wrong))
    assert_says_nothing(caught.value)


ALLOWED_HERE = {"no scores", "empty array", "empty integers", "empty arrow", "empty polars"}
ALLOWED_HERE |= {"infinity", "minus infinity", "infinity far in"}


@pytest.mark.parametrize("name", sorted(set(BAD_SCORES) - ALLOWED_HERE))
@pytest.mark.parametrize("step", [None, 1])
def test_bad_values(name: str, step: int | None) -> None:
    mechanism = dps.mechanisms.QuantileMechanism(epsilon=1.0, level=0.5, bounds=(0, 120), step=step)
    for call in (mechanism.draw, lambda values: mechanism.cdf(values, [1.0])):
        with pytest.raises(InvalidDataError) as caught:
            call(BAD_SCORES[name])
        assert caught.value.name == "values"
        assert_says_nothing(caught.value)
        assert "score" not in str(caught.value)


@pytest.mark.parametrize("name", sorted(ALLOWED_HERE))
def test_no_values_and_infinite_ones(name: str) -> None:
    assert 0.0 <= drawn(BAD_SCORES[name], 0.5, bounds=(0, 120), epsilon=1.0) <= 120.0
