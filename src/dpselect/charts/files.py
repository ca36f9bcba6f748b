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


class _ScriptSafe(json.JSONEncoder):
    """JSON within a page: a label with ``</script>`` in it does not end the script."""

    def encode(self, o: object) -> str:
        return super().encode(o).replace("<", "\\u003c")


# The menu of a page saves the picture, and has no link that would hand the data to a web site.
_MENU = {"export": True, "source": False, "compiled": False, "editor": False}
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


def altair() -> ModuleType:
    """The library every chart is made with; if it is not installed, the error says how to."""
    return _loaded("altair")


def _loaded(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as missing:
        raise MissingExtraError("plots", "plots") from missing


def save(chart: TopLevelMixin, path: str | os.PathLike[str]) -> None:
    """Write a chart of Altair to a file: SVG, PNG, HTML with all it needs inside, or the JSON of Vega-Lite.

    Args:
        chart: what a ``plot_`` function returned, or any other chart of Altair.
        path: a file in an existing folder, whose suffix says how; it is replaced once the picture is complete.

    Raises:
        InvalidParameterError: another suffix, or a file that cannot be written.
        MissingExtraError: the extra ``plots`` is not installed.
    """
    if not isinstance(cast(object, path), str | os.PathLike) or "\0" in str(path):
        raise InvalidParameterError("path", path, "the path of a file")
    target = Path(path)
    shown, suffix = Shown(repr(str(target))), target.suffix.lower()
    if suffix not in _OPTIONS:
        raise InvalidParameterError("path", shown, f"a file name that ends in one of {', '.join(_OPTIONS)}")
    if not isinstance(cast(object, chart), altair().TopLevelMixin):
        raise InvalidParameterError("chart", chart, "a chart")
    if suffix != ".json":
        _loaded("vl_convert")  # the drawing library's own error, were it missing, would not name the extra
    file, drawn = io.BytesIO() if suffix == ".png" else io.StringIO(), cast(Any, chart)
    drawn.save(file, format=suffix[1:], **_OPTIONS[suffix])
    written = file.getvalue()
    if isinstance(written, str) and suffix == ".html":  # a browser's tab shows the title, a screen reader the language
        head = f'<html lang="en">\n<head>\n  <title>{escape(drawn.to_dict().get("description", "chart"))}</title>'
        written = written.replace("<html>\n<head>", head, 1)
    try:
        target.write_bytes(written if isinstance(written, bytes) else written.encode())
    except OSError as failure:
        reason = os.strerror(failure.errno) if failure.errno else "writing failed"
        raise InvalidParameterError("path", shown, "a file that can be written", f"{reason}.") from None


def svg_without_title(chart: TopLevelMixin) -> str:
    """The picture of `chart` as SVG, without its title and subtitle, for a page that says these in its own text."""
    held = {key: value for key, value in chart.to_dict().items() if key != "title"}
    return _loaded("vl_convert").vegalite_to_svg(held)
