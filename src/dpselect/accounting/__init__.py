"""What was spent: events describe what ran, without any data, and this layer turns them into epsilon and delta."""

from dpselect.accounting.calibration import calibrate
from dpselect.accounting.composition import Bound, Composition, Explanation, compose
from dpselect.accounting.events import (
    ApproximateEvent,
    BoundedRangeEvent,
    ComposedEvent,
    Event,
    LaplaceProfileEvent,
    LogisticProfileEvent,
    LossIntervalEvent,
    NonAdaptiveEvent,
    PrivateCandidatesEvent,
    PureEvent,
    Run,
    SequenceEvent,
)
from dpselect.accounting.exact_rounds import calibrate_rounds, planned_epsilon, rounds_epsilon
from dpselect.accounting.filter import Filter
from dpselect.accounting.odometer import Odometer
from dpselect.accounting.profiles import (
    bounded_range_epsilon,
    bounded_range_renyi,
    calibrate_bounded_range,
    calibrate_laplace_profile,
    laplace_profile_epsilon,
    laplace_profile_renyi,
)

__all__ = [
    "ApproximateEvent",
    "Bound",
    "BoundedRangeEvent",
    "ComposedEvent",
    "Composition",
    "Event",
    "Explanation",
    "Filter",
    "LaplaceProfileEvent",
    "LogisticProfileEvent",
    "LossIntervalEvent",
    "NonAdaptiveEvent",
    "Odometer",
    "PrivateCandidatesEvent",
    "PureEvent",
    "Run",
    "SequenceEvent",
    "bounded_range_epsilon",
    "bounded_range_renyi",
    "calibrate",
    "calibrate_bounded_range",
    "calibrate_laplace_profile",
    "calibrate_rounds",
    "compose",
    "laplace_profile_epsilon",
    "laplace_profile_renyi",
    "planned_epsilon",
    "rounds_epsilon",
]
