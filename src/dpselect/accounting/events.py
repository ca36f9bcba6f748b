"""Events: what ran, and nothing about the data it ran on.

A mechanism emits an event; accountants interpret it. An event names a *privacy property* that was proved, not a
mechanism. A `Run` says for people what ran. Kinds are never removed and never change meaning: ``docs/events.md``.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, cast

from dpselect.checks import fraction_up, members_in_order, positive_count, positive_epsilon, probability
from dpselect.errors import InvalidParameterError, Shown
from dpselect.privacy import Neighbours, neighbouring_relation

_EXPECTED = "events of dpselect.accounting"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Property:
    epsilon: float
    delta: ClassVar[float] = 0.0
    """The probability with which `epsilon` may fail."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_epsilon(self.epsilon))


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedRangeEvent(_Property):
    """One run of something `epsilon`-bounded-range: its privacy losses lie in an interval of length `epsilon`.

    Held by the exponential mechanism and by report-noisy-max with Gumbel noise. Implies `epsilon`-DP, and composes
    better than that. Proof: ``proofs/exponential_mechanism.md``.

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
    """One run of a mechanism known only to be `epsilon`-DP.

    Held by randomised response and by two-sided geometric noise at sensitivity 1: no tighter profile holds for them.

    >>> PureEvent(epsilon=1).epsilon
    1.0
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproximateEvent:
    """One run of a mechanism known only to be (`epsilon`, `delta`)-DP, with `delta` > 0.

    For selections from an unknown domain. Args: `epsilon` > 0, `delta` strictly between 0 and 1.

    >>> ApproximateEvent(epsilon=1, delta=1e-6)
    ApproximateEvent(epsilon=1.0, delta=1e-06)
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_epsilon(self.epsilon))
        object.__setattr__(self, "delta", probability(self.delta, "delta"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LossIntervalEvent:
    r"""One run whose privacy losses lie in an interval around 0, when a unit is *added* or *removed*.

    With P the law of the answer without the unit and Q that with it, every loss :math:`\ln(P/Q)` is from ``-below`` to
    ``above``, both > 0. Held by above-threshold streams whose queries all rise, or all fall, when a unit is added. It
    says nothing about data sets in which a unit is replaced, and a `Run` under replace-one refuses it.

    Proof: ``proofs/above_threshold.md``, claim 5.

    >>> LossIntervalEvent(below=0.25, above=0.5).epsilon
    0.5
    """

    below: float
    above: float
    delta: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "below", positive_epsilon(self.below, "below"))
        object.__setattr__(self, "above", positive_epsilon(self.above, "above"))

    @property
    def epsilon(self) -> float:
        """The larger end: the run is `epsilon`-DP."""
        return max(self.below, self.above)

    @property
    def mirrored(self) -> LossIntervalEvent:
        """The same with the roles of both data sets exchanged."""
        return LossIntervalEvent(below=self.above, above=self.below)


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class PrivateCandidatesEvent:
    r"""The best of a secret number of runs, each of them `epsilon`-DP: see `dpselect.best_of_runs`.

    The number K of runs has the truncated negative binomial distribution: probabilities of k + 1 and k runs have the
    ratio ``(1 - gamma) (k + eta) / (k + 1)``, from one run on. ``eta = 1`` is geometric, ``eta = 0`` logarithmic. The
    whole is :math:`\varepsilon + (1 + \eta) \ln\frac{e^\varepsilon + \gamma}{1 + \gamma e^\varepsilon}`-DP, and no
    smaller number is right.

    Args:
        epsilon: of each run, > 0. The attribute of that name is the total.
        eta: > -1.
        gamma: from 0 to 1, both excluded; smaller means more runs.

    Proof: ``proofs/private_candidates.md``.

    >>> event = PrivateCandidatesEvent(epsilon=1.0, eta=1.0, gamma=0.25)
    >>> event.run_epsilon, round(event.epsilon, 9)
    (1.0, 2.138890392)
    """

    run_epsilon: float
    eta: float
    gamma: float
    delta: ClassVar[float] = 0.0

    def __init__(self, *, epsilon: float, eta: float, gamma: float) -> None:
        object.__setattr__(self, "run_epsilon", positive_epsilon(epsilon))
        object.__setattr__(self, "eta", shape_of_runs(eta))
        object.__setattr__(self, "gamma", probability(gamma, "gamma"))

    def __repr__(self) -> str:
        return f"PrivateCandidatesEvent(epsilon={self.run_epsilon!r}, eta={self.eta!r}, gamma={self.gamma!r})"

    @property
    def epsilon(self) -> float:
        """The total, rounded up."""
        small = math.exp(-self.run_epsilon)
        gain = math.log1p(-math.expm1(-self.run_epsilon) * (1.0 - self.gamma) / (self.gamma + small))
        return math.nextafter((self.run_epsilon + (1.0 + self.eta) * gain) * (1.0 + 2.0**-46), math.inf)


def shape_of_runs(eta: object) -> float:
    if isinstance(eta, bool) or not isinstance(eta, (int, float)) or not -1.0 < eta <= 1e6:
        raise InvalidParameterError("eta", eta, "a number above -1, at most a million")
    return float(eta)


def expected_runs(eta: float, gamma: float) -> float:
    r"""The mean of K: :math:`\eta (1 - \gamma) / (\gamma (1 - \gamma^\eta))`, and its limit at 0."""
    log = -math.log(gamma)
    if abs(eta) < 2.0**-100:  # where doubles tell no difference, and products below may have few digits
        return (1.0 - gamma) / (gamma * log)
    return eta * (1.0 - gamma) / (gamma * -math.expm1(-eta * log))


def gammas_beside(runs: float, eta: float) -> tuple[float, float]:
    """Gammas next to each other: of the first more than `runs` are expected, if of 2^-50 are, of the second no more."""
    low, high = 2.0**-50, 1.0 - 2.0**-50
    for _ in range(200):
        middle = math.sqrt(low * high) if high < 0.1 else low + (high - low) / 2.0
        low, high = (middle, high) if expected_runs(eta, middle) > runs else (low, middle)
    return low, high


SingleEvent = (
    BoundedRangeEvent
    | LogisticProfileEvent
    | LaplaceProfileEvent
    | PureEvent
    | ApproximateEvent
    | LossIntervalEvent
    | PrivateCandidatesEvent
)


class _Group:
    __slots__ = ()

    @property
    def parts(self) -> list[tuple[Event, int]]:
        """The events that ran, and how often each did so."""
        if isinstance(self, ComposedEvent):
            return [(self.event, self.count)]
        return [(part, 1) for part in cast(SequenceEvent, self).events]

    @property
    def epsilon(self) -> float:
        """The total by basic composition, rounded up."""
        return fraction_up(sum((Fraction(part.epsilon) * count for part, count in self.parts), Fraction(0)))

    @property
    def delta(self) -> float:
        """The total by basic composition, rounded up; 0 where no part has one. May reach 1 and more."""
        return fraction_up(sum((Fraction(part.delta) * count for part, count in self.parts), Fraction(0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposedEvent(_Group):
    """`count` runs of `event`, one after another, each free to depend on what the earlier ones released.

    >>> ComposedEvent(event=BoundedRangeEvent(epsilon=0.5), count=10).epsilon
    5.0
    """

    event: Event
    count: int

    def __post_init__(self) -> None:
        checked_event(self.event)
        object.__setattr__(self, "count", positive_count(self.count, "count", at_most=sys.maxsize))
        _refuse_too_deep(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceEvent(_Group):
    """Different `events`, one after another, each free to depend on what the earlier ones released.

    >>> SequenceEvent(events=[PureEvent(epsilon=0.5), BoundedRangeEvent(epsilon=0.25)]).epsilon
    0.75
    """

    events: tuple[Event, ...]

    def __post_init__(self) -> None:
        parts = members_in_order(self.events, "events", expected=f"a list of {_EXPECTED}")
        if not parts:
            raise InvalidParameterError("events", Shown("<none>"), "at least one event")
        object.__setattr__(self, "events", tuple(checked_event(part, "events") for part in parts))
        _refuse_too_deep(self)


Group = ComposedEvent | SequenceEvent
Event = SingleEvent | Group


def checked_event(value: object, name: str = "event") -> Event:
    """`value`, refused if it is no event, or of a derived class, which may mean anything."""
    if not isinstance(value, Event) or type(value) not in _NAMES:
        raise InvalidParameterError(name, value, "an event of dpselect.accounting")
    return value


def _levels(event: Event) -> Iterator[list[Event]]:
    """The event, then the parts of each level of groups, each object once."""
    level: list[Event] = [event]
    while level:
        yield level
        groups = [group for group in level if isinstance(group, Group)]
        level = list({id(part): part for group in groups for part, _ in group.parts}.values())


def _refuse_too_deep(event: Event) -> None:
    if any(depth >= 16 for depth, _ in enumerate(_levels(event))):
        raise InvalidParameterError("event", Shown("<nested too deep>"), "at most 16 levels of groups")


def has_direction(event: Event) -> bool:
    """Whether a `LossIntervalEvent` is among the events that `event` is made of."""
    return any(isinstance(part, LossIntervalEvent) for level in _levels(event) for part in level)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One thing that ran: its `event` is what it costs, the rest says what it was and whom the cost protects.

    Args:
        event: the privacy property that was proved of it; all that composition looks at.
        mechanism: its name, as exported by `dpselect.mechanisms`; for people.
        neighbours: which data sets the guarantee compares. Runs under different relations do not add up.
        unit: who is protected, in the caller's words. Runs for different units do not add up.

    Raises:
        InvalidParameterError: no event, an empty or overlong text, or no neighbouring relation.

    >>> Run(event=PureEvent(epsilon=0.5), mechanism="Noise", neighbours="add_remove", unit="session").event.epsilon
    0.5
    """

    event: Event
    mechanism: str
    neighbours: Neighbours
    unit: str

    def __post_init__(self) -> None:
        checked_event(self.event)
        object.__setattr__(self, "neighbours", neighbouring_relation(self.neighbours))
        if self.neighbours is Neighbours.REPLACE_ONE and has_direction(self.event):
            hint = "A LossIntervalEvent is about units that are added or removed."
            raise InvalidParameterError("neighbours", Shown("replace_one"), "add_remove", hint)
        for name in ("mechanism", "unit"):
            text: object = getattr(self, name)
            if not isinstance(text, str) or not 0 < len(text) <= 1000:
                got = Shown(f"<text of length {len(text)}>") if isinstance(text, str) else text
                raise InvalidParameterError(name, got, "a text of 1 to 1000 characters")
            try:
                text.encode()
            except UnicodeEncodeError:
                got = Shown("<text with lone surrogates>")
                raise InvalidParameterError(name, got, "a text that UTF-8 can hold") from None
            object.__setattr__(self, name, str(text))


KINDS: dict[str, type[Event | Run]] = {
    "bounded_range": BoundedRangeEvent,
    "logistic_profile": LogisticProfileEvent,
    "laplace_profile": LaplaceProfileEvent,
    "pure": PureEvent,
    "approximate": ApproximateEvent,
    "loss_interval": LossIntervalEvent,
    "private_candidates": PrivateCandidatesEvent,
    "composed": ComposedEvent,
    "sequence": SequenceEvent,
    "run": Run,
}
_NAMES = {kind: name for name, kind in KINDS.items()}
FIELDS = {kind: {each.name.removeprefix("run_"): each.name for each in fields(kind)} for kind in _NAMES}
"""Of each kind: the names that its fields have in the format, which are its arguments, and in the class."""
VERSION = 1


def encode(event: Event | Run) -> dict[str, Any]:
    """`event` as plain Python values for JSON: numbers as text that denotes the same double, counts as integers."""
    kind = type(event)
    if kind not in FIELDS:
        raise InvalidParameterError("event", event, "an event of dpselect.accounting")
    held: dict[str, Any] = {"kind": _NAMES[kind], "version": VERSION}
    for name, field in FIELDS[kind].items():
        value = getattr(event, field)
        if isinstance(value, float):
            value = repr(value)
        elif isinstance(value, tuple):
            value = [encode(part) for part in cast("tuple[Event, ...]", value)]
        elif isinstance(value, Event):
            value = encode(value)
        held[name] = str(value) if isinstance(value, str) else value
    return held


def basic_of(counts: Mapping[SingleEvent, int]) -> Fraction:
    """The sum of all epsilons, exactly."""
    return sum((Fraction(event.epsilon) * count for event, count in counts.items()), Fraction(0))


def leaves_of(events: Iterable[Event | Run]) -> tuple[dict[SingleEvent, int], Fraction]:
    """How often each single event ran, in any order; and the sum of the deltas of all approximate events, exactly.

    What has no better property counts as a `PureEvent`. All runs have to protect one unit under one relation.
    """
    counts, failing, left = Counter[SingleEvent](), Fraction(0), _counted(events)
    runs = [each for each in left if isinstance(each, Run)]
    for name in ("neighbours", "unit"):
        if len({getattr(run, name) for run in runs}) > 1:
            hint = "Costs add up only for one unit under one neighbouring relation."
            raise InvalidParameterError("events", Shown("<runs that differ>"), f"runs of one {name}", hint)
    while left:  # level by level: equal parts of different groups are counted together
        level, left = left, Counter[Event | Run]()
        for event, count in level.items():
            match event:
                case Run():
                    left[event.event] += count
                case ComposedEvent() | SequenceEvent():
                    for part, times in event.parts:
                        left[part] += count * times
                case ApproximateEvent() | PrivateCandidatesEvent():
                    failing += Fraction(event.delta) * count
                    counts[PureEvent(epsilon=event.epsilon)] += count
                case _:
                    counts[event] += count
    return dict(counts), failing


def _counted(events: Iterable[Event | Run]) -> Counter[Event | Run]:
    """How often each is in the list; of a million the same object is counted at the speed of a comparison."""
    if isinstance(events, (Event, Run)):
        hint = "One event goes into a list as well."
        raise InvalidParameterError("events", Shown("<a single event>"), f"a list of {_EXPECTED}", hint)
    given = list(events) if isinstance(events, Set) else events
    listed = members_in_order(given, "events", expected=f"a list of {_EXPECTED}")
    first: Any = listed[0] if listed else None
    if isinstance(first, (Event, Run)) and listed[-1] is first and listed.count(first) == len(listed):
        return Counter({first: len(listed)})
    objects, counts = {id(each): each for each in listed}, Counter[Event | Run]()
    for identity, count in Counter(map(id, listed)).items():
        each = objects[identity]
        if not isinstance(each, (Event, Run)):
            raise InvalidParameterError("events", each, _EXPECTED)
        counts[each] += count
    return counts
