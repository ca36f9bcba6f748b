"""Timing two calls fairly: alternated blocks, one process, the same arrays, no garbage collector in between."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

Call = Callable[[], object]

BLOCK_SECONDS = 2e-3
"""A block repeats a call until it lasts this long, so that reading the clock costs nothing beside it."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Repeated measurements of one thing: their median, and the quartiles as an honest spread."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def quartiles(self) -> tuple[float, float]:
        if len(self.values) < 2:
            return self.values[0], self.values[0]
        low, _, high = statistics.quantiles(self.values, n=4, method="inclusive")
        return low, high


@contextmanager
def no_collector() -> Iterator[None]:
    """Collect now, then not while measuring."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class Block:
    """A call repeated often enough to be timed; `seconds` are those of one call."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self.repeats = 1
        self.first = self.seconds()  # the warm-up; it counts as a measurement only for calls too slow to repeat
        took = self.first
        while took * self.repeats < BLOCK_SECONDS:
            self.repeats *= 2
            took = self.seconds()

    def seconds(self) -> float:
        call = self._call
        start = time.perf_counter()
        for _ in range(self.repeats):
            call()
        return (time.perf_counter() - start) / self.repeats


def ratio(numerator: Call, denominator: Call, *, pairs: int = 21, budget: float = 6.0) -> Sample:
    """How many times longer `numerator` takes, from alternated blocks (A B A B ...).

    Each pair gives one ratio, so that whatever slows the machine for a while slows both halves of a pair. Measuring
    stops after `pairs` pairs, or when `budget` seconds are spent; a call that takes a third of the budget or more
    is not run again after its first time.
    """
    with no_collector():
        over, under = Block(numerator), Block(denominator)
        if over.first > budget / 3:
            return Sample((over.first / under.seconds(),))
        ratios: list[float] = []
        start = time.perf_counter()
        while len(ratios) < pairs and (not ratios or time.perf_counter() - start < budget):
            ratios.append(over.seconds() / under.seconds())
    return Sample(tuple(ratios))


def seconds(call: Call, *, runs: int = 21, budget: float = 6.0) -> Sample:
    """Seconds one call takes, over `runs` blocks or until `budget` seconds are spent."""
    with no_collector():
        block = Block(call)
        taken: list[float] = []
        start = time.perf_counter()
        while len(taken) < runs and (not taken or time.perf_counter() - start < budget):
            taken.append(block.seconds())
    return Sample(tuple(taken))
