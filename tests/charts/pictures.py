"""Looking at pictures: the words of an SVG, the pixels of a PNG."""

from __future__ import annotations

import struct
import tempfile
import zlib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from dpselect import charts


def saved(chart: Any, suffix: str) -> bytes:
    """What `charts.save` writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"chart{suffix}"
        charts.save(chart, path)
        return path.read_bytes()


def words(chart: Any, role: str = "") -> list[str]:
    """The texts of the picture, or those of one role (``"legend-label"``, ``"axis-label"``, ...), as drawn."""
    root = ElementTree.fromstring(saved(chart, ".svg"))
    groups = [each for each in root.iter() if f"role-{role}" in each.get("class", "").split()] if role else [root]
    found = [text for group in groups for text in group.iter("{http://www.w3.org/2000/svg}text")]
    return ["".join(each.itertext()) for each in found]


def axis_labels(chart: Any, side: str) -> list[str]:
    """The labels along the axes of one side, ``"X"`` or ``"Y"``, as drawn; ticks without a label are left out."""
    root = ElementTree.fromstring(saved(chart, ".svg"))
    axes = [each for each in root.iter() if each.get("aria-label", "").startswith(f"{side}-axis")]
    groups = [each for axis in axes for each in axis.iter() if "role-axis-label" in each.get("class", "").split()]
    shown = [each for group in groups for each in group.iter("{http://www.w3.org/2000/svg}text")]
    return ["".join(each.itertext()) for each in shown if each.get("opacity") != "0" and "".join(each.itertext())]


def pixels(png: bytes) -> np.ndarray:
    """Shape ``(height, width, 3)``: a PNG of 8 bits a channel, on white."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    position, packed, header = 8, b"", b""
    while position < len(png):
        (length,) = struct.unpack(">I", png[position : position + 4])
        kind, body = png[position + 4 : position + 8], png[position + 8 : position + 8 + length]
        header = body if kind == b"IHDR" else header
        packed += body if kind == b"IDAT" else b""
        position += 12 + length
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", header)
    channels = {2: 3, 6: 4}[colour]
    assert (depth, interlaced) == (8, 0)
    rows = np.frombuffer(zlib.decompress(packed), dtype=np.uint8).reshape(height, 1 + width * channels)
    image = np.zeros((height + 1, width + 1, channels), dtype=np.int64)  # with a row above and a column before of zeros
    for y, row in enumerate(rows):
        image[y + 1, 1:] = _unfiltered(int(row[0]), row[1:].reshape(width, channels).astype(np.int64), image[y, :])
    picture = image[1:, 1:]
    if channels == 3:
        return picture
    opacity = picture[..., 3:] / 255
    return np.rint(picture[..., :3] * opacity + 255 * (1 - opacity)).astype(np.int64)


def _unfiltered(kind: int, line: np.ndarray, above: np.ndarray) -> np.ndarray:
    """One line of a PNG, from what was stored and the line above (which begins with one pixel of zeros)."""
    if kind == 0:
        return line
    if kind == 1:
        return np.cumsum(line, axis=0) % 256
    if kind == 2:
        return (line + above[1:]) % 256
    done = np.zeros_like(above)
    for x in range(len(line)):
        for channel in range(line.shape[1]):
            left, up, corner = int(done[x, channel]), int(above[x + 1, channel]), int(above[x, channel])
            if kind == 3:
                guess = (left + up) // 2
            else:
                guess = min((left, up, corner), key=lambda value, sum_=left + up - corner: abs(sum_ - value))
            done[x + 1, channel] = (line[x, channel] + guess) % 256
    return done[1:]


def luminance(colour: str) -> float:
    """Relative luminance of ``#rrggbb``, 0 to 1 (WCAG)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def lightness(colour: str) -> float:
    """CIE L* of ``#rrggbb``, 0 to 100: equal steps look equal in grey."""
    relative = luminance(colour)
    return 116 * relative ** (1 / 3) - 16 if relative > 216 / 24389 else relative * 24389 / 27


def contrast_with_white(colour: str) -> float:
    """From 1 to 21 (WCAG)."""
    return 1.05 / (luminance(colour) + 0.05)
