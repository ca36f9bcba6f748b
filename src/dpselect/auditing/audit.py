"""Draw from two neighbours, find what tells outputs apart, and prove by fresh draws how large epsilon is at least."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any

from scipy.special import betainccinv, betaincinv

from dpselect.auditing.events import Flat, choose, flat
from dpselect.checks import delta_below_one, function, positive_count, positive_epsilon, probability
from dpselect.errors import InvalidParameterError, Shown

Outputs = tuple[list[Flat], list[Flat]]  # for the two neighbours of a pair

_FEWEST, _TESTED = 200, 4
"""Draws for each neighbour of an audit, and the most events that a look tests."""
_MOST_REMEMBERED = 100_000  # outputs for each neighbour that events are chosen by: the newest
_ROUNDING = 1e-9
"""By how much bounds of probabilities are widened: a thousand times the relative error of SciPy's quantiles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """What an audit found; print it. A bound below the claim proves nothing: see `audit`.

    Attributes:
        lower_bound: epsilon is at least this, with the stated confidence; 0 if nothing was shown.
        event: of which that was proved, in words, and how often it happened.
        looks: how many draws there were for each neighbour at each look, and the largest bound then.
        claimed_epsilon, claimed_delta, confidence: of the call.
    """

    lower_bound: float
    event: str
    looks: tuple[tuple[int, float], ...]
    claimed_epsilon: float
    claimed_delta: float
    confidence: float

    @property
    def broken(self) -> bool:
        """Whether the claim is refuted. If not, these draws did not refute it: no more."""
        return self.lower_bound > self.claimed_epsilon

    def __str__(self) -> str:
        found = "Broken" if self.broken else "Not refuted, which says nothing of other neighbours and of rarer events"
        claim = f"claimed are epsilon = {self.claimed_epsilon:g} and delta = {self.claimed_delta:g}"
        sure = f"with {100 * self.confidence:.12g}% confidence epsilon is at least {self.lower_bound:.4g} at this delta"
        return f"{found}: {claim}, and {sure}.\nEvent: {self.event}."


def audit(
    sampler: Callable[[Any], object],
    neighbours: Any,
    *,
    claimed_epsilon: float,
    claimed_delta: float = 0.0,
    draws: int,
    confidence: float = 0.999,
) -> AuditReport:
    r"""Look for an event which shows that a mechanism is less private than claimed.

    It looks up to four times, each time at twice as many draws: one half of them chooses at most four events, the other
    tests them, and the first bound above the claim ends it. Which events are tried: ``docs/auditing.md``. The bound is

    .. math:: \ln \frac{p_{\text{low}} - \delta}{q_{\text{high}}}

    with exact binomial bounds of an event's probabilities. All bounds hold together, for all looks, events, directions
    and pairs: a mechanism that keeps the claim is called broken with probability at most ``1 - confidence``. Nothing
    shows that it keeps it.

    Args:
        sampler: from a neighbour to an output, by an independent run of the mechanism. An output is a number, text,
            anything else with a `repr` of its own, or a list, array, set or dictionary of these.
        neighbours: a tuple of two, or a list of such tuples, of whatever `sampler` takes. Take extreme ones.
        claimed_epsilon: > 0.
        claimed_delta: in [0, 1).
        draws: for each neighbour of each pair, at most. So few that no event could refute the claim are refused.
        confidence: that the lower bound holds, strictly between 0 and 1.

    Raises:
        InvalidParameterError: an argument is invalid, or `sampler` raises an error at every draw.

    Proof: ``proofs/audit.md``. Source: Clopper and Pearson (1934) for the bounds, Ding et al. (2018) for the halves.

    >>> import dpselect as dps
    >>> mechanism = dps.GeometricMechanism(epsilon=1.0, sensitivity=1)
    >>> dps.audit(mechanism.draw, (0, 1), claimed_epsilon=1.0, draws=4000).broken
    False
    >>> report = dps.audit(mechanism.draw, (0, 2), claimed_epsilon=1.0, draws=8000)  # two steps: epsilon is 2
    >>> report.broken, 1 < report.lower_bound < 2
    (True, True)
    """
    function(sampler, "sampler", expected="a function from a neighbour to an output")
    pairs: list[Any] = neighbours if issubclass(type(neighbours), list) else [neighbours]
    if not pairs or any(type(each) is not tuple or len(each) != 2 for each in pairs):
        raise InvalidParameterError("neighbours", neighbours, "a tuple of two neighbours, or a list of such tuples")
    epsilon = positive_epsilon(claimed_epsilon, "claimed_epsilon")
    delta = delta_below_one(claimed_delta, "claimed_delta")
    draws = positive_count(draws, "draws", at_most=10**12)
    schedule = _schedule(draws, 1 - probability(confidence, "confidence"), epsilon, delta)

    seen: list[Outputs] = [([], []) for _ in pairs]
    best, looks = (0.0, "none that tells the neighbours apart"), list[tuple[int, float]]()
    for size, error in schedule:
        for pair, outputs in zip(pairs, seen, strict=True):
            _draw(sampler, pair, size - (looks[-1][0] if looks else 0), outputs)
        events = choose(seen, delta=delta, most=_TESTED)
        fresh = [_draw(sampler, pair, size, ([], [])) for pair in pairs]
        for event in events:
            first, second = map(event.count, fresh[event.pair])
            more, less = (second, first) if event.likelier else (first, second)
            bound = lower_bound(more, less, size, error=error / len(events), delta=delta)
            if bound > best[0]:
                best = bound, f"{event}: in {first:,} and {second:,} of {size:,} draws"
        looks.append((2 * size, best[0]))
        if best[0] > epsilon:
            break
        for old, new in zip(chain(*seen), chain(*fresh), strict=True):
            old[:] = [*old, *new][-_MOST_REMEMBERED:]
    return AuditReport(
        lower_bound=best[0],
        event=best[1],
        looks=tuple(looks),
        claimed_epsilon=epsilon,
        claimed_delta=delta,
        confidence=float(confidence),
    )


def lower_bound(more: int, less: int, size: int, *, error: float, delta: float) -> float:
    """A lower bound of epsilon from `size` draws for each neighbour: half of `error` is for each probability."""
    p = 0.0 if more == 0 else float(betaincinv(more, size - more + 1, error / 2)) * (1 - _ROUNDING)
    q = 1.0 if less == size else float(betainccinv(less + 1, size - less, error / 2)) * (1 + _ROUNDING)
    return max(0.0, math.log((p - delta) / q)) if p > delta else 0.0


def _schedule(draws: int, error: float, epsilon: float, delta: float) -> list[tuple[int, float]]:
    """For each look, how many draws choose, and as many test, and its share of the error."""
    looks = [(draws >> 4, error / 6), (draws >> 3, error / 6), (draws >> 2, error / 6), (draws >> 1, error / 2)]
    size, last = looks[-1]
    if draws < _FEWEST or lower_bound(size, 0, size, error=last / _TESTED, delta=delta) <= epsilon:
        needed = max(_FEWEST, 2.2 * math.log(8 / last) * math.exp(min(epsilon, 700.0)) / (1 - delta))
        hint = "No event in fewer draws could refute the claim with this confidence."
        raise InvalidParameterError("draws", draws, f"at least about {needed:,.0f}", hint)
    return looks


def _draw(sampler: Any, pair: tuple[Any, Any], draws: int, outputs: Outputs) -> Outputs:
    """Draw for both neighbours in turn, so that what changes with time changes for both."""
    raised: list[str] = []
    for _ in range(draws):
        for neighbour, found in zip(pair, outputs, strict=True):
            try:
                output = sampler(neighbour)
            except Exception as error:  # noqa: BLE001 - whatever it raises, others can see it
                raised.append(type(error).__name__)
                found.append({"the error": raised[-1]} | flat(str(error), "the text of the error"))
            else:
                found.append(flat(output))
    if draws and len(raised) == 2 * draws:
        raise InvalidParameterError("sampler", Shown(f"<raises {raised[0]} at every draw>"), "a function of neighbours")
    return outputs
