"""What mechanisms have in common as values: checked arguments, the price, the scale, numbers for the core."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, fields
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Literal, cast

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import BoundedRangeEvent, Event
from dpselect.checks import exact_number
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown
from dpselect.grids import Grid
from dpselect.mechanisms.explained import CHECKS, explained
from dpselect.privacy import Neighbours, check_monotonic

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class MechanismValue:
    """A frozen dataclass whose arguments are checked and set once, and which never carries a generator's state.

    Arguments that many have are explained and checked in one place, `explained`. What one draw costs is an event of the
    kind `costs` at `epsilon`, unless a subclass says more.
    """

    __slots__ = ()
    costs: ClassVar[Callable[..., Event]]
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls) -> None:
        explained(cls)

    def __post_init__(self) -> None:
        given = {name: each for name, each in self.__dataclass_fields__.items() if each.init}
        checked: dict[str, Any] = {name: CHECKS[name](getattr(self, name)) for name in given if name in CHECKS}
        if "monotonic" in given:
            checked["monotonic"] = check_monotonic(cast(Any, self).monotonic, checked["neighbours"])
        self._set(**checked)

    @property
    def event(self) -> Event:
        """What one draw costs, for accounting; it does not depend on the data."""
        return self.costs(epsilon=cast(Any, self).epsilon)

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
    """One whose losses lie in a range of `epsilon`: the exponential mechanism in all its forms.

    Proof: ``proofs/exponential_mechanism.md``, ``proofs/interval_mechanism.md``.
    """

    costs = BoundedRangeEvent


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


def exact_value(
    value: object, error: type[InvalidParameterError] = InvalidDataError, *, name: str = "value", hint: str = ""
) -> Fraction:
    """A number of the data, exactly; or an error that does not show it, nor holds one that does."""
    try:
        return exact_number(value, name)
    except InvalidParameterError:
        pass
    got = Shown("<not a finite number, or one beyond all doubles>")
    raise error(name, got, "a finite number, below 2^1024 in size", hint)


def shortest(number: Fraction) -> float | Fraction:
    """The float that is written like this decimal, if there is one."""
    return float(number) if Fraction(repr(float(number))) == number else number
