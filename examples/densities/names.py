"""The methods by name: the same line in every picture, the same column in every file."""

from __future__ import annotations

from examples.figures.figure import FloatArray

from dpselect.charts import Series

KS_SOURCE, KS_BEST = "KS, k = n^(2/3)", "KS, best k"
KS_POINTS = "KS of points, public k"
SMOOTHED = "smoothed, best k"
CUT_OFF, MONOTONE = "noisy, cut off at 0", "noisy, made monotone"

_COLUMNS = {
    KS_SOURCE: "ks_source_error",
    KS_BEST: "ks_best_error",
    KS_POINTS: "ks_points_rule_error",
    SMOOTHED: "smoothed_best_error",
    CUT_OFF: "noisy_cut_off_error",
    MONOTONE: "noisy_monotone_error",
}
LINES = (SMOOTHED, KS_SOURCE, KS_BEST, KS_POINTS, CUT_OFF, MONOTONE)
"""The order of the styles, from solid and black to dotted and light."""

RULE_ERROR, DEFAULT_ERROR = "ks_rule_error", "ks_points_default_error"


def column(method: str) -> str:
    """What the column of a method's expected errors is called.

    >>> column(SMOOTHED)
    'smoothed_best_error'
    """
    return _COLUMNS[method]


def line(method: str, x: FloatArray, y: FloatArray) -> Series:
    """The line of one method, the same in every picture."""
    return Series(name=method, x=x, y=y, style=LINES.index(method))
