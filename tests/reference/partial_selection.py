"""A selection drawn in parts: of each part who comes first, and when; merged, whoever comes first of all.

Times are known in part only. Proof: ``proofs/partial_selection.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.reference.randomness import Randomness
from tests.reference.stages import chance_of_arriving


@dataclass(frozen=True)
class Clock:
    """The time ``(known + U_1 + ... + U_parts) / 2**bits / rate``; nobody has seen a bit of the uniforms U."""

    known: int
    bits: int
    parts: int
    rate: Fraction

    def refined(self, *, randomness: Randomness) -> Clock:
        """One bit more of each part."""
        drawn = sum(randomness.uniform(2) for _ in range(self.parts))
        return Clock(2 * self.known + drawn, self.bits + 1, self.parts, self.rate)

    @property
    def interval(self) -> tuple[Fraction, Fraction]:
        """Where the time is known to lie: its start belongs to it, its end does not."""
        unit = 1 / (2**self.bits * self.rate)
        return self.known * unit, (self.known + self.parts) * unit


@dataclass(frozen=True)
class Partial:
    """Who comes first in a part, the weight ``exp(top / scale)`` of its best score, and when, if that weight were 1."""

    candidate: int
    top: Fraction
    clock: Clock


def merged(one: Partial | None, other: Partial | None, *, steps: int, randomness: Randomness) -> Partial | None:
    """The first of both; ``None`` if `steps` refinements did not tell, or did not tell before."""
    if one is None or other is None:
        return None
    ours, theirs = one.clock, other.clock
    for step in range(steps + 1):
        (start, end), (other_start, other_end) = ours.interval, theirs.interval
        if end * other.top <= other_start * one.top:  # a time of the part, divided by its top, is one for all parts
            return Partial(one.candidate, one.top, ours)
        if start * other.top >= other_end * one.top:
            return Partial(other.candidate, other.top, theirs)
        if step < steps:
            ours, theirs = ours.refined(randomness=randomness), theirs.refined(randomness=randomness)
    return None


def first_of(partials: Iterable[Partial | None], *, steps: int, randomness: Randomness) -> Partial | None:
    """All of them merged, from left to right."""
    first, *others = partials
    for other in others:
        first = merged(first, other, steps=steps, randomness=randomness)
    return first


def permute_and_flip_part(
    weights: Sequence[Fraction], candidates: Sequence[int], *, halvings: int, steps: int, randomness: Randomness
) -> Partial | None:
    """Permute-and-flip among `candidates`: stages that end at ``2**-halvings``, twice that, ..., 1."""
    top = max(weights[i] for i in candidates)
    start = Fraction(0)
    for end in (Fraction(1, 2**halving) for halving in range(halvings, -1, -1)):
        length = end - start
        arrived = [i for i in candidates if randomness.coin(chance_of_arriving(weights[i] / top, start=start, end=end))]
        if arrived:
            # Each at a uniform time of the stage, of which no bit is drawn yet.
            times = [Partial(i, top, Clock(int(start / length), 0, 1, 1 / length)) for i in arrived]
            return first_of(times, steps=steps, randomness=randomness)
        start = end
    raise AssertionError("the best comes by 1")


def exponential_part(
    weights: Sequence[Fraction],
    candidates: Sequence[int],
    bounds: Sequence[Fraction],
    *,
    rounds: int,
    randomness: Randomness,
) -> tuple[int, int, Fraction] | None:
    """The exponential mechanism: who is accepted first, by which proposal, and the rate of the proposals.

    `bounds` are at least the weights. ``None`` if `rounds` proposals were refused.
    """
    for ticks in range(1, rounds + 1):
        candidate = candidates[randomness.choose([bounds[i] for i in candidates])]
        if randomness.coin(weights[candidate] / bounds[candidate]):
            return candidate, ticks, sum((bounds[i] for i in candidates), Fraction(0))
    return None


def first_to_tick(clocks: Sequence[tuple[int, Fraction]], *, randomness: Randomness) -> int:
    """Which clock ends first: one of ``(ticks, rate)`` ends after so many independent exponential gaps of its rate.

    The next tick of all belongs to each clock with probability proportional to its rate, whatever came before.
    """
    left = [ticks for ticks, _ in clocks]
    while True:
        ticking = randomness.choose([rate for _, rate in clocks])
        left[ticking] -= 1
        if left[ticking] == 0:
            return ticking
