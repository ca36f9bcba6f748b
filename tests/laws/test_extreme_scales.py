"""At scales beyond the doubles' range a draw is the argmax or uniform, and comes as quickly as any other."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import dpselect as dps
from tests.laws.goodness_of_fit import NEVER, p_value

Scores = npt.NDArray[Any]

LAWS: dict[str, Any] = {
    "exponential": dps.ExponentialMechanism,
    "permute_and_flip": dps.PermuteAndFlip,
    "laplace": partial(dps.ReportNoisyMax, noise="laplace"),
}
SHARP = {"epsilon": 1e300, "sensitivity": 1e-300}
BLURRED = {"epsilon": 1e-300, "sensitivity": 1e300}
COUNT = 3000
SECONDS = 20.0
"""Far more than any of it takes on a busy machine, far less than for ever."""

SHAPES: dict[str, Scores] = {
    "whole doubles": np.arange(COUNT, dtype=np.float64),
    "integers": np.arange(COUNT, dtype=np.int64),
    "bytes with ties": np.arange(COUNT).astype(np.int8),
    "the smallest doubles": np.arange(COUNT) * 5e-324,
    "small floats": (np.arange(COUNT) * 1e-44).astype(np.float32),
    "the whole range": np.linspace(-1.0, 1.0, COUNT) * np.finfo(np.float64).max,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("law", LAWS)
def test_sharp_scales_take_the_best_and_peel_in_order(law: str, shape: str) -> None:
    start = time.monotonic()
    scores = np.random.default_rng(1).permutation(SHAPES[shape])
    mechanism = LAWS[law](**SHARP)
    assert scores[mechanism.select(scores)] == scores.max()
    assert (scores[mechanism.select_many(scores, 200)] == scores.max()).all()
    for k in (1, 2, COUNT // 2, COUNT):
        picks = mechanism.peel(scores, k)
        assert (scores[picks] == np.sort(scores)[::-1][:k]).all()
        assert np.unique(picks).size == k
    assert time.monotonic() - start < SECONDS


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("law", LAWS)
def test_blurred_scales_are_uniform(law: str, shape: str) -> None:
    start = time.monotonic()
    scores, cells = SHAPES[shape], 10
    mechanism = LAWS[law](**BLURRED)
    uniform = np.full(cells, 1 / cells)
    for drawn in (mechanism.select_many(scores, 2000), mechanism.peel(scores, 2000)):
        counts = np.bincount(drawn * cells // COUNT, minlength=cells)
        assert p_value(counts, uniform) > NEVER
        assert p_value(np.r_[counts[:5] + counts[5:], np.zeros(5)], uniform) < NEVER, "another law is told from it"
    assert sorted(mechanism.peel(scores, COUNT)) == list(range(COUNT))
    assert time.monotonic() - start < SECONDS
