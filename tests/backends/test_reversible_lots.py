"""One of a unit's whole numbers is chosen by lots that hold the number itself: exact for all of 64 bits, and fair."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from dpselect.backends.rows import reversible_lots
from dpselect.backends.rows.reversible_lots import smallest_lots
from tests.laws.goodness_of_fit import NEVER, p_value

UNITS = 5000
SETS = {
    "both halves differ": [-(2**63), 2**63 - 1, 0, -1, 2**32],
    "same upper half": [1, 2, 3, 4, 5],
    "same lower half": [place << 32 for place in range(-2, 3)],
}


def smallest(units: object, values: object) -> dict[str, np.ndarray]:
    """What is chosen, in the order of the units."""
    rows = pa.table({"who": units, "what": values})
    with duckdb.connect() as connection:
        connection.register("listed", rows)
        found = connection.execute(smallest_lots("(SELECT * FROM listed)", ("who",))).fetchnumpy()
    order = np.argsort(found["who"])
    return {name: np.asarray(column)[order] for name, column in found.items()}


def chosen(values: list[int]) -> np.ndarray:
    """Which of five values each unit chooses."""
    units, order = np.arange(UNITS), np.random.default_rng(3).permutation(UNITS * 5)
    found = smallest(np.repeat(units, 5)[order], np.tile(np.array(values), UNITS)[order])
    assert (found["who"] == units).all()
    return np.array([values.index(each) for each in found["what"].tolist()])


def fit(kept: np.ndarray) -> float:
    return p_value(np.bincount(kept, minlength=5), np.full(5, 0.2))


def test_every_number_comes_back() -> None:
    anywhere = np.random.default_rng(5).integers(-(2**63), 2**63 - 1, 20_000)
    powers = [sign * (1 << shift) + near for sign in (-1, 1) for shift in range(63) for near in (-1, 0, 1)]
    numbers = np.unique([-(2**63), 2**63 - 1, *powers, *anywhere.tolist()])
    found = smallest(np.arange(numbers.size), numbers)
    assert found["what"].dtype == np.int64
    assert (found["what"] == numbers).all()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("values", SETS.values(), ids=SETS)
def test_each_of_a_units_numbers_is_equally_likely_and_chosen_anew(values: list[int]) -> None:
    first, second = chosen(values), chosen(values)
    assert fit(first) > NEVER
    uniform = np.full(25, 0.04)
    assert p_value(np.bincount(first * 5 + second, minlength=25), uniform) > NEVER
    assert p_value(np.bincount(first * 6, minlength=25), uniform) < NEVER  # control: twice the same


@pytest.mark.parametrize("step", ["_first", "_second"])
def test_numbers_that_are_mixed_once_are_noticed(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """Control: each of the two steps is needed for some of the sets."""
    monkeypatch.setattr(reversible_lots, step, lambda half: f"(0 & {half})")
    assert min(fit(chosen(values)) for values in SETS.values()) < NEVER


def test_repeated_rows_and_both_zeros_of_a_unit_choose_one_of_its_numbers() -> None:
    found = smallest([0.0, -0.0, 0.0, 1.0, 1.0] * 100, [7, 8, 7, 9, 9] * 100)
    assert found["who"].tolist() == [0.0, 1.0]
    assert found["what"][0] in (7, 8)
    assert found["what"][1] == 9
    units = np.repeat(np.arange(UNITS), 10)
    found = smallest(units, np.tile([5] * 9 + [7], UNITS))  # however often a number is repeated
    counts = np.bincount(found["what"], minlength=8)[[5, 7]]
    assert p_value(counts, np.array([0.5, 0.5])) > NEVER
    assert p_value(counts, np.array([0.9, 0.1])) < NEVER
