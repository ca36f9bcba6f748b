"""How much memory a selection takes beside the scores, each measured in a fresh process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from itertools import product

from benchmarks.line import Line
from benchmarks.shapes import SHAPES

SIZES = {"float64": 30_000_000, "int8": 200_000_000}
"""About 200 MB of scores: big enough that the 5 % asked for are far above what any call takes."""


def lines() -> Iterator[Line]:
    """One for each mechanism, type and shape."""
    mechanisms = {"EM": "ExponentialMechanism", "PF": "PermuteAndFlip"}
    for (dtype, n), (name, mechanism), shape in product(SIZES.items(), mechanisms.items(), SHAPES):
        yield Line(
            what="extra memory of a `select`, of the scores' own",
            case=f"{name}, {shape}",
            n=n,
            dtype=dtype,
            value=100 * extra_share(mechanism, dtype, n, shape),
            unit="%",
            at_most=5.0,
        )


def extra_share(mechanism: str, dtype: str, n: int, shape: str) -> float:
    """Bytes the peak grows by during one `select`, as a share of the bytes of the scores."""
    command = [sys.executable, "-m", "benchmarks.memory_probe", mechanism, dtype, str(n), shape]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    scores_bytes, extra_bytes = map(int, printed.split())
    return extra_bytes / scores_bytes
