"""``--plot``: refused before any work if it cannot be drawn, and drawn before anything is printed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dpselect.charts import Mark, altair, save
from dpselect.charts.files import SUFFIXES, renderer
from dpselect.cli.plan.figures import exact, figure
from dpselect.cli.plan.findings import Findings
from dpselect.cli.plan.setup import CHOICES
from dpselect.errors import InvalidParameterError, Shown
from dpselect.planning.plan_chart import plot_plan

_POINTS = 41
"""Number of points of each line; a million scores are read once for each point."""

_ROOM = 1.5
"""The chart ends at this many times the epsilon of a wanted error."""

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
    """Expected errors and bounds over the epsilons of the table (around it, if there is only one), as a file.

    Wanted errors are marked, at the epsilon that reaches them with the first mechanism.

    Raises:
        InvalidParameterError: `path` cannot be written.
    """
    setup, marks = findings.setup, list(_marks(findings))
    wanted = [mark.x for mark in marks]
    ends = (
        min([setup.epsilons[0], *(x / _ROOM for x in wanted)]),
        max([setup.epsilons[-1], *(x * _ROOM for x in wanted)]),
    )
    low, high = (min(max(end, _LOWEST), _HIGHEST) for end in ends)
    if low == high:
        low, high = low / 10.0, high * 10.0
    chart = plot_plan(
        setup.scores,
        n=setup.count,
        epsilons=[*np.geomspace(low, high, _POINTS), *wanted],
        sensitivity=setup.sensitivity,
        monotonic=setup.monotonic,
        confidence=setup.confidence,
        mechanisms={choice.name: choice.kind for choice in CHOICES.values()},
        marks=marks,
    )
    try:
        save(chart, path)
    except InvalidParameterError as refused:  # with the name of the option
        raise InvalidParameterError("plot", refused.got, refused.expected, refused.hint) from None


def _marks(findings: Findings) -> Iterator[Mark]:
    """Each wanted error that has a place in the chart, and the epsilon that reaches it."""
    first = next(iter(CHOICES))
    for target in findings.targets:
        is_bound, price = "within" in target.wanted, target.epsilon[first]
        error = target.wanted["within" if is_bound else "expected_error"]
        if all(_LOWEST <= each <= _HIGHEST for each in (error, price)):
            label = f"{'within' if is_bound else 'expected error'} {exact(error)}: epsilon = {figure(price, up=True)}"
            yield Mark(label=label, x=price, y=error)
