"""``--plot``: refused before any work if it cannot be drawn, and drawn before anything is printed."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from dpselect.charts import altair, save
from dpselect.charts.files import SUFFIXES, renderer
from dpselect.cli.plan.findings import Findings
from dpselect.cli.plan.setup import CHOICES
from dpselect.errors import InvalidParameterError, Shown
from dpselect.planning import plot_error

_POINTS = 41
"""Number of points of each line; a million scores are read once for each point."""

_LOWEST, _HIGHEST = 1e-290, 1e290
"""Epsilons that can be drawn."""


def check_chart_file(path: str) -> None:
    """Refuse early what `draw` would refuse after all the work.

    Raises:
        InvalidParameterError: a name of another kind of file, or no folder to put it into.
        MissingExtraError: the extra ``plots`` is not installed.
    """
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise InvalidParameterError("plot", Shown(repr(path)), f"a file name that ends in one of {' '.join(SUFFIXES)}")
    if not os.path.isdir(target.parent) or os.path.isdir(target):  # unlike Path's methods, neither raises
        raise InvalidParameterError("plot", Shown(repr(path)), "a file in an existing folder")
    altair()
    if target.suffix.lower() != ".json":
        renderer()


def draw(findings: Findings, path: str) -> None:
    """The error bounds over the epsilons of the table (around it, if there is only one), as a file.

    Raises:
        InvalidParameterError: `path` cannot be written.
    """
    setup = findings.setup
    low, high = (min(max(end, _LOWEST), _HIGHEST) for end in (setup.epsilons[0], setup.epsilons[-1]))
    if low == high:
        low, high = low / 10.0, high * 10.0
    chart = plot_error(
        setup.scores,
        n=setup.count,
        epsilons=np.geomspace(low, high, _POINTS),
        sensitivity=setup.sensitivity,
        monotonic=setup.monotonic,
        confidence=setup.confidence,
        mechanisms={choice.name: choice.kind for choice in CHOICES.values()},
    )
    try:
        save(chart, path)
    except InvalidParameterError as refused:  # with the name of the option
        raise InvalidParameterError("plot", refused.got, refused.expected, refused.hint) from None
