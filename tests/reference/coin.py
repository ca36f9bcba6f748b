"""Decisions about real numbers from bits drawn as needed. Proof: ``proofs/exact_sampling.md``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from tests.reference.randomness import Randomness

Enclosure = Callable[[int], tuple[Fraction, Fraction]]
"""An interval around a real number, one for every step; later ones need not be narrower, only right."""


class LazyUniform:
    """A uniform real in [0, 1) of which only the bits asked for have been drawn."""

    def __init__(self, *, randomness: Randomness) -> None:
        self._randomness = randomness
        self._numerator = 0
        self.bits = 0

    def refine(self) -> None:
        """Draw one more bit."""
        self._numerator = 2 * self._numerator + self._randomness.uniform(2)
        self.bits += 1

    @property
    def cell(self) -> tuple[Fraction, Fraction]:
        """The interval the number is known to lie in: its start belongs to it, its end does not."""
        return Fraction(self._numerator, 2**self.bits), Fraction(self._numerator + 1, 2**self.bits)


def is_below(uniform: LazyUniform, enclosure: Enclosure, *, steps: int) -> bool | None:
    """Whether the uniform number is below the enclosed one; ``None`` if `steps` refinements did not tell.

    >>> third = Fraction(1, 3)
    >>> from tests.reference.randomness import exact_law
    >>> law = exact_law(lambda randomness: is_below(
    ...     LazyUniform(randomness=randomness), lambda step: (third, third), steps=4))
    >>> law[True], law[False], law[None]                   # each side lacks what is still undecided
    (Fraction(5, 16), Fraction(5, 8), Fraction(1, 16))
    """
    for step in range(steps + 1):
        low, high = enclosure(step)
        start, end = uniform.cell
        if end <= low:
            return True
        if start >= high:
            return False
        if step < steps:
            uniform.refine()
    return None


def first_of_race(flip_probabilities: Sequence[Fraction], *, steps: int, randomness: Randomness) -> int | None:
    """The smallest of ``U_i / p_i`` (permute-and-flip) from lazy uniforms; ``None`` if `steps` rounds did not tell.

    Only contenders are refined: those whose interval starts before the earliest end. The others are out for good.
    """
    uniforms = [LazyUniform(randomness=randomness) for _ in flip_probabilities]
    contenders = list(range(len(uniforms)))
    for step in range(steps + 1):
        intervals = {i: tuple(bound / flip_probabilities[i] for bound in uniforms[i].cell) for i in contenders}
        earliest_end = min(end for _, end in intervals.values())
        contenders = [i for i in contenders if intervals[i][0] < earliest_end]
        if len(contenders) == 1:
            return contenders[0]
        if step < steps:
            for i in contenders:
                uniforms[i].refine()
    return None
