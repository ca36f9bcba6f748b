"""How a recipe's selections share its budget: which mechanism, and what each of them may spend."""

from __future__ import annotations

from typing import Literal, get_args

from dpselect.accounting import calibrate
from dpselect.checks import one_of
from dpselect.mechanisms import ExponentialMechanism, PermuteAndFlip
from dpselect.planning import recommendation
from dpselect.privacy import Neighbours

Selection = Literal["auto", "permute_and_flip", "exponential"]
"""Which mechanism selects; ``"auto"``: the one with the smaller error at the number of selections and the delta."""


def shared_selections(
    selection: Selection,
    *,
    count: int,
    epsilon: float,
    delta: float,
    sensitivity: int,
    monotonic: bool = False,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
) -> PermuteAndFlip | ExponentialMechanism:
    """The mechanism of each of `count` selections that cost (`epsilon`, `delta`) together.

    Raises:
        InvalidParameterError: `selection` is not one of the three words.

    >>> shared_selections("auto", count=4, epsilon=1.0, delta=0.0, sensitivity=1).epsilon
    0.25
    """
    one_of(selection, "selection", get_args(Selection))
    kinds = {"permute_and_flip": PermuteAndFlip, "exponential": ExponentialMechanism}
    kind = recommendation(count, delta, epsilon=epsilon).mechanism if selection == "auto" else kinds[selection]
    return calibrate(
        kind,
        count=count,
        epsilon=epsilon,
        delta=delta,
        sensitivity=sensitivity,
        monotonic=monotonic,
        neighbours=neighbours,
    )
