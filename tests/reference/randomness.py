"""Programs over an explicit source of chance, and the exact law of what they return."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import TypeVar

Outcome = TypeVar("Outcome", bound=Hashable)


class Randomness:
    """Everything a model may draw. One object is one run: it follows `script`, then always the first way open.

    Attributes:
        probability: of the path followed so far.
        untaken: scripts of the paths that branch off it.
    """

    def __init__(self, script: Sequence[int] = ()) -> None:
        self._script = tuple(script)
        self._taken: list[int] = []
        self.probability = Fraction(1)
        self.untaken: list[tuple[int, ...]] = []

    def choose(self, weights: Sequence[Fraction | int]) -> int:
        """Index ``i`` with probability ``weights[i] / sum(weights)``; weights are not negative, some positive."""
        possible = [index for index, weight in enumerate(weights) if weight > 0]
        if not possible or min(weights) < 0:
            raise ValueError("weights must be >= 0 and not all 0")
        depth = len(self._taken)
        if depth < len(self._script):
            chosen = self._script[depth]
        else:
            chosen = possible[0]
            self.untaken.extend((*self._taken, other) for other in possible[1:])
        self._taken.append(chosen)
        self.probability *= Fraction(weights[chosen]) / sum(weights)
        return chosen

    def uniform(self, count: int) -> int:
        """Each of ``0 .. count - 1`` equally likely."""
        return self.choose([1] * count)

    def coin(self, probability: Fraction | int) -> bool:
        """Heads with this probability."""
        return self.choose([1 - probability, probability]) == 1


def exact_law(program: Callable[[Randomness], Outcome]) -> dict[Outcome, Fraction]:
    """The law of what `program` returns, by following every path it can take.

    The program must be deterministic given its `Randomness` and must stop on every path.

    >>> law = exact_law(lambda randomness: randomness.coin(Fraction(1, 3)) + randomness.coin(Fraction(1, 2)))
    >>> sorted(law.items())
    [(0, Fraction(1, 3)), (1, Fraction(1, 2)), (2, Fraction(1, 6))]
    """
    law: dict[Outcome, Fraction] = defaultdict(Fraction)
    pending: list[tuple[int, ...]] = [()]
    while pending:
        randomness = Randomness(pending.pop())
        law[program(randomness)] += randomness.probability
        pending.extend(randomness.untaken)
    return dict(law)


def repeated_until_accepted(round_law: Mapping[int | None, Fraction], *, count: int) -> tuple[Fraction, ...]:
    """The law over ``0 .. count - 1`` of repeating independent rounds until one does not return ``None``.

    The sum over rounds is geometric, so it is the round's law given that it does not return ``None``.

    >>> repeated_until_accepted({0: Fraction(1, 4), 1: Fraction(1, 8), None: Fraction(5, 8)}, count=2)
    (Fraction(2, 3), Fraction(1, 3))
    """
    accepted = 1 - round_law.get(None, Fraction(0))
    return tuple(round_law.get(index, Fraction(0)) / accepted for index in range(count))


def as_vector(law: Mapping[int, Fraction] | Mapping[int | None, Fraction], *, count: int) -> tuple[Fraction, ...]:
    """`law` as probabilities of ``0 .. count - 1``.

    >>> as_vector({1: Fraction(1)}, count=2)
    (Fraction(0, 1), Fraction(1, 1))
    """
    return tuple(law.get(index, Fraction(0)) for index in range(count))
