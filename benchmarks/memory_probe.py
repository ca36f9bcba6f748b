"""Run in a process of its own: by how much one `select` raises the peak of memory.

``python -m benchmarks.memory_probe PermuteAndFlip float64 30000000 Zipf`` prints the scores' bytes and the extra bytes.
Linux only.
"""

from __future__ import annotations

import sys

import numpy as np

import dpselect as dps
from benchmarks.shapes import SHAPES

_PIECE = 1 << 16
_HIGHEST = {"float64": np.inf, "int8": 100}


def forget_peak() -> None:
    """Let the peak begin anew at what is held now. A fresh process has its parent's peak, which would hide its own."""
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")


def held_bytes(field: str) -> int:
    """``VmRSS``, what this process holds now, or ``VmHWM``, the most it has held since `forget_peak`."""
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith(field))


def main(mechanism_name: str, dtype_name: str, n: int, shape: str) -> None:
    """Print ``<bytes of the scores> <bytes the peak grew by>``."""
    mechanism = getattr(dps.mechanisms, mechanism_name)(epsilon=1.0, sensitivity=1.0)
    scores = np.empty(n, dtype=dtype_name)
    cycle = np.minimum(SHAPES[shape](_PIECE), _HIGHEST[dtype_name]).astype(dtype_name)
    for start in range(0, n, _PIECE):  # piece by piece: a temporary as long as the scores would hide one of `select`
        piece = scores[start : start + _PIECE]
        piece[:] = cycle[: piece.size]
    forget_peak()
    before = held_bytes("VmRSS")
    mechanism.select(scores)
    print(scores.nbytes, held_bytes("VmHWM") - before)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
