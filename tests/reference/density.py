"""The density mechanism and the way it is drawn, in exact fractions. Proof: ``proofs/density.md``.

A sample is a tuple of counts. `decay` is what one step of distance multiplies a weight with, in the place of
``exp(-epsilon / (2 k))``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import accumulate, pairwise

from tests.reference.randomness import Randomness, exact_law

Sample = tuple[int, ...]


def samples(k: int, cells: int) -> Iterator[Sample]:
    """All ways to write `k` as a sum of `cells` counts.

    >>> list(samples(1, 2))
    [(0, 1), (1, 0)]
    """
    if cells == 1:
        yield (k,)
        return
    for first in range(k + 1):
        for rest in samples(k - first, cells - 1):
            yield (first, *rest)


def distance(before: Sequence[int], through: Sequence[int], sample: Sample) -> int:
    """The largest of ``n C - k before`` and ``k through - n C`` over all boundaries: n k times the largest difference.

    >>> distance([0, 1, 2], [0, 1, 2], (2, 0)), distance([0, 1, 2], [0, 2, 2], (1, 0))
    (2, 1)
    """
    n, k = through[-1], sum(sample)
    reached = [sum(sample[:boundary]) for boundary in range(len(sample) + 1)]
    over = max(n * c - k * x for c, x in zip(reached, before, strict=True))
    under = max(k * x - n * c for c, x in zip(reached, through, strict=True))
    return max(over, under)


def share_distance(counts: Sequence[int], sample: Sequence[int]) -> float:
    """The Kolmogorov-Smirnov distance of two histograms over the same bins.

    >>> share_distance([1, 1, 2], [1, 0, 1])
    0.25
    """
    n, k = sum(map(int, counts)), sum(map(int, sample))
    pairs = zip(accumulate(map(int, counts)), accumulate(map(int, sample)), strict=True)
    return float(max(abs(Fraction(one, n) - Fraction(other, k)) for one, other in pairs))


def binned(counts: Sequence[int]) -> tuple[list[int], list[int]]:
    """Cumulative counts of the data at the ends of bins, where nothing jumps.

    >>> binned([2, 1])
    ([0, 2, 3], [0, 2, 3])
    """
    sums = [sum(counts[:boundary]) for boundary in range(len(counts) + 1)]
    return sums, sums


def weight(sample: Sample, lengths: Sequence[Fraction] | None) -> Fraction:
    """The base measure: 1 for every histogram, or that of independent points.

    >>> weight((2, 1), [Fraction(1), Fraction(3)])
    Fraction(3, 2)
    """
    if lengths is None:
        return Fraction(1)
    parts = [length**count / math.factorial(count) for length, count in zip(lengths, sample, strict=True)]
    return math.prod(parts, start=Fraction(1))


def law(
    before: Sequence[int], through: Sequence[int], *, k: int, lengths: Sequence[Fraction] | None, decay: Fraction
) -> dict[Sample, Fraction]:
    """The mechanism's law: weight times ``decay ** distance``, normalised."""
    masses = {
        sample: weight(sample, lengths) * decay ** distance(before, through, sample)
        for sample in samples(k, len(through) - 1)
    }
    return {sample: mass / sum(masses.values()) for sample, mass in masses.items()}


def rounded_up(number: Fraction, grain: int) -> Fraction:
    """The next multiple of a `grain`-th of the power of two above `number`: an upper bound that is off by a bit.

    >>> rounded_up(Fraction(5, 3), 4)
    Fraction(2, 1)
    """
    size = Fraction(2) ** math.ceil(math.log2(number)) / grain
    return math.ceil(number / size) * size


class Band:
    """Upper bounds of the weights of all ways on, inside a radius, and walks by them."""

    def __init__(
        self,
        before: Sequence[int],
        through: Sequence[int],
        *,
        k: int,
        lengths: Sequence[Fraction] | None,
        radius: int,
        grain: int,
    ) -> None:
        self.before, self.through, self.k, self.lengths, self.radius = before, through, k, lengths, radius
        self.grain = grain
        self.bound = cache(self._bound)

    def is_open(self, boundary: int, count: int) -> bool:
        """Whether a sample may have so many points before this boundary."""
        n = self.through[-1]
        over = n * count - self.k * self.before[boundary]
        return max(over, self.k * self.through[boundary] - n * count) <= self.radius

    def part(self, cell: int, points: int) -> Fraction:
        """The weight of so many points in one cell."""
        return Fraction(1) if self.lengths is None else self.lengths[cell] ** points / math.factorial(points)

    def parts(self, boundary: int, count: int) -> list[Fraction]:
        """The weights of the steps from here, each with the bound of what follows it."""
        return [
            self.part(boundary, more) * self.bound(boundary + 1, count + more) for more in range(self.k - count + 1)
        ]

    def _bound(self, boundary: int, count: int) -> Fraction:
        if not self.is_open(boundary, count):
            return Fraction(0)
        if boundary == len(self.through) - 1:
            return Fraction(int(count == self.k))
        total = sum(self.parts(boundary, count), Fraction(0))
        return rounded_up(total, self.grain) if total else total

    def law(self) -> dict[Sample, Fraction]:
        """What `walk` returns, with its probability: the steps' probabilities multiplied."""
        reached: dict[Sample, Fraction] = {(): Fraction(1)}
        for boundary in range(len(self.through) - 1):
            reached = {
                (*sample, more): mass * part / self.bound(boundary, sum(sample))
                for sample, mass in reached.items()
                for more, part in enumerate(self.parts(boundary, sum(sample)))
                if part
            }
        return reached

    def walk(self, randomness: Randomness) -> Sample | None:
        """A sample with probability `weight` over the first bound, or nothing."""
        sample: Sample = ()
        for boundary in range(len(self.through) - 1):
            here = self.bound(boundary, sum(sample))
            parts = self.parts(boundary, sum(sample))
            chosen = randomness.choose([*parts, here - sum(parts, Fraction(0))])
            if chosen == len(parts):
                return None
            sample = (*sample, chosen)
        return sample


def shells(bands: Sequence[Band], starts: Sequence[int], *, decay: Fraction) -> tuple[list[Fraction], list[Fraction]]:
    """Heights of the shells, and with what weights they are chosen.

    Shell i has the distances from ``starts[i]`` to ``bands[i].radius``; the heights from it on sum to a bound of what
    decay makes of its start.
    """
    tops = [rounded_up(decay ** (start - starts[0]), bands[0].grain) for start in starts]
    heights = [top - below for top, below in pairwise([*tops, Fraction(0)])]
    return heights, [height * band.bound(0, 0) for height, band in zip(heights, bands, strict=True)]


def propose(bands: Sequence[Band], starts: Sequence[int], *, decay: Fraction, randomness: Randomness) -> Sample | None:
    """One round: a shell, a sample from its band, and a coin for the sample's own distance."""
    heights, shares = shells(bands, starts, decay=decay)
    sample = bands[randomness.choose(shares)].walk(randomness)
    if sample is None:
        return None
    away = distance(bands[0].before, bands[0].through, sample)
    own = next(index for index, band in enumerate(bands) if away <= band.radius)
    if not randomness.coin(decay ** (away - starts[own])):
        return None
    ceiling = sum(heights[own:], Fraction(0))
    return sample if randomness.coin(decay ** (starts[own] - starts[0]) / ceiling) else None


class Rounds:
    """Shells cut after some distances, and the law of rounds until one accepts.

    `law` multiplies probabilities along the way; `law_of_program` follows every path of `propose`. They are equal.
    """

    def __init__(
        self,
        before: Sequence[int],
        through: Sequence[int],
        *,
        k: int,
        lengths: Sequence[Fraction] | None,
        decay: Fraction,
        cuts: Sequence[int],
        grain: int = 16,
    ) -> None:
        everything = through[-1] * k
        nearest = min(distance(before, through, sample) for sample in samples(k, len(through) - 1))
        radii = [*(cut for cut in cuts if nearest <= cut < everything), everything]
        self.starts = [nearest, *(radius + 1 for radius in radii[:-1])]
        self.bands = [Band(before, through, k=k, lengths=lengths, radius=radius, grain=grain) for radius in radii]
        self.decay = decay
        self.heights, self.shares = shells(self.bands, self.starts, decay=decay)

    def kept(self, chosen: int) -> dict[Sample, Fraction]:
        """What a round in this shell returns, with its probability."""
        band = self.bands[chosen]
        masses: dict[Sample, Fraction] = {}
        for sample, mass in band.law().items():
            away = distance(band.before, band.through, sample)
            own = next(index for index, other in enumerate(self.bands) if away <= other.radius)
            ceiling = sum(self.heights[own:], Fraction(0))
            first, second = self.decay ** (away - self.starts[own]), self.decay ** (self.starts[own] - self.starts[0])
            masses[sample] = mass * first * (second / ceiling)
        return masses

    def law(self, *, keeps_the_shell: bool = False) -> dict[Sample, Fraction]:
        """The law; with `keeps_the_shell` a rejection draws from the same band again, which is not the mechanism's."""
        mixed: dict[Sample, Fraction] = {}
        for chosen, share in enumerate(self.shares):
            masses = self.kept(chosen)
            factor = share / sum(masses.values()) if keeps_the_shell else share
            for sample, mass in masses.items():
                mixed[sample] = mixed.get(sample, Fraction(0)) + mass * factor
        total = sum(mixed.values())
        return {sample: mass / total for sample, mass in mixed.items()}

    def law_of_program(self) -> dict[Sample, Fraction]:
        """The law of `propose`, repeated."""
        one = exact_law(lambda randomness: propose(self.bands, self.starts, decay=self.decay, randomness=randomness))
        accepted = 1 - one.get(None, Fraction(0))
        return {sample: mass / accepted for sample, mass in one.items() if sample is not None}
