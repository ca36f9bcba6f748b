"""What was spent: events describe what ran, without any data, and this layer turns them into epsilon and delta."""

from typing import TYPE_CHECKING

from dpselect.on_use import on_use

if TYPE_CHECKING:
    from dpselect.accounting.codec import from_dp_accounting as from_dp_accounting
    from dpselect.accounting.codec import from_json as from_json
    from dpselect.accounting.codec import to_dp_accounting as to_dp_accounting
    from dpselect.accounting.codec import to_json as to_json
    from dpselect.accounting.composition import Composition as Composition
    from dpselect.accounting.composition import calibrate as calibrate
    from dpselect.accounting.composition import calibrate_rounds as calibrate_rounds
    from dpselect.accounting.composition import compose as compose
    from dpselect.accounting.composition import planned_epsilon as planned_epsilon
    from dpselect.accounting.events import ApproximateEvent as ApproximateEvent
    from dpselect.accounting.events import BoundedRangeEvent as BoundedRangeEvent
    from dpselect.accounting.events import ComposedEvent as ComposedEvent
    from dpselect.accounting.events import Event as Event
    from dpselect.accounting.events import LaplaceProfileEvent as LaplaceProfileEvent
    from dpselect.accounting.events import LogisticProfileEvent as LogisticProfileEvent
    from dpselect.accounting.events import LossIntervalEvent as LossIntervalEvent
    from dpselect.accounting.events import PrivateCandidatesEvent as PrivateCandidatesEvent
    from dpselect.accounting.events import PureEvent as PureEvent
    from dpselect.accounting.events import Run as Run
    from dpselect.accounting.events import SequenceEvent as SequenceEvent
    from dpselect.accounting.filter import Filter as Filter
else:
    __getattr__, __dir__, __all__ = on_use(__name__, __file__)
