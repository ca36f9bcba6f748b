"""Words and numbers on a chart."""

from __future__ import annotations

import textwrap

from dpselect.charts.checks import text
from dpselect.errors import InvalidParameterError

_TITLE_WIDTH, _SUBTITLE_WIDTH = 80, 100
"""Letters in a line, at the font sizes of the house style, of a chart 650 pixels wide."""

_LONGEST_LABEL = 32


def heading(title: object, subtitle: object = "", *remarks: str) -> dict[str, object]:
    """Title and subtitle, followed by remarks, in lines that fit.

    >>> heading("Expected error")
    {'text': ['Expected error']}
    """
    shown = text("title", title, "a text that says what is shown")
    if not isinstance(subtitle, str):
        raise InvalidParameterError("subtitle", subtitle, "a text")
    lines: dict[str, object] = {"text": _wrapped(shown, _TITLE_WIDTH)}
    below = _wrapped(" ".join(filter(None, [subtitle.strip(), *remarks])), _SUBTITLE_WIDTH)
    if below:
        lines["subtitle"] = below
    return lines


def _wrapped(words: str, width: int) -> list[str]:
    return textwrap.wrap(words, width, break_on_hyphens=False)


def number_text(value: float, *, zeros: bool = False) -> str:
    """A finite number with three significant digits, as people write it; with `zeros` also where the last are 0.

    >>> number_text(0.25, zeros=True), number_text(30.0, zeros=True), number_text(0, zeros=True)
    ('0.250', '30.0', '0')
    >>> number_text(0.25), number_text(1234567.0), number_text(0.0000314), number_text(-2), number_text(0)
    ('0.25', '1.23e6', '3.14e−5', '−2', '0')
    """
    magnitude = abs(value)
    sign = "−" if value < 0 else ""
    if magnitude == 0:
        return "0"
    digits, exponent = f"{magnitude:.2e}".split("e")
    power = int(exponent)
    if -4 <= power < 6:
        decimals = max(0, 2 - power)
        plain = f"{round(magnitude, 2 - power):,.{decimals}f}"
        return sign + (plain if zeros or not decimals else plain.rstrip("0").rstrip("."))
    return sign + scientific(digits if zeros else f"{float(digits):g}", power)


def scientific(digits: str, power: int) -> str:
    """``digits * 10**power``, without raised digits: common fonts lack some of them, and mixed fonts look broken.

    >>> scientific("1", -7), scientific("2.5", 6)
    ('1e−7', '2.5e6')
    """
    return f"{digits}e{power}".replace("-", "−")


def unique_labels(labels: list[str]) -> list[str]:
    """`labels` on one line each and short; where two become the same, with their index.

    >>> unique_labels(["home page", "x" * 40, "x" * 50, ""])[1:]
    ['xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… [1]', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… [2]', '(empty)']
    """
    short = [_short(label) for label in labels]
    counts: dict[str, int] = {}
    for label in short:
        counts[label] = counts.get(label, 0) + 1
    marked = [label if counts[label] == 1 else f"{label} [{index}]" for index, label in enumerate(short)]
    if len(set(marked)) == len(marked):
        return marked
    return [f"{label} [{index}]" for index, label in enumerate(short)]  # some label already ended like that


def _short(label: str) -> str:
    line = "".join(letter if letter.isprintable() else " " for letter in label).strip()
    if not line:
        return "(empty)"
    return line if len(line) <= _LONGEST_LABEL else line[: _LONGEST_LABEL - 1] + "…"
