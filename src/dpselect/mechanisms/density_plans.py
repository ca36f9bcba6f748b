"""Prepared draws of the density mechanism: one for binned data, one for numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.arguments import positive_count
from dpselect.mechanisms.plans import Plan


class CountsPlan(Plan[_core.DensityPlan]):
    """Draws samples of binned data, prepared by `DensityMechanism.plan`. It holds the data: as private as they are.

    >>> from dpselect.mechanisms.density import DensityMechanism
    >>> plan = DensityMechanism(epsilon=50.0, k=4).plan([300, 0, 100])
    >>> plan
    <CountsPlan at epsilon=50.0 a draw>
    >>> plan.draw_many(2).tolist()
    [[3, 0, 1], [3, 0, 1]]
    """

    __slots__ = ()

    def draw(self) -> npt.NDArray[np.int64]:
        """Draw one sample, shape ``(m,)``, at the cost of one `event`."""
        return self._native.draw_counts(1)[0]

    def draw_many(self, size: int) -> npt.NDArray[np.int64]:
        """Draw `size` independent samples, shape ``(size, m)``, each at the cost of one `event`."""
        return self._native.draw_counts(positive_count(size, "size"))


class PointsPlan(Plan[_core.DensityPlan]):
    """Draws samples of points, prepared by `DensityMechanism.plan_points`. It holds the data: as private as they are.

    >>> from dpselect.mechanisms.density import DensityMechanism
    >>> plan = DensityMechanism(epsilon=1.0, k=50).plan_points(range(1000), bounds=(0, 1000))
    >>> plan.draw_many(3).shape, bool(400.0 < plan.draw().mean() < 600.0)
    ((3, 50), True)
    """

    __slots__ = ()

    def draw(self) -> npt.NDArray[np.float64]:
        """Draw one sample, shape ``(k,)``, in increasing order, at the cost of one `event`."""
        return self._native.draw_points(1)[0]

    def draw_many(self, size: int) -> npt.NDArray[np.float64]:
        """Draw `size` independent samples, shape ``(size, k)``, each at the cost of one `event`."""
        return self._native.draw_points(positive_count(size, "size"))
