"""maturin, with a word on the terminal first: pip shows nothing of what a build prints, and this one takes minutes."""

from __future__ import annotations

from contextlib import suppress

from maturin import *  # noqa: F403
from maturin import build_wheel as _build_wheel


def build_wheel(*arguments: object, **named: object) -> str:
    """A wheel; where there is a terminal, it says how long that takes."""
    with suppress(OSError), open("/dev/tty", "w", encoding="utf-8") as terminal:
        terminal.write("\nCompiling the core: about 2 minutes on two cores. pip install -v shows each crate.\n")
    return _build_wheel(*arguments, **named)
