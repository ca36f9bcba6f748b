"""Scores at the limits of the index's layout, of each type of number and each place in memory, and their exact laws.

An instance consists of cells of items that are alike: the same score, the same weight, a like place in the layout. So a
law is computed for some dozen cells, however many items there are, from exponents that are exact fractions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.laws.cell_laws import with_weights

TYPES = ("f8", "f4", "i8", "u8", "i4", "u4", "i2", "u2", "i1", "u1")
FEW = 2**15
TURN_BYTES, THREAD_BYTES = 2**18, 2**20
"""What one of several threads takes at a time, and what one more thread is worth."""


@dataclass(frozen=True)
class Layout:
    """Items in rows of `lanes`, and so many rows to a stripe: as in rust/src/scores/block_index.rs."""

    n: int
    lanes: int
    most_rows: int

    @property
    def stripe(self) -> int:
        return self.lanes * (8 if self.n <= FEW else self.most_rows)

    @cached_property
    def parts(self) -> NDArray[np.intp]:
        """Of each item a number below 12: in the first, last or another stripe, the last lane, the last row."""
        items = np.arange(self.n)
        stripes, last_row = items // self.stripe, (self.n - 1) // self.lanes
        which = np.where(stripes == 0, 1, np.where(stripes == (self.n - 1) // self.stripe, 2, 0))
        return which * 4 + (items % self.lanes == self.lanes - 1) * 2 + (items // self.lanes == last_row)

    def limits(self, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Places on either side of where a lane, a row, a stripe, a turn or everything ends."""
        some = int(rng.integers(1 + self.n // self.stripe)) * self.stripe
        turn = TURN_BYTES // size * int(rng.integers(1, 3))
        last = self.n // self.stripe * self.stripe
        ends = (0, self.lanes, self.stripe, some, some + self.lanes, turn, last, last + self.lanes)
        found = np.array([*ends, self.n - self.n % self.lanes, self.n])
        found = np.r_[found - 1, found, some + self.stripe - self.lanes]
        return np.unique(found[(found >= 0) & (found < self.n)])


def a_size(size: int, lanes: int, most_rows: int, rng: np.random.Generator) -> int:
    """Few or many, at a limit or one, two or a row beside it; sometimes as many as several threads share."""
    beside = int(rng.choice([-lanes, -2, -1, 0, 0, 1, 2, lanes]))
    if rng.random() < 0.06:
        return int(rng.integers(2 * THREAD_BYTES // TURN_BYTES, 11)) * TURN_BYTES // size + abs(beside)
    stripe = lanes * (8 if rng.random() < 0.6 else most_rows)
    if stripe == lanes * most_rows:
        return FEW + int(rng.choice([1, 2, lanes, stripe * rng.integers(1, 9) + beside]))
    end = int(rng.choice([lanes * rng.integers(1, 12), stripe * rng.integers(1, 6), FEW // 2, FEW]))
    return int(np.clip(end + beside, 1, FEW))


@dataclass(frozen=True)
class Instance:
    """Scores, what they are drawn with, and cells of items that are alike."""

    scores: NDArray[Any]
    weights: NDArray[np.float64] | list[Fraction] | None
    terms: dict[str, Any]
    cell_of: NDArray[np.intp]
    sizes: NDArray[np.intp]
    exponents: list[Fraction]
    """Of each cell: how far its score is below the best, over the scale."""
    weight_of: list[Fraction]
    parts: NDArray[np.intp]
    context: str

    def law_of(self, law: Callable[..., NDArray[np.float64]]) -> Callable[..., NDArray[np.float64]]:
        """The law of the cells, of so many items each; wrong if `stretch` or `heavier` says so."""
        if self.weights is None:
            floats = np.array([float(min(each, Fraction(10**300))) for each in self.exponents])
            return lambda sizes, stretch=1.0: law(sizes, floats * stretch)
        return with_weights(self.exponents, self.weight_of)

    def wrong_sizes(self, name: str) -> NDArray[np.intp]:
        """As many items to each cell as if the index were wrong in one way."""
        sizes = self.sizes.copy()
        taking_part = np.array([weight > 0 for weight in self.weight_of])
        if name == "the last lane is left out":
            sizes[self.parts & 2 > 0] = 0
        elif name == "the first stripe counts twice":
            sizes[self.parts // 4 == 1] *= 2
        elif name == "the last row is left out":
            sizes[self.parts & 1 > 0] = 0
        return sizes if sizes[taking_part].any() else self.sizes


def an_instance(seed: int, *, weighted: bool = False, rounds: bool = False) -> Instance:
    """One of many kinds; with `rounds`, some of which the best is so far above that only the second draw tells."""
    rng = np.random.default_rng([seed, weighted, rounds])
    dtype = np.dtype(str(rng.choice([*TYPES, "f8", "f8", "f4"])))
    lanes = 32 if weighted else min(256 // dtype.itemsize, 64)
    fractions = weighted and rng.random() < 0.3
    most_rows = 256 // dtype.itemsize if dtype.itemsize <= 2 and not weighted else 32
    n = a_size(dtype.itemsize, lanes, most_rows, rng)
    if fractions:
        n = min(n, 1500 + int(rng.integers(4)))
    layout = Layout(n, lanes, most_rows)

    level_of, falls = _levels(layout, dtype.itemsize, rng)
    weight_of = _weights(falls, fractions, _room(dtype), rng) if weighted else [Fraction(1)] * falls.size
    lift = np.array([_log(each or weight_of[0]) for each in weight_of])
    if weighted and rng.random() < 0.4 and n > 1 and (falls > 0).any():
        # The first one, from which keys are measured, lies far below.
        level_of[0], far = falls.size, min(10 ** rng.uniform(2, 12), _room(dtype) / 4)
        falls, lift, weight_of = np.r_[falls, far], np.r_[lift, lift[0]], [*weight_of, weight_of[0]]
    if rounds and rng.random() < 0.4:
        level_of[rng.integers(n)] = falls.size
        above = min(10 ** rng.uniform(1.7, 9), _room(dtype) / 4)
        falls, lift, weight_of = np.r_[falls, -above], np.r_[lift, lift[0]], [*weight_of, weight_of[0]]
    falls = falls + lift
    values, unit, family = _values(falls - falls.min(), dtype, rng)
    terms, per_unit = _terms(unit, rng)

    scores = values[level_of]
    signs = (scores == 0) & (rng.random(n) < 0.5) if dtype.kind == "f" else np.zeros(n, np.bool_)
    scores[signs] = -0.0
    keys = (level_of * 2 + signs) * 12 + layout.parts
    used = np.flatnonzero(np.bincount(keys))
    cell_of = np.searchsorted(used, np.arange(used[-1] + 1))[keys]
    exact = [Fraction(int(each)) if dtype.kind in "iu" else Fraction(float(each)) for each in values]
    top = max(exact[level] for level in {*(used // 24).tolist()})
    placed, where = _placed(scores, rng)
    weights: NDArray[np.float64] | list[Fraction] | None = None
    if fractions:
        weights = [weight_of[level] for level in level_of]
    elif weighted:
        weights = np.array([float(each) for each in weight_of])[level_of]
    return Instance(
        scores=placed,
        weights=weights,
        terms=terms,
        cell_of=cell_of,
        sizes=np.bincount(cell_of),
        exponents=[(top - exact[key // 24]) * per_unit for key in used.tolist()],
        weight_of=[weight_of[key // 24] for key in used.tolist()],
        parts=used % 12,
        context=f"instance {seed}: {n} scores of type {dtype.str}, {family}, {where}, {terms}",
    )


def _levels(layout: Layout, size: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Of each item the number of its level, and how many scales each level lies below the first.

    Some leaders at limits of the layout; all others on one to three levels, and together as likely, far more or less.
    """
    n, limits = layout.n, layout.limits(size, rng)
    count = min(n, int(rng.integers(2, 9)))
    places = rng.permutation(np.unique(np.r_[rng.permutation(limits)[:count], rng.integers(n)]))
    leaders = np.r_[0.0, rng.uniform(0.3, rng.choice([1.0, 3.0, 6.0]), places.size - 1)]
    others = max(0.3, math.log(n) - rng.uniform(-3.0, 4.0)) + 0.5 * np.arange(rng.integers(1, 4))
    if rng.random() < 0.3:
        others[-1] += 16.0  # hardly ever
    level_of = places.size + rng.integers(0, others.size, n)
    level_of[places] = np.arange(places.size)
    return level_of, np.r_[leaders, others]


def _weights(falls: NDArray[np.float64], fractions: bool, room: float, rng: np.random.Generator) -> list[Fraction]:
    """Of each level, of any size: scores make up for them. One of the others may be left out, and is the best then."""
    spread = min(float(rng.choice([0.0, 3.0, 30.0, 2700.0 if fractions else 340.0])), room / 4)
    logs = rng.uniform(-spread, spread if fractions else min(spread, 700.0), falls.size)
    if fractions:
        shifted = int(rng.integers(-9000, 9000))
        found = [
            Fraction(int(rng.integers(1, 50)), 7) * Fraction(2) ** (shifted + round(log / math.log(2))) for log in logs
        ]
    else:
        found = [Fraction(math.exp(log)) for log in logs]
    if rng.random() < 0.4:
        place = int(rng.integers(falls.size))
        if place != 0:
            found[place], falls[place] = Fraction(0), -12.0
    return found


def _log(weight: Fraction) -> float:
    return math.log(weight.numerator) - math.log(weight.denominator)


def _room(dtype: np.dtype[Any]) -> float:
    """How many scales a type's range may have, if one of them is to be some steps."""
    return 2.0 ** (8 * dtype.itemsize) / 4 if dtype.kind in "iu" else 1e12


def _values(
    falls: NDArray[np.float64], dtype: np.dtype[Any], rng: np.random.Generator
) -> tuple[NDArray[Any], Fraction, str]:
    """Values with these distances, in scales; how much a scale is; and what is special about them."""
    whole = dtype.kind in "iu"
    info: Any = np.iinfo(dtype) if whole else np.finfo(dtype)
    low, high = (Fraction(int(end)) if whole else Fraction(float(end)) for end in (info.min, info.max))
    farthest = float(falls.max()) + 1.0
    far = farthest > 1e5  # then doubles would not tell others apart
    if whole:
        steps = math.exp(rng.uniform(math.log(2.0), math.log(max(2.0, min(float(high - low) / farthest, 1e5)))))
        family = str(rng.choice(["plain", "at the top", "at the bottom", "the whole range"]))
        unit = Fraction(1)
    else:
        steps = math.exp(rng.uniform(math.log(3.0), math.log(2000.0)))
        families = [
            "plain",
            "around zero",
            "subnormal",
            *([] if far else ["at the top", "at the bottom", "the whole range"]),
        ]
        family = str(rng.choice(families))
        unit = Fraction(2) ** int(rng.integers(-60, 60) if dtype.itemsize == 8 else rng.integers(-12, 12))
        if family == "subnormal":
            unit = Fraction(float(info.smallest_subnormal))
        elif family in ("at the top", "at the bottom"):
            unit = Fraction(float(np.spacing(info.max / 2)))
    away = [round(fall * steps) for fall in falls.tolist()]
    if family == "the whole range":
        unit = (high - low) / max(max(away), 1)
        unit = max(Fraction(1), Fraction(math.floor(unit))) if whole else unit
    # Where one level lies far from all others, these are near zero.
    amid = sorted(away)[len(away) // 2] * unit
    top = {
        "plain": max(low + max(away) * unit, int(rng.integers(100)) * unit) if whole else amid + 100 * unit * (not far),
        "around zero": amid,
        "subnormal": amid,
        "at the bottom": low + max(away) * unit,
    }.get(family, high)
    exact = [max(low, min(high, top) - each * unit) for each in away]
    values = np.array([int(each) if whole else float(each) for each in exact], dtype=dtype)
    return values, unit * Fraction(steps), family


EPSILONS = (5e-324, 5e-324, 1e-300, 1e-9, 0.1, 1.0, 1e9, 1e300)


def _terms(scale: Fraction, rng: np.random.Generator) -> tuple[dict[str, Any], Fraction]:
    """Epsilon of any size and the sensitivity that makes the scale about this one; and one over the scale, exactly."""
    monotonic = bool(rng.random() < 0.5)
    factor = 1 if monotonic else 2
    choices = [*EPSILONS, float(10 ** rng.uniform(-320, 299)), float(rng.uniform(0.01, 3.0))]
    for epsilon in rng.permutation(choices).tolist():
        sensitivity = scale * Fraction(epsilon) / factor
        if Fraction(1, 2**1064) < sensitivity < 2**1023:
            terms = {"epsilon": epsilon, "sensitivity": float(sensitivity), "monotonic": monotonic}
            return terms, Fraction(epsilon) / (factor * Fraction(float(sensitivity)))
    raise AssertionError("an epsilon for each scale")


def _placed(scores: NDArray[Any], rng: np.random.Generator) -> tuple[NDArray[Any], str]:
    """The same numbers in memory of some other form, beside numbers that would win."""
    n, dtype = scores.size, scores.dtype
    best = np.array(np.iinfo(dtype).max if dtype.kind in "iu" else np.finfo(dtype).max, dtype)
    name = str(
        rng.choice(
            ["in a row", "in a row", "every third", "backwards", "every second backwards", "unaligned", "a field"]
        )
    )
    if name == "every third":
        memory = np.full(3 * n, best)
        memory[1::3] = scores
        return memory[1::3], name
    if name == "backwards":
        return scores[::-1].copy()[::-1], name
    if name == "every second backwards":
        memory = np.full(2 * n, best)
        memory[::-2] = scores
        return memory[::-2], name
    if name == "unaligned":
        raw = np.frombuffer(bytearray(n * dtype.itemsize + 1), np.uint8)
        placed: NDArray[Any] = np.ndarray(n, dtype, buffer=raw, offset=1)
        placed[:] = scores
        return placed, name
    if name == "a field":
        records = np.full(n, np.array((7, best), [("other", "u1"), ("score", dtype)]))
        records["score"] = scores
        return records["score"], name
    return scores.copy(), name
