"""Prepared draws: plans that are computed from the data once, and then drawn from many times."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Generic, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import BoundedRangeEvent
from dpselect.checks import positive_count

Prepared = TypeVar("Prepared")


class DrawPlan(Generic[Prepared]):
    """The base of all plans: the prepared data, and the cost of each draw. The data are never shown or pickled."""

    __slots__ = ("_event", "_prepared")

    def __init__(self, prepared: Prepared, *, event: BoundedRangeEvent) -> None:
        self._prepared = prepared
        self._event = event

    @abstractmethod
    def draw(self) -> Any:
        """Draw once, at the cost of one `event`."""

    def draw_many(self, size: int) -> npt.NDArray[Any]:
        """Draw `size` times independently, each at the cost of one `event`; a row for each.

        Raises:
            InvalidParameterError: `size` is not a whole number >= 1. Nothing is drawn.
        """
        return np.stack([self.draw() for _ in range(positive_count(size, "size"))])

    @property
    def event(self) -> BoundedRangeEvent:
        """What each draw costs, for accounting."""
        return self._event

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at epsilon={self._event.epsilon!r} a draw>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("cannot pickle a plan: it holds the data")


class NumberPlan(DrawPlan[_core.PiecewisePlan]):
    """Draws numbers from data prepared by a mechanism's `plan`. It holds the data, and is as private as they are.

    Planning takes most of the time. Each draw takes microseconds, however many pieces the score has. A plan cannot be
    pickled, so it cannot be sent to another process.

    Proof: ``proofs/falling_scores.md``.

    >>> from dpselect.mechanisms import PriceMechanism
    >>> plan = PriceMechanism(epsilon=1.0, bounds=(0, 10)).plan([4.0] * 5000 + [9.5] * 100)
    >>> plan
    <NumberPlan at epsilon=1.0 a draw>
    >>> prices = plan.draw_many(3)              # costs 3 events of epsilon = 1
    >>> bool(np.all((3.0 < prices) & (prices <= 4.0)))
    True
    """

    __slots__ = ()

    def draw(self) -> float:
        """Draw one number, at the cost of one `event`, rounded once to the nearest finite double."""
        return float(self._prepared.draw_many(1)[0])

    def draw_many(self, size: int) -> npt.NDArray[np.float64]:
        """Draw `size` independent numbers, shape ``(size,)``, each at the cost of one `event`."""
        return self._prepared.draw_many(positive_count(size, "size"))
