"""Run in a process of its own: by how much one `select` raises the peak of memory.

``python -m benchmarks.memory_probe PermuteAndFlip float64 30000000 Zipf`` prints the scores' bytes and the extra bytes.
"""

from __future__ import annotations

import resource
import sys

import numpy as np

import dpselect as dps
from benchmarks.shapes import SHAPES

_PIECE = 1 << 16
_HIGHEST = {"float64": np.inf, "int8": 100}


def peak_bytes() -> int:
    """The most memory this process has held so far; Linux counts in KiB, macOS in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def main(mechanism_name: str, dtype_name: str, n: int, shape: str) -> None:
    """Print ``<bytes of the scores> <bytes the peak grew by>``."""
    mechanism = getattr(dps, mechanism_name)(epsilon=1.0, sensitivity=1.0)
    scores = np.empty(n, dtype=dtype_name)
    cycle = np.minimum(SHAPES[shape](_PIECE), _HIGHEST[dtype_name]).astype(dtype_name)
    for start in range(0, n, _PIECE):  # piece by piece: a temporary as long as the scores would hide one of `select`
        piece = scores[start : start + _PIECE]
        piece[:] = cycle[: piece.size]
    before = peak_bytes()
    mechanism.select(scores)
    print(scores.nbytes, peak_bytes() - before)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
