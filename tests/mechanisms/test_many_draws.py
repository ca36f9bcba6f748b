"""Many draws of numbers at once: the law of each, that they are independent, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect.errors import InvalidParameterError
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.laws.test_bad_input import SECRET, assert_says_nothing

LINES = dps.mechanisms.PiecewiseLinearMechanism(epsilon=2.0, sensitivity=1.0)
CONCAVE = dps.mechanisms.ConcaveMechanism(epsilon=2.0, sensitivity=1.0)
PRICE = dps.mechanisms.PriceMechanism(epsilon=1.5, bounds=(0, 10))
GIVEN: dict[str, tuple[Any, tuple[Any, ...], dict[str, Any]]] = {
    "lines": (LINES, ([0.0, 1.0, 4.0, 6.0], [0.0, 3.0, 0.0, 1.0]), {}),
    "tails": (LINES, ([0.0, 2.0], [1.0, -1.0]), {"left_slope": 0.5, "right_slope": -2.0}),
    "concave": (CONCAVE, ([-1.0, 3.0], [2.0, -6.0]), {}),
    "price": (PRICE, ([4.0, 4.5, 6.0, 6.0, 9.0, 12.0, 3.0],), {}),
    "no offers": (PRICE, ([],), {}),
    "2000 pieces": (LINES, (np.linspace(0, 5, 2001), np.abs(np.sin(np.arange(2001.0) / 400))), {}),
    # Revenues of 1.2e17 and more, beyond what doubles tell apart, at a scale that they matter at.
    "huge revenues": (
        dps.mechanisms.PriceMechanism(epsilon=1.0, bounds=(0, 2**54)),
        (np.repeat([2.0**54 - 16, 2.0**53 - 9, 2.0**52 + 1], [8, 8, 16]),),
        {},
    ),
}
every_kind = pytest.mark.parametrize(("mechanism", "data", "options"), GIVEN.values(), ids=GIVEN)


@every_kind
def test_each_of_many_draws_has_the_law(mechanism: Any, data: tuple[Any, ...], options: dict[str, Any]) -> None:
    draws = mechanism.draw_many(*data, 20_000, **options)
    cuts = np.quantile(draws, np.linspace(0.05, 0.95, 19))
    law = np.diff(np.concatenate([[0.0], mechanism.law(*data, **options).cdf(cuts), [1.0]]))
    fresh = mechanism.draw_many(*data, 20_000, **options)  # other draws than those that the cuts come from
    counts = np.histogram(fresh, bins=np.concatenate([[-np.inf], cuts, [np.inf]]))[0]
    assert p_value(counts, law) >= NEVER
    wrong = law * np.where(np.arange(law.size) % 2, 0.8, 1.2)
    assert p_value(counts, wrong / wrong.sum()) < NEVER


def test_many_draws_are_independent() -> None:
    data = [0.0, 1.0], [0.0, 0.0]
    first, second = LINES.draw_many(*data, 20_000), np.array([LINES.draw(*data) for _ in range(20_000)])
    boxes = np.histogram2d(first, second, bins=4, range=[(0, 1), (0, 1)])[0].ravel()
    assert p_value(boxes, np.full(16, 1 / 16)) >= NEVER
    copied = np.histogram2d(first, first, bins=4, range=[(0, 1), (0, 1)])[0].ravel()
    assert p_value(copied, np.full(16, 1 / 16)) < NEVER


DENSITY = dps.mechanisms.DensityMechanism(epsilon=1.0, k=1)
OF_SECRETS = {
    "lines": lambda size: LINES.draw_many([SECRET, SECRET + 1.0], [0.0, 0.0], size),
    "concave": lambda size: CONCAVE.draw_many([SECRET, SECRET + 1.0], [1.0, -1.0], size),
    "price": lambda size: PRICE.draw_many([SECRET], size),
    "density": lambda size: DENSITY.draw_many([3, 1], size),
}


@pytest.mark.parametrize("size", [0, -1, 1.5, "3", None, True, 10**20, 10**49])
@pytest.mark.parametrize("draw", OF_SECRETS.values(), ids=OF_SECRETS)
def test_sizes_that_are_none(draw: Callable[[Any], Any], size: Any) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        draw(size)
    assert caught.value.name == "size"
    assert_says_nothing(caught.value)


def test_many_draws_are_refused_as_one_is() -> None:
    with pytest.raises(InvalidParameterError, match="breakpoints"):
        LINES.draw_many([SECRET, SECRET], [1.0, 2.0], 3)
    with pytest.raises(InvalidParameterError, match="slopes"):
        CONCAVE.draw_many([SECRET, 1e9], [1.0, 2.0], 3)
    with pytest.raises(dps.errors.InvalidDataError, match="NaN"):
        PRICE.draw_many([SECRET, np.nan], 3)
