"""A figure: its numbers, its picture, what is claimed of it, and what was found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from examples.figures.table import Table
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that is said of a figure, and what came out; `found` and `holds` are computed, never typed."""

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
        beyond: what else there is to say; empty for nothing.
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


def falls(values: FloatArray) -> bool:
    """Whether each of `values` is below the one before.

    >>> falls(np.array([3.0, 2.0, 1.0])), falls(np.array([3.0, 3.0]))
    (True, False)
    """
    return bool((np.diff(values) < 0).all())
