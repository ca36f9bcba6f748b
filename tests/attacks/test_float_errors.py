"""A failure or a warning that only some numbers cause tells that somebody has such a number, whoever asked for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpselect as dps

ODD = [5e-324, -5e-324, 1e-310, 1.7976931348623157e308, float("inf"), -float("inf"), float("nan"), -0.0]
"""Numbers that underflow or overflow as soon as they are divided or multiplied."""

BOUNDS = (-1.0, 7.0)

QUESTIONS: dict[str, Callable[[dps.Dataset], dps.Release]] = {
    "mean": lambda data: data.mean("value", bounds=BOUNDS, step=0.8, epsilon=1.0),
    "median": lambda data: data.median("value", bounds=BOUNDS, continuous=True, epsilon=1.0),
    "median of a grid": lambda data: data.median("value", bounds=BOUNDS, step=0.5, epsilon=1.0),
    "quantiles": lambda data: data.quantiles("value", [0.2, 0.6], bounds=BOUNDS, continuous=True, epsilon=1.0),
    "price": lambda data: data.best_price("value", prices=[0.7, 2.0], epsilon=1.0),
    "density": lambda data: data.density("value", bounds=BOUNDS, bins=3, epsilon=1.0),
    "sum": lambda data: data.best_by("kind", candidates=["a", "b"], sum="value", clip=(0, 5), scale=10, epsilon=1.0),
}


def naive(values: np.ndarray) -> float:
    return float(values.sum() / 4)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
@pytest.mark.parametrize("odd", ODD)
def test_no_number_fails_or_warns_whatever_the_caller_set(ask: Callable[[dps.Dataset], Any], odd: float) -> None:
    frame = pd.DataFrame({"unit": range(4), "value": [1.0, 2.0, 3.0, odd], "kind": list("abab")})
    with np.errstate(all="raise"):
        ask(dps.Dataset(frame, unit="unit"))


@pytest.mark.parametrize("score", ["absolute", "squared"])
def test_the_mean_of_an_array_does_not_either(score: Any) -> None:
    mechanism = dps.mechanisms.MeanMechanism(
        epsilon=1.0, bounds=BOUNDS, step=0.8, neighbours="replace_one", score=score
    )
    for odd in ODD:
        if not np.isnan(odd):
            with np.errstate(all="raise"):
                mechanism.draw(np.array([0.0, odd]))


def test_the_naive_mean_does() -> None:
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        naive(np.array([0.0, 5e-324]))
