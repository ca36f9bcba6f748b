"""One selection: against ``argmax``, the Gumbel trick, and the libraries with the same guarantee."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import dpselect as dps
from benchmarks import peers
from benchmarks.line import Line
from benchmarks.shapes import SHAPES
from benchmarks.timing import ratio

Scores = np.ndarray[Any, Any]
Peer = Callable[[Scores], Callable[[], object]]

PAIRS = 61
"""Against `argmax` the requirement is close, and the noise of a shared machine is not small beside the distance."""

MECHANISMS = {
    "EM": dps.ExponentialMechanism(epsilon=peers.EPSILON, sensitivity=peers.SENSITIVITY),
    "PF": dps.PermuteAndFlip(epsilon=peers.EPSILON, sensitivity=peers.SENSITIVITY),
}


def lines(sizes: list[int]) -> Iterator[Line]:
    """All lines about one selection, for each of `sizes` that they ask for, the largest first."""
    for n in sorted(sizes, reverse=True):
        for shape, make in SHAPES.items():
            scores = make(n)
            for dtype in (np.float64, np.int64):
                typed = scores.astype(dtype, copy=False)
                yield from _against_argmax(typed, shape)
            yield from _against_others(scores, shape)


def _against_argmax(scores: Scores, shape: str) -> Iterator[Line]:
    n = scores.size
    at_most = 1.0 if n >= 10**6 else 1.5 if n == 10**5 else None
    required = "n ≥ 10^6" if n >= 10**6 else "n = 10^5" if n == 10**5 else "n < 10^5, no requirement"
    for name, mechanism in MECHANISMS.items():
        sample = ratio(lambda mechanism=mechanism: mechanism.select(scores), peers.numpy_argmax(scores), pairs=PAIRS)
        yield Line.of(
            sample,
            what=f"EM and PF `select` / `np.argmax`, {required}",
            case=f"{name}, {shape}",
            n=n,
            dtype=str(scores.dtype),
            unit="x",
            at_most=at_most,
        )


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
    return Line.of(
        sample,
        what=what,
        case=f"{name}, {shape}",
        n=scores.size,
        dtype=str(scores.dtype),
        unit="x",
        at_least=at_least,
    )
