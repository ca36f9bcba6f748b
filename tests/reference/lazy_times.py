"""Times that are known in part, and which of them comes first. Exact.

Proof: ``proofs/exponential_once.md``, claim 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.reference.randomness import Randomness


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


def compared(one: Clock, other: Clock, *, steps: int, randomness: Randomness) -> tuple[bool | None, Clock, Clock]:
    """Whether the first comes first (``None`` if `steps` refinements did not tell), and what is known of both then."""
    for step in range(steps + 1):
        (start, end), (other_start, other_end) = one.interval, other.interval
        if end <= other_start or start >= other_end:
            return end <= other_start, one, other
        if step < steps:
            one, other = one.refined(randomness=randomness), other.refined(randomness=randomness)
    return None, one, other


def first_of(clocks: Sequence[Clock], *, steps: int, randomness: Randomness) -> int | None:
    """Which comes first: each is compared with the first of those before it, by what is known of that then."""
    first, earliest = 0, clocks[0]
    for place, clock in enumerate(clocks[1:], 1):
        is_before, clock, earliest = compared(clock, earliest, steps=steps, randomness=randomness)
        if is_before is None:
            return None
        if is_before:
            first, earliest = place, clock
    return first
