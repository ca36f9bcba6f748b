"""The mechanisms that every law is tried on, and what they are tried with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import strategies as st

import dpselect as dps

KINDS: dict[str, Callable[..., Any]] = {
    "exponential mechanism": dps.ExponentialMechanism,
    "permute-and-flip": dps.PermuteAndFlip,
    "Laplace noise": partial(dps.ReportNoisyMax, noise="laplace"),
    "exponential noise": partial(dps.ReportNoisyMax, noise="exponential"),
    "Gumbel noise": partial(dps.ReportNoisyMax, noise="gumbel"),
}

every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)

epsilons = st.floats(0.01, 4.0)


def score_vectors(*, min_size: int = 1, max_size: int = 7) -> st.SearchStrategy[np.ndarray]:
    """Scores of both signs with ties, a few scales apart."""
    size = st.integers(min_size, max_size)
    rounded = hnp.arrays(np.float64, size, elements=st.integers(-8, 8).map(float))
    return st.one_of(rounded, hnp.arrays(np.float64, size, elements=st.floats(-12.0, 12.0)))
