"""Charts as pictures that a page shows by itself, on paper and in the dark."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from dpselect.charts.theme import DARK, LINE_COLOURS, MEDIUM, WIDTH

_KEPT = 64
"""Pictures."""

NARROW = 240
"""Pixels of the frame of a chart on a phone, where it is shown as large as it is drawn."""

LOOKS = ("light", "dark", "narrow-light", "narrow-dark")
"""The ways in which a picture is shown."""

_SIZE = re.compile(r'<svg [^>]*?width="([0-9.]+)" height="([0-9.]+)"')

_IN_THE_DARK = {
    "white": "#1d2023",
    DARK: "#e6e6e6",
    MEDIUM: "#b9bec4",
    "#000": "#e6e6e6",
    "black": "#e6e6e6",
    "#d4d4d4": "#454b52",
    "#ededed": "#2c3136",
    "#e4e4e4": "#3a4047",
    "#0b4a8f": "#7db4f0",
    **dict(zip(LINE_COLOURS, ("#f2f2f2", "#f08bb4", "#7db4f0", "#5fd0b5", "#b9a6f2", "#f0a94a"), strict=True)),
}
"""Colours of the theme, and what is as plain on a dark page."""

_PAINT = re.compile(r'(?<=")(' + "|".join(map(re.escape, _IN_THE_DARK)) + r')(?=")')


def in_the_dark(svg: str) -> str:
    """The same picture for a dark page.

    >>> in_the_dark('<rect fill="white"/><text fill="#222222">white</text>')
    '<rect fill="#1d2023"/><text fill="#e6e6e6">white</text>'
    """
    return _PAINT.sub(lambda found: _IN_THE_DARK[found[1]], svg)


class PictureCache:
    """The latest pictures, each drawn once: to draw one takes longer than all the rest of a page."""

    def __init__(self) -> None:
        self._held = OrderedDict[str, str]()
        self._lock = Lock()

    def once(self, key: str, draw: Callable[[], str]) -> str:
        """The picture of this name."""
        with self._lock:
            held = self._held.get(key)
        if held is None:
            held = draw()
            with self._lock:
                self._held[key] = held
                while len(self._held) > _KEPT:
                    self._held.popitem(last=False)
        return held


def narrowed(size: tuple[int, int]) -> tuple[int, int]:
    """The size of a picture whose frame is `NARROW` instead of `WIDTH` wide.

    >>> narrowed((500, 330))
    (340, 330)
    """
    return size[0] - WIDTH + NARROW, size[1]


def size_of(svg: str) -> tuple[int, int]:
    """Width and height, so that a page knows them before the picture has come."""
    found = _SIZE.search(svg)
    return (0, 0) if found is None else (round(float(found[1])), round(float(found[2])))
