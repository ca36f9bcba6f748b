"""What the first lines of any chart look like, and how high its frame is: read from a chart that is drawn for it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from dpselect import charts
from dpselect.charts import Axis, Series

STYLES = 6


@cache
def drawn() -> dict[str, Any]:
    """The specification of a chart with a line in each style."""
    lines = [Series(name=f"{at}", x=np.arange(2.0), y=np.full(2, STYLES - at), style=at) for at in range(STYLES)]
    return charts.lines(lines, x=Axis(title="x"), y=Axis(title="y"), title="Styles").to_dict()


@cache
def styles() -> list[tuple[str, tuple[float, ...]]]:
    """Colour and dash of each style."""
    line = next(layer for layer in drawn()["layer"] if layer["mark"]["type"] == "line")["encoding"]
    colours, dashes = line["color"]["scale"], line["strokeDash"]["scale"]
    assert colours["domain"] == dashes["domain"]
    found = dict(zip(colours["domain"], zip(colours["range"], map(tuple, dashes["range"]), strict=True), strict=True))
    return [found[f"{at}"] for at in range(STYLES)]


def height() -> float:
    """Of the frame, in pixels."""
    return drawn()["height"]
