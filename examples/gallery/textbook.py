"""The column of formulas as they are printed: each a few lines with NumPy, some of them of `tests.attacks.naive`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from examples.gallery.attacks import FAR, Sampler, in_two_processes
from tests.attacks import naive

_RNG = np.random.default_rng()


def _noise(scale: float) -> float:
    return naive.laplace(_RNG, scale)


def _mean(values: Sequence[float], lower: float = 0.0, upper: float = 1.0) -> float:
    return float(np.mean(np.clip(values, lower, upper))) + _noise((upper - lower) / len(values))


def _median(values: Sequence[float]) -> float:
    return naive.median(values, 0.0, 1.0, 0.5, _RNG)  # the score moves by 1 if a row is replaced


def _best(scores: Sequence[int]) -> int:
    return int(np.argmax([score + _noise(2.0) for score in scores]))


def _far_mean(values: Sequence[float]) -> float:
    return _mean(values, FAR, FAR + 2)


def _counts(values: Sequence[str]) -> dict[str, float]:
    return {value: count + _noise(1.0) for value, count in Counter(values).items()}


def _people(rows: Sequence[tuple[str, str]]) -> float:
    return len(rows) + _noise(1.0)


def _number(count: int) -> float:
    return naive.noisy_number(count, 1.0, _RNG)


SAMPLERS: dict[str, Sampler] = {
    "number": _number,
    "mean": _mean,
    "median": _median,
    "equal": _median,
    "close": _best,
    "whole": _best,
    "far": _far_mean,
    "order": _far_mean,
    "nan": _mean,
    "values": _counts,
    "rows": _people,
    "fork": in_two_processes(_number),
}
