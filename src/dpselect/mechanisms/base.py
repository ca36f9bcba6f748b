"""What mechanisms have in common as values: checked arguments, the scale, plans of many draws, numbers for the core."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, fields
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Literal, NoReturn

import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import BoundedRangeEvent, Event
from dpselect.checks import positive_count, positive_epsilon, positive_sensitivity
from dpselect.grids import Grid
from dpselect.mechanisms.explained import CHECKS, explained
from dpselect.privacy import Neighbours, check_monotonic, neighbouring_relation


class MechanismValue:
    """A frozen dataclass whose arguments are checked and set once, and which never carries a generator's state.

    Arguments that many have are explained and checked in one place, `explained`.
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls) -> None:
        explained(cls)

    def __post_init__(self) -> None:
        self._set(**{name: CHECKS[name](getattr(self, name)) for name in self.__dataclass_fields__ if name in CHECKS})

    @property
    def event(self) -> Event:
        """What one draw costs, for accounting; it does not depend on the data."""
        raise NotImplementedError

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Callable[..., MechanismValue], tuple[type[MechanismValue], Mapping[str, object]]]:
        """Copies and pickles are built from the arguments: no generator state leaves the core."""
        return _rebuild, (type(self), {part.name: getattr(self, part.name) for part in fields(self) if part.init})


def _rebuild(kind: type[MechanismValue], arguments: Mapping[str, Any]) -> MechanismValue:
    return kind(**arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledMechanism(MechanismValue):
    """A mechanism that weighs an answer by :math:`e^{score/b}`, with the four arguments that the scale b comes from."""

    epsilon: float
    sensitivity: float
    monotonic: bool = False
    neighbours: Neighbours = Neighbours.ADD_REMOVE

    def __post_init__(self) -> None:
        epsilon, sensitivity = positive_epsilon(self.epsilon), positive_sensitivity(self.sensitivity)
        neighbours = neighbouring_relation(self.neighbours)
        monotonic = check_monotonic(self.monotonic, neighbours)
        self._set(epsilon=epsilon, sensitivity=sensitivity, neighbours=neighbours, monotonic=monotonic)

    @property
    def _factor(self) -> Literal[1, 2]:
        return 1 if self.monotonic else 2

    @property
    def scale(self) -> float:
        """The scale b of the noise, in the unit of the scores: ``2 * sensitivity / epsilon``, half of it if monotonic.

        For reading only, as a double (infinite or 0 if it does not fit): draws use the exact quotient.
        """
        return scale_of(self.epsilon, self.sensitivity, factor=self._factor)


@dataclass(frozen=True, slots=True, kw_only=True)
class RangedMechanism(ScaledMechanism):
    """One whose losses lie in a range of `epsilon`: the exponential mechanism in all its forms."""

    @property
    def event(self) -> BoundedRangeEvent:
        return BoundedRangeEvent(epsilon=self.epsilon)


@lru_cache(maxsize=256)  # a draw with a gap asks for it each time
def scale_of(epsilon: float, sensitivity: float, *, factor: Literal[1, 2]) -> float:
    """``factor * sensitivity / epsilon``; infinite or 0 if a double cannot hold it.

    >>> scale_of(0.5, 1.0, factor=2)
    4.0
    """
    numerator, numerator_exponent = math.frexp(sensitivity)
    denominator, denominator_exponent = math.frexp(epsilon)
    try:
        return math.ldexp(numerator / denominator, numerator_exponent - denominator_exponent + factor - 1)
    except OverflowError:
        return math.inf


@explained
class DrawPlan:
    """Draws from data prepared by a mechanism's `plan`. It holds the data, and is as private as they are.

    Planning takes most of the time. A plan cannot be pickled, so it cannot be sent to another process.

    >>> from dpselect.mechanisms import PriceMechanism
    >>> plan = PriceMechanism(epsilon=1.0, bounds=(0, 10)).plan([4.0] * 5000 + [9.5] * 100)
    >>> plan
    <DrawPlan at epsilon=1.0 a draw>
    >>> prices = plan.draw_many(3)              # costs 3 events of epsilon = 1
    >>> bool(((3.0 < prices) & (prices <= 4.0)).all())
    True
    """

    __slots__ = ("_drawn", "event")
    event: BoundedRangeEvent
    """What each draw costs, for accounting."""

    def __init__(self, drawn: Callable[[int], npt.NDArray[Any]], *, event: BoundedRangeEvent) -> None:
        self._drawn, self.event = drawn, event

    def draw(self) -> Any:
        """Draw once, a number or a sample, at the cost of one `event`."""
        return self._drawn(1)[0]

    def draw_many(self, size: int) -> npt.NDArray[Any]:
        """Draw `size` times independently, each at the cost of one `event`; a row for each."""
        return self._drawn(positive_count(size, "size"))

    def __repr__(self) -> str:
        return f"<DrawPlan at epsilon={self.event.epsilon!r} a draw>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("cannot pickle a plan: it holds the data")


def native_grid(grid: Grid) -> _core.Grid:
    """The same points."""
    below = math.lcm(grid.lower.denominator, grid.step.denominator)
    start, step = native_whole(int(grid.lower * below), signed=True), native_whole(int(grid.step * below))
    return _core.Grid(start, step, native_whole(below), grid.count)


def native_whole(number: int, *, signed: bool = False) -> bytes:
    """A whole number as the core reads it."""
    return number.to_bytes(number.bit_length() // 8 + 1, "little", signed=signed)


def native_fraction(number: Fraction) -> tuple[bytes, bytes]:
    """Numerator in two's complement and denominator, as the core reads them.

    >>> [int.from_bytes(part, "little", signed=True) for part in native_fraction(Fraction(-1, 3))]
    [-1, 3]
    """
    return native_whole(number.numerator, signed=True), native_whole(number.denominator)


def shortest(number: Fraction) -> float | Fraction:
    """The float that is written like this decimal, if there is one."""
    return float(number) if Fraction(repr(float(number))) == number else number
