"""The column of diffprivlib: its tools with bounds given, and its mechanisms; a warning of its own is an error here."""

from __future__ import annotations

import warnings

import numpy as np
from diffprivlib import BudgetAccountant, mechanisms, tools
from diffprivlib.utils import DiffprivlibCompatibilityWarning, PrivacyLeakWarning
from examples.gallery.attacks import FAR, Sampler, in_two_processes

warnings.simplefilter("error", PrivacyLeakWarning)
warnings.simplefilter("error", DiffprivlibCompatibilityWarning)

_SPENT = {"epsilon": 1.0, "accountant": BudgetAccountant()}
_NUMBER = mechanisms.Laplace(epsilon=1.0, sensitivity=1.0)


def _number(count: int) -> float:
    return _NUMBER.randomise(float(count))


def _mean(values: list[float]) -> float:
    return tools.mean(np.array(values), bounds=(0.0, 1.0), **_SPENT)


def _mean_without_nan(values: list[float]) -> float:
    return tools.nanmean(np.array(values), bounds=(0.0, 1.0), **_SPENT)


def _median(values: list[float]) -> float:
    return tools.median(np.array(values), bounds=(0.0, 1.0), **_SPENT)


def _best(scores: list[int]) -> int:
    return mechanisms.Exponential(epsilon=1.0, sensitivity=1.0, utility=scores).randomise()


def _far_mean(values: list[float]) -> float:
    return tools.mean(np.array(values), bounds=(FAR, FAR + 2), **_SPENT)


SAMPLERS: dict[str, Sampler] = {
    "number": _number,
    "mean": _mean,
    "median": _median,
    "equal": _median,
    "close": _best,
    "whole": _best,
    "far": _far_mean,
    "order": _far_mean,
    "nan": _mean_without_nan,
    "fork": in_two_processes(_number),
}
