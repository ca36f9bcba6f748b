"""Five histograms of the DPBench study, and the paper's two scores of their bins.

Hay, Machanavajjhala, Miklau, Chen and Zhang, "Principled evaluation of differentially private algorithms using
DPBench", SIGMOD 2016. The study's one-dimensional histograms have 4096 bins; the permute-and-flip paper adds up each
four neighbouring ones.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]

TABLE = Path(__file__).parents[1] / "data" / "dpbench_1d.csv"

NAMES = ("HEPTH", "ADULTFRANK", "MEDCOST", "SEARCHLOGS", "PATENT")
"""The data sets of the paper's figures, in its order."""

BINS = 1024


def load(name: str) -> Counts:
    """How many records are in each of 1024 bins.

    Args:
        name: of a data set in the file, in capitals or not: one of `NAMES`, "INCOME" or "NETTRACE".

    Returns:
        Shape ``(1024,)``, counts of records; not writable, because calls share it.

    Raises:
        KeyError: there is no such data set.

    >>> hepth = load("HEPTH")
    >>> hepth.shape, int(hepth.sum()), int(hepth.max())
    ((1024,), 347414, 1571)
    """
    return _tables()[name.upper()]


def mode_scores(counts: Counts) -> Counts:
    """The most common bin is the best: each bin scores its count.

    Sensitivity 1, monotone. (The paper writes twice that, without "monotone".)

    Returns:
        Shape of `counts`; in records.

    >>> mode_scores(np.array([3, 0, 5]))
    array([3, 0, 5])
    """
    return counts.copy()


def median_scores(counts: Counts) -> Counts:
    """The bin of the median is the best: a bin scores minus the records to add or remove until the median is in it.

    With `a` records up to and including the bin, of `n` in all: ``-(n - 2 a)`` left of the median's bin, the first
    with ``a >= n/2``; to the right of it ``-(2 a - n + 1)``, of the `a` records before the bin. Sensitivity 1, not
    monotone.

    Returns:
        Shape of `counts`; in records, 0 at the median's bin, negative elsewhere.

    >>> median_scores(np.array([1, 2, 4, 0, 3]))  # of 10 records, 7 are in the first three bins
    array([-8, -4,  0, -5, -5])
    """
    up_to = np.cumsum(counts)
    before = up_to - counts
    total = int(up_to[-1])
    is_left = 2 * up_to < total
    scores = np.where(is_left, 2 * up_to - total, total - 2 * before - 1)
    scores[np.count_nonzero(is_left)] = 0
    return scores


@cache
def _tables() -> dict[str, Counts]:
    with TABLE.open(encoding="utf-8") as lines:
        names = next(lines).strip().upper().split(",")
        columns = np.loadtxt(lines, delimiter=",", dtype=np.int64, unpack=True)
    tables = {name: column.reshape(BINS, -1).sum(axis=1) for name, column in zip(names, columns, strict=True)}
    del tables["BIN"]
    for counts in tables.values():
        counts.flags.writeable = False
    return tables
