"""A selection reads the scores where they are: hardly any memory beyond them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.laws.subjects import KINDS
from tests.slow import crossed

ROOT = Path(__file__).parents[2]
MEASURE = """
import sys
import numpy as np
import dpselect as dps
from tests.laws.subjects import KINDS

def kilobytes(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field))

mechanism = KINDS[sys.argv[1]](epsilon=1.0, sensitivity=1.0)
scores = np.empty(150_000_000 // np.dtype(sys.argv[2]).itemsize, dtype=sys.argv[2])
scores.reshape(-1, 100)[:] = np.arange(100)
mechanism.select(scores[:2_000_000])  # threads and their stacks are there once, whatever the size
copy = scores.copy() if sys.argv[3] == "copy" else None
del copy
with open("/proc/self/clear_refs", "w") as reset:
    reset.write("5")
before = kilobytes("VmRSS")
if sys.argv[3] == "copy":
    copy = scores.copy()
assert 0 <= mechanism.select(scores) < scores.size
print((kilobytes("VmHWM") - before) * 1024 / scores.nbytes)
"""


def extra_memory(kind: str, dtype: str, *, also: str = "") -> float:
    """Largest memory during one `select`, beyond the scores, as a share of them; in a process of its own."""
    command = [sys.executable, "-c", MEASURE, kind, dtype, also]
    return float(subprocess.run(command, check=True, capture_output=True, text=True, timeout=60, cwd=ROOT).stdout)


pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peaks are read from /proc")


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "dtype"), crossed(["exponential mechanism", "permute-and-flip"], ["float64", "int8"]))
def test_a_selection_needs_hardly_more_memory_than_the_scores(kind: str, dtype: str) -> None:
    assert kind in KINDS
    assert extra_memory(kind, dtype) <= 0.05


@pytest.mark.slow
def test_a_copy_of_the_scores_would_be_noticed() -> None:
    assert extra_memory("permute-and-flip", "int8", also="copy") > 0.9
