"""The mechanisms of the figures, the same in every picture and file."""

from __future__ import annotations

import re

from examples.figures.figure import FloatArray

import dpselect as dps
from dpselect.charts import Series, styles_of

EXPONENTIAL, PERMUTE_AND_FLIP, LAPLACE = "exponential mechanism", "permute-and-flip", "noisy max, Laplace noise"
MECHANISMS = {EXPONENTIAL: dps.ExponentialMechanism, PERMUTE_AND_FLIP: dps.PermuteAndFlip}

SCORE_UNIT = "unit of the scores"


def curve(mechanism: str, x: FloatArray, y: FloatArray) -> Series:
    """The line of one mechanism, the same in every picture."""
    return Series(name=mechanism, x=x, y=y, style=styles_of([mechanism])[0])


def error_column(mechanism: str, unit: str = "score_units") -> str:
    """What the column of a mechanism's expected errors is called.

    >>> error_column(PERMUTE_AND_FLIP, "records")
    'permute_and_flip_expected_error_records'
    """
    return f"{re.sub('[^a-z]+', '_', mechanism)}_expected_error_{unit}"
