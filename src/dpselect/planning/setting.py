"""What is planned: a mechanism class and the sensitivity of the scores, with epsilon still open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import cast

from dpselect.errors import InvalidParameterError, Shown
from dpselect.mechanisms import ExponentialMechanism, Mechanism
from dpselect.mechanisms.top_k import Weights
from dpselect.mechanisms.weights import CandidateWeights

MechanismKind = Callable[..., Mechanism]
"""A mechanism class, or ``functools.partial`` of one where it has options of its own."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Arguments checked once, so that only epsilon varies."""

    kind: MechanismKind
    sensitivity: float
    monotonic: bool

    @classmethod
    def checked(cls, kind: object, *, sensitivity: float, monotonic: bool, weights: Weights | None = None) -> Setting:
        """
        Raises:
            InvalidParameterError: `kind` does not make mechanisms, or none with `weights`, or an argument is out of
                range.
        """
        if weights is not None:
            if kind is not ExponentialMechanism:
                hint = "Only dpselect.ExponentialMechanism has weights."
                raise InvalidParameterError("weights", Shown("<weights>"), "None with this mechanism", hint)
            kind = partial(ExponentialMechanism, weights=CandidateWeights.of(weights))
        if isinstance(kind, Mechanism):
            raise _refused(kind, "Do not fix its epsilon: planning varies it.")
        is_class = isinstance(kind, type)
        if not callable(kind) or (is_class and not issubclass(cast("type[object]", kind), Mechanism)):
            raise _refused(kind)
        setting = cls(cast(MechanismKind, kind), sensitivity, monotonic)
        try:
            made = cast(object, setting.at(1.0))
        except TypeError:
            raise _refused(kind) from None
        if not isinstance(made, Mechanism):
            raise _refused(kind)
        return cls(cast(MechanismKind, kind), made.sensitivity, made.monotonic)

    def at(self, epsilon: float) -> Mechanism:
        """The mechanism that spends `epsilon`."""
        return self.kind(epsilon=epsilon, sensitivity=self.sensitivity, monotonic=self.monotonic)

    @property
    def weights(self) -> CandidateWeights | None:
        """The public weights of the candidates, if they have any."""
        return weights_of(self.at(1.0))


def _refused(kind: object, hint: str = "Others are not planned by a target error.") -> InvalidParameterError:
    """The error for what is no class of mechanisms that select one candidate by its score."""
    got = Shown(f"<class {kind.__name__}>") if isinstance(kind, type) else kind
    expected = "PermuteAndFlip, ExponentialMechanism or ReportNoisyMax, or functools.partial of one"
    return InvalidParameterError("mechanism", got, expected, hint)


def weights_of(mechanism: Mechanism) -> CandidateWeights | None:
    """The public weights of the candidates, if the mechanism has any."""
    return cast("CandidateWeights | None", getattr(mechanism, "weights", None))
