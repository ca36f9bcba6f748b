"""Pictures in about half the bytes, without any visible change, and always the same: the repository has them."""

from __future__ import annotations

import re

_LINE = re.compile(
    r'<line transform="translate\(([^,]+),([^)]+)\)" x2="([^"]+)" y2="([^"]+)" '
    r'stroke="([^"]+)" stroke-width="1" opacity="1"/>'
)
_LINES = re.compile(f"(?:{_LINE.pattern}){{2,}}")
_FONT = re.compile(r' font-family="[^"]*"')
_CLIP = re.compile(r"(?<=[\"#])clip[0-9]+(?=[\")])")
_NOTHING = (
    re.compile(r"<text[^>]*/>"),
    re.compile(r'<path class="(?:fore|back)ground"[^>]* d="(?:M0,0h0v0h0Z)?"[^>]*/>'),
    re.compile(r' (?:opacity="1"|pointer-events="none")'),
)
"""What is not visible: labels without words, frames without an area, attributes that repeat the default."""


def compact(picture: str) -> str:
    """`picture`, an SVG file, with the lines of a grid in one path and the font named once.

    >>> line = '<line transform="translate(0,{})" x2="9" y2="0" stroke="#ddd" stroke-width="1" opacity="1"/>'
    >>> compact(line.format(5) + line.format(6) + '<text x="1"/>')
    '<path d="M0,5l9,0M0,6l9,0" stroke="#ddd" fill="none"/>'
    """
    picture = _LINES.sub(lambda run: _one_path_a_colour(run.group()), picture)
    for pattern in _NOTHING:
        picture = pattern.sub("", picture)
    fonts = set(_FONT.findall(picture))
    if len(fonts) == 1:
        picture = _FONT.sub("", picture).replace("<svg", f"<svg{fonts.pop()}", 1)
    return _renumbered(picture)


def _renumbered(picture: str) -> str:
    """Clipping areas numbered from 1, because the renderer goes on counting from picture to picture.

    >>> _renumbered('<clipPath id="clip7"/><g clip-path="url(#clip9)"/><clipPath id="clip9"/>')
    '<clipPath id="clip1"/><g clip-path="url(#clip2)"/><clipPath id="clip2"/>'
    """
    numbers: dict[str, int] = {}
    return _CLIP.sub(lambda found: f"clip{numbers.setdefault(found.group(), len(numbers) + 1)}", picture)


def _one_path_a_colour(lines: str) -> str:
    paths: dict[str, str] = {}
    for x, y, across, down, colour in _LINE.findall(lines):
        paths[colour] = paths.get(colour, "") + f"M{x},{y}l{across},{down}"
    return "".join(f'<path d="{path}" stroke="{colour}" fill="none"/>' for colour, path in paths.items())
