"""Run in a process of its own: the peak of memory of one question to a table.

``python -m benchmarks.table_probe clicks.parquet 2GiB`` prints bytes. Linux only.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.lines_tables import ask
from benchmarks.memory_probe import forget_peak, held_bytes

if __name__ == "__main__":
    forget_peak()
    ask(Path(sys.argv[1]), memory_limit=sys.argv[2])
    print(held_bytes("VmHWM"))
