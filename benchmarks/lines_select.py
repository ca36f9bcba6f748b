"""One selection: against ``argmax``, reading, the Gumbel trick, and the libraries with the same guarantee."""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

import dpselect as dps
from benchmarks import peers
from benchmarks.line import Line
from benchmarks.shapes import SHAPES
from benchmarks.timing import Sample, ratio

Scores = np.ndarray[Any, Any]
Peer = Callable[[Scores], Callable[[], object]]

PAIRS = 61
"""Against `argmax` the requirement is close, and the noise of a shared machine is not small beside the distance."""
ROUNDS = 4
"""In which those of a million scores are measured, each type after the other: for half a second now and then a virtual
machine runs all threads on one of its processors, and NumPy on two threads is no faster than on one."""

MECHANISMS = {
    "EM": dps.ExponentialMechanism(epsilon=peers.EPSILON, sensitivity=peers.SENSITIVITY),
    "PF": dps.PermuteAndFlip(epsilon=peers.EPSILON, sensitivity=peers.SENSITIVITY),
}

AGAINST_ARGMAX = "EM and PF `select` / `np.argmax`"
DTYPES = (np.float64, np.float32, np.int64, np.int32)


def lines(sizes: list[int]) -> Iterator[Line]:
    """All lines about one selection, for each of `sizes` that they ask for, the largest first."""
    for n in sorted(sizes, reverse=True):
        at_once: list[Line] = []
        for shape, make in SHAPES.items():
            scores = make(n)
            for dtype in DTYPES:
                typed = scores.astype(dtype, copy=False)
                if n != 10**6:
                    yield from _against_argmax([typed], shape)
                elif hasattr(os, "sched_setaffinity"):
                    with one_core():
                        yield from _against_argmax([typed], shape, pinned=True)
                if n == 10**7:
                    yield from _against_reading(typed, shape)
            if n == 10**6:
                all_types = [scores.astype(dtype, copy=False) for dtype in DTYPES]
                for line in _against_argmax(all_types, shape, rounds=ROUNDS):
                    at_once.append(line)
                    yield line
            yield from _against_others(scores, shape)
        if n == 10**6:
            yield _median_of(at_once)


@contextmanager
def one_core() -> Generator[None]:
    """Let the calling thread run on one processor only; a selection then uses one thread."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _required_against_argmax(n: int, *, pinned: bool) -> tuple[str, float | None]:
    """What the row is called, and what every line of it has to reach."""
    if pinned:
        return "n = 10^6, on one core", 1.1
    if n > 10**6:
        return "n ≥ 10^7", 1.0
    if n == 10**6:
        return "n = 10^6", 1.0
    return ("n = 10^5", 1.5) if n == 10**5 else ("n < 10^5, no requirement", None)


def _against_argmax(vectors: list[Scores], shape: str, *, rounds: int = 1, pinned: bool = False) -> Iterator[Line]:
    required, at_most = _required_against_argmax(vectors[0].size, pinned=pinned)
    cells = [(scores, name, mechanism) for scores in vectors for name, mechanism in MECHANISMS.items()]
    ratios: list[tuple[float, ...]] = [()] * len(cells)
    for _ in range(rounds):
        for cell, (scores, _, mechanism) in enumerate(cells):
            select = partial(mechanism.select, scores)
            ratios[cell] += ratio(select, peers.numpy_argmax(scores), pairs=-(-PAIRS // rounds)).values
    for (scores, name, _), values in zip(cells, ratios, strict=True):
        yield _line(Sample(values), f"{AGAINST_ARGMAX}, {required}", name, scores, shape, at_most=at_most)


def _median_of(cells: list[Line]) -> Line:
    """The middle one of the lines that two threads reach."""
    values = [line.value for line in cells]
    what = f"{AGAINST_ARGMAX}, n = 10^6, median of all cases"
    case = f"{len(values)} cases"
    return Line(what=what, case=case, n=10**6, dtype="", value=statistics.median(values), unit="x", at_most=0.75)


def _against_reading(scores: Scores, shape: str) -> Iterator[Line]:
    with ThreadPoolExecutor(1) as other:
        for name, mechanism in MECHANISMS.items():
            sample = ratio(lambda mechanism=mechanism: mechanism.select(scores), reading_once(scores, other))
            what = "EM and PF `select` / reading the scores once, two threads each"
            yield _line(sample, what, name, scores, shape, at_most=1.3)


def reading_once(scores: Scores, other: ThreadPoolExecutor) -> Callable[[], object]:
    """Reading every byte of `scores` once, a half here and a half in the `other` thread.

    As the largest of its bits as integers: the fastest of NumPy's loops over an array, as fast as memory lets it be.
    """
    bits = scores.view(f"i{scores.itemsize}")
    mine, others = bits[: bits.size // 2], bits[bits.size // 2 :]

    def read() -> object:
        waiting = other.submit(others.max)
        return mine.max(), waiting.result()

    return read


def _line(sample: Sample, what: str, name: str, scores: Scores, shape: str, **required: Any) -> Line:
    case, dtype = f"{name}, {shape}", str(scores.dtype)
    return Line.of(sample, what=what, case=case, n=scores.size, dtype=dtype, unit="x", **required)


def _against_others(scores: Scores, shape: str) -> Iterator[Line]:
    n = scores.size
    whole = scores.astype(np.int64)
    if n <= 10**6:
        for typed in (scores, whole):
            yield _against(
                "OpenDP 0.16 `make_noisy_max` / PF `select`", "PF", peers.opendp_noisy_max, typed, shape, 100
            )
    if n <= 10**5:
        for name, peer in (("EM", peers.diffprivlib_exponential), ("PF", peers.diffprivlib_permute_and_flip)):
            yield _against(f"diffprivlib 0.6.6 / ours, {name}", name, peer, scores, shape, 100)
    if 10**5 <= n <= 10**7:
        for name in MECHANISMS:
            yield _against("NumPy Gumbel trick (not secure) / `select`", name, peers.numpy_gumbel, scores, shape, 20)


def _against(what: str, name: str, peer: Peer, scores: Scores, shape: str, at_least: float) -> Line:
    mechanism = MECHANISMS[name]
    sample = ratio(peer(scores), lambda: mechanism.select(scores))
    return _line(sample, what, name, scores, shape, at_least=at_least)
