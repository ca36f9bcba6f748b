"""A figure of the paper: its numbers, its picture, what the paper says of it, and what was found."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from examples.paper.table import Table
from numpy.typing import NDArray

import dpselect as dps
from dpselect.charts import Series

FloatArray = NDArray[np.float64]

EXPONENTIAL, PERMUTE_AND_FLIP, LAPLACE = "exponential mechanism", "permute-and-flip", "noisy max, Laplace noise"
_STYLES = {EXPONENTIAL: 0, PERMUTE_AND_FLIP: 2, LAPLACE: 5}
"""The same line for a mechanism in every picture."""

MECHANISMS = {EXPONENTIAL: dps.ExponentialMechanism, PERMUTE_AND_FLIP: dps.PermuteAndFlip}

SCORE_UNIT = "unit of the scores"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing the paper says of a figure, and what came out; `found` and `holds` are computed, never typed."""

    claim: str
    found: str
    holds: bool


@dataclass(frozen=True, kw_only=True)
class Figure:
    """What is written about one figure.

    Args:
        name: as ``"1a"``, from which the files get their names.
        title: what the picture shows.
        setting: how the numbers were made, and their unit.
        table: the numbers.
        findings: the most important first; the overview shows that one.
        draw: makes the picture.
        beyond: what is added to the paper; empty for nothing.
    """

    name: str
    title: str
    setting: str
    table: Table
    findings: tuple[Finding, ...]
    draw: Callable[[], Any]
    beyond: str = ""

    @property
    def label(self) -> str:
        """As in the paper: ``1(a)`` for ``1a``."""
        return f"{self.name[0]}({self.name[1]})" if len(self.name) > 1 else self.name

    @property
    def picture_name(self) -> str:
        """Of the picture's file."""
        return f"figure_{self.name}.svg"

    @property
    def table_name(self) -> str:
        """Of the numbers' file."""
        return f"figure_{self.name}.csv"


def curve(mechanism: str, x: FloatArray, y: FloatArray) -> Series:
    """The line of one mechanism, alike in every picture."""
    return Series(name=mechanism, x=x, y=y, style=_STYLES[mechanism])


def error_column(mechanism: str, unit: str = "score_units") -> str:
    """What the column of a mechanism's expected errors is called.

    >>> error_column(PERMUTE_AND_FLIP, "records")
    'permute_and_flip_expected_error_records'
    """
    return f"{re.sub('[^a-z]+', '_', mechanism)}_expected_error_{unit}"


def falls(values: FloatArray) -> bool:
    """Whether each of `values` is below the one before.

    >>> falls(np.array([3.0, 2.0, 1.0])), falls(np.array([3.0, 3.0]))
    (True, False)
    """
    return bool((np.diff(values) < 0).all())
