"""Exact privacy curves of mechanisms that can be written down: what every bound has to cover."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting import (
    BoundedRangeEvent,
    ComposedEvent,
    LaplaceProfileEvent,
    LogisticProfileEvent,
    PureEvent,
    compose,
)
from dpselect.accounting.divergence import largest_fitting
from dpselect.accounting.events import SingleEvent

FloatArray = NDArray[np.float64]
Losses = tuple[FloatArray, FloatArray]
"""The losses of a pair of laws and their probabilities under the first."""


def two_points(t: float, epsilon: float) -> Losses:
    """The worst laws of a range epsilon: loss t, else t - epsilon."""
    p = math.expm1(t - epsilon) / math.expm1(-epsilon)
    return np.array([t, t - epsilon]), np.array([p, 1.0 - p])


def randomised_response(epsilon: float) -> Losses:
    """Loss epsilon or its negative."""
    p = 1.0 / (1.0 + math.exp(-epsilon))
    return np.array([epsilon, -epsilon]), np.array([p, 1.0 - p])


def rounded_laplace(epsilon: float, pieces: int = 4) -> Losses:
    """The Laplace pair seen through a few half-lines: less private than nothing, no less private than the pair."""
    cuts = np.linspace(0.0, epsilon, pieces + 1)
    below = [
        np.where(x < 0, np.exp(np.minimum(x, 0)) / 2, 1 - np.exp(-np.maximum(x, 0)) / 2) for x in (cuts, cuts - epsilon)
    ]
    return _from_distributions(*below)


def rounded_logistic(epsilon: float, pieces: int = 4) -> Losses:
    """The same of the logistic pair."""
    cuts = np.linspace(-2.0, epsilon + 2.0, pieces + 1)
    return _from_distributions(*(1.0 / (1.0 + np.exp(-x)) for x in (cuts, cuts - epsilon)))


def _from_distributions(one: FloatArray, other: FloatArray) -> Losses:
    p, q = (np.diff(np.concatenate([[0.0], each, [1.0]])) for each in (one, other))
    return np.log(p / q), p


def worlds_of(event: SingleEvent, share: float) -> Losses:
    """A mechanism that has the property of `event`; `share` from 0 to 1 picks one."""
    if isinstance(event, BoundedRangeEvent):
        return two_points(share * event.epsilon, event.epsilon)
    kinds: dict[type, Callable[[float], Losses]] = {
        LaplaceProfileEvent: rounded_laplace,
        LogisticProfileEvent: rounded_logistic,
        PureEvent: randomised_response,
    }
    return kinds[type(event)](event.epsilon)


def together(parts: list[Losses]) -> Losses:
    """Independent runs: losses add up."""
    losses, chances = np.zeros(1), np.ones(1)
    for more, p in parts:
        losses = np.add.outer(losses, more).ravel()
        chances = np.multiply.outer(chances, p).ravel()
    return losses, chances


def delta_of(world: Losses, epsilon: float) -> float:
    """The exact delta at `epsilon`, to within the rounding of doubles."""
    losses, chances = world
    return float(np.sum(chances * np.maximum(-np.expm1(np.minimum(epsilon - losses, 0.0)), 0.0)))


def closed_form_rounds(*, epsilon: float, delta: float, count: int) -> float:
    """Epsilon of each of `count` bounded-range rounds by Rényi divergences alone, without the exact recursion."""
    total = partial(bounded_range_epsilon, count=count, delta=delta)
    return max(epsilon / count, largest_fitting(total, epsilon, start=epsilon / count, close=2.0**-30))


def rounds_epsilon(epsilon: float, *, count: int, delta: float, work: float = 5e8) -> float:
    """What `count` rounds of a mechanism with this range cost together."""
    return compose([ComposedEvent(event=BoundedRangeEvent(epsilon=epsilon), count=count)], work=work).epsilon(delta)


def bounded_range_epsilon(epsilon: float, *, count: int, delta: float) -> float:
    """The same without the exact recursion: by sums and by Rényi divergences."""
    return rounds_epsilon(epsilon, count=count, delta=delta, work=0.0)
