r"""One more bounded-range run before what is known of the rest: the worst first step.

If delta of the rest is at most :math:`V`, one more :math:`\varepsilon`-bounded-range run before it makes it at most

.. math:: (S V)(a) = \max_{0 \le t \le \varepsilon} p_t V(a - t) + (1 - p_t) V(a - t + \varepsilon),
    \qquad p_t = \frac{1 - e^{t-\varepsilon}}{1 - e^{-\varepsilon}},

and no smaller bound holds for all choices that depend on the first result. Between grid points :math:`V` lies below its
chord in :math:`e^a`; with the chord the maximum over :math:`t` in one cell has a closed form.

Proof: ``proofs/composition.md``, claim 5.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

ERROR = 2.0**-46
"""Bound on the rounding of one maximum, relative to the largest corner of a cell, with a margin."""


def trivial(first: int, last: int, *, step: float) -> FloatArray:
    r""":math:`1 - e^a` at the grid points from `first` to `last`, 0 where that is negative, rounded up."""
    places = np.minimum(np.arange(first, last + 1, dtype=np.float64), 0.0)
    return -np.expm1(places * step) * (1.0 + 2.0**-50)


def one_more(rest: FloatArray, *, first: int, width: int, steps: int, step: float, new_first: int) -> FloatArray:
    """The bound above on the grid.

    Args:
        rest: bounds at the places from `first` to `width`; 0 beyond, and `trivial` below where `first` is ``-width``.
        first: place of the first.
        width: of the losses of the rest, in steps.
        steps: epsilon of the new run, in steps.
        step: distance of the grid.
        new_first: place of the first bound wanted, at least ``first + steps`` or ``-(width + steps)``.

    Returns:
        Bounds at the places from `new_first` to ``width + steps``.
    """
    low, high = new_first - steps, width + 2 * steps
    known = np.zeros(high - low + 1)
    if low < first:
        known[: first - low] = trivial(low, first - 1, step=step)
    known[max(first - low, 0) : width - low + 1] = rest[max(low - first, 0) :]
    size = width + steps - new_first + 1
    lower_places = np.arange(steps + 1) - steps
    chances = np.minimum(np.expm1(lower_places * step) / np.expm1(-steps * step), 1.0)
    stretch, growth = np.exp(step), np.expm1(step)
    best = np.zeros(size)
    for cell in range(steps):  # t from cell to cell + 1 steps
        near = known[steps - cell : steps - cell + size]  # V(a - t) at the cell's start
        far = known[steps - cell - 1 : steps - cell - 1 + size]  # and at its end
        near_up = known[2 * steps - cell : 2 * steps - cell + size]  # V(a - t + epsilon)
        far_up = known[2 * steps - cell - 1 : 2 * steps - cell - 1 + size]
        p, fall = chances[cell], chances[cell] - chances[cell + 1]
        near_drop, far_drop = near - near_up, far - far_up
        at_start = near_up + p * near_drop
        # With z from 0 to 1 across the cell the value is (c0 + c1 z + c2 z^2) / (1 + growth z), concave if c2 <= 0.
        through = stretch * (far_up + p * far_drop)
        linear = fall * near_drop
        c2 = linear - stretch * fall * far_drop
        rise = through - at_start * stretch - linear  # the slope at z = 0
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = rise / c2
            inside: FloatArray = -ratio / (1.0 + np.sqrt(1.0 - growth * ratio))
        z: FloatArray = np.where((c2 < 0.0) & (rise > 0.0), np.clip(inside, 0.0, 1.0), np.where(rise > 0.0, 1.0, 0.0))
        chance = p - z * fall
        value = ((1.0 - z) * (near_up + chance * near_drop) + z * stretch * (far_up + chance * far_drop)) / (
            1.0 + growth * z
        )
        at_end = far_up + chances[cell + 1] * far_drop
        np.maximum(best, np.maximum(np.maximum(at_start, at_end), value) + ERROR * far, out=best)
    return np.minimum(best, 1.0)
