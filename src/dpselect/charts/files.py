"""Charts as files, and the optional libraries that draw them, loaded with the first chart."""

from __future__ import annotations

import io
import json
import os
from html import escape
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from dpselect.errors import InvalidParameterError, MissingExtraError, Shown

if TYPE_CHECKING:
    from altair import TopLevelMixin

_MENU = {"export": True, "source": False, "compiled": False, "editor": False}
"""Of a page: it saves the picture, and has no link that would hand the data to a web site."""


class _ScriptSafe(json.JSONEncoder):
    """JSON within a page: a label with ``</script>`` in it does not end the script."""

    def encode(self, o: object) -> str:
        return super().encode(o).replace("<", "\\u003c")


_OPTIONS: dict[str, dict[str, Any]] = {
    ".svg": {},
    ".png": {"scale_factor": 2},  # so that it stays sharp on paper and on dense screens
    ".html": {
        "inline": True,
        "json_kwds": {"cls": _ScriptSafe},
        "embed_options": {"mode": "vega-lite", "renderer": "svg", "actions": _MENU},
    },
    ".json": {"json_kwds": {"indent": 1}},
}
SUFFIXES = tuple(_OPTIONS)


def altair() -> ModuleType:
    """The library every chart is made with; if it is not installed, the error says how to."""
    return _loaded("altair")


def renderer() -> ModuleType:
    """The library that turns charts into pictures and offline pages; if it is not installed, the error says how to."""
    return _loaded("vl_convert")


def _loaded(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as missing:
        raise MissingExtraError("plots", "plots") from missing


def save(chart: TopLevelMixin, path: str | os.PathLike[str]) -> None:
    """Write `chart` to a file whose suffix says how: ``.svg``, ``.png``, ``.html`` (with all it needs inside) or
    ``.json`` (the Vega-Lite specification).

    Args:
        chart: what a ``plot_`` function returned, or any other chart of Altair.
        path: a file in an existing folder; one that is there is replaced, once the picture is complete.

    Raises:
        InvalidParameterError: another suffix, or a file that cannot be written.
        MissingExtraError: the extra ``plots`` is not installed.
    """
    if not isinstance(cast(object, path), str | os.PathLike) or "\0" in str(path):
        raise InvalidParameterError("path", path, "the path of a file")
    target = Path(path)
    shown, suffix = Shown(repr(str(target))), target.suffix.lower()
    if suffix not in SUFFIXES:
        raise InvalidParameterError("path", shown, f"a file name that ends in one of {', '.join(SUFFIXES)}")
    if not isinstance(cast(object, chart), altair().TopLevelMixin):
        raise InvalidParameterError("chart", chart, "a chart")
    content = _content(chart, suffix)
    try:
        target.write_bytes(content)
    except OSError as failure:
        reason = os.strerror(failure.errno) if failure.errno else "writing failed"
        raise InvalidParameterError("path", shown, "a file that can be written", f"{reason}.") from None


def _content(chart: Any, suffix: str) -> bytes:
    """What the file is to hold."""
    if suffix != ".json":
        renderer()  # the drawing library's own error, were it missing, would not name the extra
    file = io.BytesIO() if suffix == ".png" else io.StringIO()
    chart.save(file, format=suffix[1:], **_OPTIONS[suffix])
    written = file.getvalue()
    if isinstance(written, bytes):
        return written
    if suffix == ".html":  # what a browser's tab shows, and the language for a screen reader
        head = f'<html lang="en">\n<head>\n  <title>{escape(chart.to_dict().get("description", "chart"))}</title>'
        written = written.replace("<html>\n<head>", head, 1)
    return written.encode()


def svg_without_title(chart: TopLevelMixin) -> str:
    """The picture of `chart` as SVG, without its title and subtitle, for a page that says these in its own text.

    Args:
        chart: what a ``plot_`` function returned.

    Raises:
        MissingExtraError: the extra ``plots`` is not installed.
    """
    held = {key: value for key, value in chart.to_dict().items() if key != "title"}
    return renderer().vegalite_to_svg(held)
