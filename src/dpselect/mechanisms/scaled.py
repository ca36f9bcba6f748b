"""What mechanisms have in common as values: arguments that are checked once, and the scale that follows from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, fields
from functools import lru_cache
from typing import Any, ClassVar, Literal

from dpselect.checks import positive_epsilon, positive_sensitivity
from dpselect.privacy import Neighbours, check_monotonic, neighbouring_relation


class MechanismValue:
    """A frozen dataclass whose arguments are checked and set once, and which never carries a generator's state."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

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
    """A mechanism that weighs an answer by :math:`e^{score/b}`, with the four arguments that the scale b comes from.

    Args:
        epsilon: privacy loss of one draw, > 0. Rounded down if it is not a double.
        sensitivity: the largest change of any one score between neighbouring data sets, > 0, in the unit of the scores.
            Rounded up if it is not a double.
        monotonic: between any two neighbours all scores change in the same direction; halves the noise. True for counts
            when a unit is added or removed, never when one is replaced (``proofs/counting.md``).
        neighbours: which data sets the guarantee compares, ``"add_remove"`` or ``"replace_one"``.

    Raises:
        InvalidParameterError: an argument is out of range, or `monotonic` does not go with `neighbours`.
    """

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
        return _known_scale(self.epsilon, self.sensitivity, self._factor)


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


@lru_cache(maxsize=256)
def _known_scale(epsilon: float, sensitivity: float, factor: Literal[1, 2]) -> float:
    """A draw with a gap asks for it each time."""
    return scale_of(epsilon, sensitivity, factor=factor)
