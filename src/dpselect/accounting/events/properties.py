"""Privacy properties of one run: what composition may use."""

from __future__ import annotations

from dataclasses import dataclass

from dpselect.arguments import delta_below_one, positive_epsilon


@dataclass(frozen=True, slots=True, kw_only=True)
class _Property:
    """What all of them share: one run of something `epsilon`-DP, but for an `ApproximateEvent`."""

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_epsilon(self.epsilon))

    @property
    def delta(self) -> float:
        """The probability with which `epsilon` may fail; 0 of all but an `ApproximateEvent`."""
        return 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedRangeEvent(_Property):
    """One run of something `epsilon`-bounded-range: its privacy losses lie in an interval of length `epsilon`.

    Held by the exponential mechanism and by report-noisy-max with Gumbel noise. Implies `epsilon`-DP, and composes
    better than that: see `dpselect.accounting.bounded_range`. Proof: ``proofs/exponential_mechanism.md``.

    >>> BoundedRangeEvent(epsilon=0.5)
    BoundedRangeEvent(epsilon=0.5)
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class LogisticProfileEvent(_Property):
    """One run of something whose privacy profile lies below that of the logistic mechanism at `epsilon`.

    Held by everything `epsilon`-bounded-range, and by report-noisy-max with Gumbel noise that also releases the gap to
    the runner-up, which is *not* bounded-range. Implies `epsilon`-DP. Proof: ``proofs/composition.md``.

    >>> LogisticProfileEvent(epsilon=1).epsilon
    1.0
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceProfileEvent(_Property):
    """One run of something whose privacy profile lies below that of the Laplace mechanism at `epsilon`.

    Held by permute-and-flip and by report-noisy-max with exponential or Laplace noise. Implies `epsilon`-DP. *Not*
    bounded-range: its losses range over more than `epsilon`. Proofs: ``proofs/permute_and_flip.md``,
    ``proofs/noisy_max.md``.

    >>> LaplaceProfileEvent(epsilon=1).epsilon
    1.0
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class PureEvent(_Property):
    """One run of something `epsilon`-DP, of which nothing better is true or proved.

    Held by randomised response and by the two-sided geometric mechanism at sensitivity 1, whose losses are `epsilon`
    or its negative: no tighter profile holds for them.

    >>> PureEvent(epsilon=1).epsilon
    1.0
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproximateEvent:
    """One run of something (`epsilon`, `delta`)-DP with `delta` > 0, of which nothing better is proved.

    For selections from an unknown domain. Args: `epsilon` > 0, `delta` strictly between 0 and 1.

    >>> ApproximateEvent(epsilon=1, delta=1e-6)
    ApproximateEvent(epsilon=1.0, delta=1e-06)
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_epsilon(self.epsilon))
        object.__setattr__(self, "delta", positive_epsilon(delta_below_one(self.delta), "delta"))


SingleEvent = BoundedRangeEvent | LogisticProfileEvent | LaplaceProfileEvent | PureEvent | ApproximateEvent
