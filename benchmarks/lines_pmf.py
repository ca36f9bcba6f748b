"""The probabilities of permute-and-flip: how fast for a million different scores, and how right."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from mpmath import mp, mpf

import dpselect as dps
from benchmarks.line import Line
from benchmarks.timing import seconds

N = 10**6
PF = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0)


def lines() -> Iterator[Line]:
    """Time, sum and relative error."""
    generator = np.random.default_rng(20260101)
    ranges = {"spread over 1": 1.0, "spread over 1000": 1000.0, "spread over 10^6": 1e6}
    for case, width in ranges.items():
        scores = np.linspace(0.0, width, N)
        generator.shuffle(scores)
        described = {"case": case, "n": N, "dtype": "float64"}
        sample = seconds(partial(PF.pmf, scores), runs=5)
        yield Line.of(sample, what="PF `pmf`, 10^6 different scores", unit="s", at_most=0.5, **described)
        gap = abs(math.fsum(PF.pmf(scores)) - 1.0)
        yield Line(what="PF `pmf`, distance of its sum from 1", value=gap, unit="", at_most=1e-12, **described)
    for n in (2, 20, 200):
        for case, scores in (
            ("all equal", np.zeros(n)),
            ("uniform 0..9", generator.integers(0, 10, size=n).astype(float)),
            ("normal, deviation 5", generator.normal(scale=5.0, size=n)),
        ):
            yield Line(
                what="PF `pmf`, relative error against mpmath, n ≤ 200",
                case=case,
                n=n,
                dtype="float64",
                value=relative_error(scores),
                unit="",
                at_most=1e-10,
            )


def relative_error(scores: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """The largest relative error of any probability."""
    exact = exact_probabilities(scores.tolist())
    return max(float(abs(mpf(got) / want - 1)) for got, want in zip(PF.pmf(scores).tolist(), exact, strict=True))


def exact_probabilities(scores: list[float]) -> list[mpf]:
    """``p_i * integral_0^1 prod_{j != i} (1 - t p_j) dt``, expanded into powers of t.

    The powers cancel down from about 2^n, so they are carried to 100 digits more than that.
    """
    with mp.workdps(100 + len(scores)):
        scale = mpf(2)  # 2 * sensitivity / epsilon
        best = max(scores)
        heads = [mp.exp((mpf(score) - mpf(best)) / scale) for score in scores]
        product = [mpf(1)]
        for p in heads:
            product = [a - p * b for a, b in zip([*product, mpf(0)], [mpf(0), *product], strict=True)]
        return [p * _integral(_without(product, p)) for p in heads]


def _without(product: list[mpf], p: mpf) -> list[mpf]:
    """`product` divided by ``1 - t p``, lowest power first."""
    quotient: list[mpf] = []
    carried = mpf(0)
    for coefficient in product[:-1]:
        carried = coefficient + p * carried
        quotient.append(carried)
    return quotient


def _integral(polynomial: list[mpf]) -> mpf:
    return mp.fsum(coefficient / (power + 1) for power, coefficient in enumerate(polynomial))
