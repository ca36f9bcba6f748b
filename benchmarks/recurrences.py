"""Quadratic recurrences for permute-and-flip's probabilities, in NumPy as fast as they go: what the product replaces.

Both are proved in `proofs/permute_and_flip.md`. Measured, they are given the flip probabilities ready-made.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_ROWS = 64
"""As many steps are summed at once as fit into the processor's cache."""


def all_by_symmetric_polynomials(p: FloatArray) -> FloatArray:
    """Every probability by the paper's dynamic program: elementary symmetric polynomials, then each without one item.

    ``2 n`` steps on vectors of length n, each of one multiplication and one addition in place. The sum alternates in
    sign: in doubles the result is worthless once the flip probabilities add up to more than about 30.
    """
    n = p.size
    symmetric = np.zeros(n + 2)  # a zero for e_-1, then e_0 to e_n
    symmetric[1] = 1.0
    one_less, product = symmetric[1:-1], np.empty(n)
    these = symmetric[2:]
    for p_j in p.tolist():
        np.multiply(one_less, p_j, out=product)
        np.add(these, product, out=these)

    e = symmetric[1:-1].tolist()
    coefficients = (-1.0) ** np.arange(n) / np.arange(1, n + 1)
    total, rows = np.ones(n), np.empty((_ROWS, n))  # row k: e_k of all items but one, for each that may be left out
    before = np.ones(n)
    for start in range(1, n, _ROWS):
        stop = min(start + _ROWS, n)
        for k, row in zip(range(start, stop), rows, strict=False):
            np.multiply(before, p, out=row)
            np.subtract(e[k], row, out=row)
            before = row
        total += coefficients[start:stop] @ rows[: stop - start]
        before = before.copy()
    return p * total


def one_by_positions(p: FloatArray, item: int) -> float:
    """The probability of one item by the recurrence of positive terms: ``a_k <- (m-k)/m a_k + k/m (1-p_j) a_(k-1)``.

    ``n`` steps on vectors of growing length; for every item it would take n times as long.
    """
    n = p.size
    a, counts = np.zeros(n), np.arange(1.0, n)  # a_k: the mean over sets of k items, among those seen, of a product
    a[0] = 1.0
    for m, q_j in enumerate(np.delete(1.0 - p, item).tolist(), start=1):
        share = counts[:m] / m
        joined = a[:m] * share
        joined *= q_j
        np.subtract(1.0, share, out=share)
        these = a[1 : m + 1]
        these *= share
        these += joined
    return float(p[item] * a.mean())
