"""The laws of cells of items that are alike, by quadrature and by long numbers: another way than the product's.

A cell has a number of items, all `exponents` scales below the best. An empty cell is never drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath as mp
import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
_NODES, _SHARES = np.polynomial.legendre.leggauss(14)


def _panels(edges: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Nodes of Gauss and Legendre between each two edges, and their weights."""
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    return (middle[:, None] + half[:, None] * _NODES).ravel(), (half[:, None] * _SHARES).ravel()


def exponential(sizes: NDArray[np.intp], exponents: FloatArray) -> FloatArray:
    """Proportional to e^-x."""
    shares = sizes * np.exp(np.minimum(0.0, exponents[sizes > 0].min() - exponents))
    return shares / shares.sum()


def permute_and_flip(sizes: NDArray[np.intp], exponents: FloatArray) -> FloatArray:
    """Each item has a place in (0, 1) and a coin with p = e^-x; the first one whose coin shows heads is drawn.

    So one with p is drawn with probability p times the integral of the product of 1 - p_k t over all others.
    """
    heads = np.where(sizes > 0, np.exp(np.minimum(0.0, exponents[sizes > 0].min() - exponents)), 0.0)
    halves = 2.0 ** -np.arange(1.0, 60.0)
    places, shares = _panels(np.r_[0.0, halves[::-1], 1.0 - halves[1:40], 1.0])
    tails = np.log1p(-heads[:, None] * places)
    drawn = sizes * heads * (np.exp(sizes @ tails - tails) @ shares)
    assert abs(drawn.sum() - 1.0) < 1e-9
    return drawn


def laplace(sizes: NDArray[np.intp], exponents: FloatArray) -> FloatArray:
    """The largest of all scores with Laplace noise of scale one."""
    heights = -np.where(sizes > 0, exponents - exponents[sizes > 0].min(), np.inf)
    last = 45.0 + np.log(sizes.sum())
    kinks = heights[(heights > -45.0) & (sizes > 0)]
    places, shares = _panels(np.unique(np.r_[np.arange(-45.0, last, 0.5), kinks]))
    apart = places - np.maximum(heights, -1e6)[:, None]
    density = 0.5 * np.exp(-np.abs(apart))
    below = np.where(apart > 0, np.log1p(-0.5 * np.exp(-np.abs(apart))), np.minimum(apart, 0.0) - np.log(2.0))
    drawn = sizes * ((density * np.exp(sizes @ below - below)) @ shares)
    assert abs(drawn.sum() - 1.0) < 1e-9
    return drawn


LAWS: dict[str, Callable[[NDArray[np.intp], FloatArray], FloatArray]] = {
    "exponential mechanism": exponential,
    "permute-and-flip": permute_and_flip,
    "Laplace noise": laplace,
    "exponential noise": permute_and_flip,
    "Gumbel noise": exponential,
}


def with_weights(exponents: list[Fraction], weights: list[Fraction]) -> Callable[..., FloatArray]:
    """The law proportional to w e^-x, of so many items in each cell; wrong with a stretch, or with a heavier cell."""
    with mp.workdps(60):
        falls = [mp.mpf(x.numerator) / x.denominator for x in exponents]
        logs = [mp.log(each.numerator) - mp.log(each.denominator) if each else mp.ninf for each in weights]

    def law(sizes: NDArray[np.intp], stretch: float = 1.0, heavier: float = 1.0) -> FloatArray:
        with mp.workdps(60):
            heights = [log - fall * stretch for log, fall in zip(logs, falls, strict=True)]
            top = max(height for height, size in zip(heights, sizes.tolist(), strict=True) if size)
            shares = sizes * np.exp([min(0.0, float(height - top)) for height in heights])
        shares[int(shares.argmax())] *= heavier
        return shares / shares.sum()

    return law
