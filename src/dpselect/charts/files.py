"""Charts as files."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from dpselect.charts.extra import altair, renderer
from dpselect.charts.page import page
from dpselect.errors import InvalidParameterError, Shown

if TYPE_CHECKING:
    from altair import ConcatChart, LayerChart

SUFFIXES = (".svg", ".png", ".html", ".json")

_PIXELS_PER_POINT = 2
"""Of a PNG, so that it stays sharp on paper and on dense screens."""


def save(chart: LayerChart | ConcatChart, path: str | os.PathLike[str]) -> None:
    """Write `chart` to a file whose suffix says how: ``.svg``, ``.png``, ``.html`` (with all it needs inside) or
    ``.json`` (the Vega-Lite specification).

    Args:
        chart: what `lines`, `line_panels`, `bars` or a ``plot_`` function returned.
        path: a file in an existing folder; one that is there is replaced, once the picture is complete.

    Raises:
        InvalidParameterError: another suffix, or a file that cannot be written.
        MissingExtraError: the extra ``plots`` is not installed.
    """
    try:
        name = cast(object, os.fspath(path))
    except TypeError:
        name = None
    if not isinstance(name, str) or "\0" in name:
        raise InvalidParameterError("path", path, "the path of a file")
    target = Path(name)
    suffix = target.suffix.lower()
    if suffix not in SUFFIXES:
        raise InvalidParameterError("path", Shown(repr(str(target))), f"a file name that ends in {_listed(SUFFIXES)}")
    picture = _picture(chart, suffix)
    try:
        target.write_bytes(picture)
    except OSError as failure:
        reason = os.strerror(failure.errno) if failure.errno else "writing failed"
        raise InvalidParameterError(
            "path", Shown(repr(str(target))), "a file that can be written", f"{reason}."
        ) from None


def _picture(chart: object, suffix: str) -> bytes:
    """What the file is to hold."""
    if not isinstance(chart, altair().TopLevelMixin):
        raise InvalidParameterError("chart", chart, "a chart")
    drawn = cast(Any, chart)
    if suffix == ".json":
        return f"{drawn.to_json(indent=1)}\n".encode()
    if suffix == ".html":
        return page(drawn).encode()
    renderer()  # the error of the plotting library, were it missing, would not name the extra
    if suffix == ".png":
        image = io.BytesIO()
        drawn.save(image, format="png", scale_factor=_PIXELS_PER_POINT)
        return image.getvalue()
    text = io.StringIO()
    drawn.save(text, format="svg")
    return text.getvalue().encode()


def _listed(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
