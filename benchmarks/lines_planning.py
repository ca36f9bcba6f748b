"""What is computed before a selection: how right, and how fast."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, product
from typing import Any

import numpy as np
from examples.paper.dpbench import NAMES, load, median_scores, mode_scores
from numpy.typing import NDArray
from tests.laws.error_ratios import VECTORS, range_of_ratios
from tests.planning.accuracy import EPSILONS, FEW_LEVELS, LAWS, SHAPES, compare, scores_of

import dpselect as dps
from benchmarks.line import Line
from benchmarks.recurrences import all_by_symmetric_polynomials, one_by_positions
from benchmarks.timing import ratio, seconds
from dpselect import planning

FloatArray = NDArray[np.float64]

KINDS: dict[str, Any] = {
    "EM": dps.ExponentialMechanism,
    "PF": dps.PermuteAndFlip,
    "Laplace noisy max": dps.ReportNoisyMax,
}


def lines() -> Iterator[Line]:
    """Accuracy first, then times."""
    return chain(accuracy(), error_ratios(), recurrences(), curves(), epsilons_for())


def accuracy() -> Iterator[Line]:
    """The largest relative error over all sizes and epsilons, general and monotone."""
    for law, shape in product(LAWS, SHAPES):
        settings = [*product((2, 30, 200), EPSILONS)]
        if law == "Laplace noisy max" and shape not in FEW_LEVELS:  # for 200 different scores fifty digits take seconds
            settings = [*product((2, 30), EPSILONS), (200, 0.1)]
        errors = [
            compare(*LAWS[law], scores_of(shape, n), epsilon=epsilon, monotonic=monotonic)
            for (n, epsilon), monotonic in product(settings, (False, True))
        ]
        for what, of_each in (
            ("`pmf`", [each.of_pmf for each in errors]),
            ("`expected_error`", [each.of_expected_error for each in errors]),
        ):
            yield Line(
                what=f"{what}, relative error against mpmath, ε from 10^-6 to 100",
                case=f"{law}, {shape}, up to n scores",
                n=max(n for n, _ in settings),
                dtype=str(scores_of(shape, 2).dtype),
                value=max(of_each),
                unit="",
                at_most=1e-10,
                runs=len(of_each),
            )


def error_ratios() -> Iterator[Line]:
    """The exponential mechanism's expected error over permute-and-flip's."""
    mechanisms = (KINDS[name](epsilon=2.0, sensitivity=1.0) for name in ("EM", "PF"))
    smallest, largest = range_of_ratios(*mechanisms, count=VECTORS)
    described = {"n": 60, "dtype": "float64", "runs": VECTORS}
    yield Line(
        what="expected error of EM / of PF, how far outside [1, 2]",
        case="10^5 random vectors of 2 to 60 scores",
        value=max(1.0 - smallest, largest - 2.0, 0.0),
        unit="",
        at_most=1e-12,
        **described,
    )
    for case, value in (("smallest", smallest), ("largest", largest)):
        yield Line(what="expected error of EM / of PF", case=f"{case} of 10^5", value=value, unit="x", **described)


def recurrences() -> Iterator[Line]:
    """Permute-and-flip's probabilities of 1024 candidates, against both quadratic recurrences."""
    n = 1024
    rng = np.random.default_rng(20260101)
    shapes: dict[str, FloatArray] = {
        "all equal": np.zeros(n),
        "uniform 0..9": rng.integers(0, 10, n).astype(float),
        "uniform 0..99": rng.integers(0, 100, n).astype(float),
        "normal, deviation 5": rng.normal(scale=5.0, size=n),
        "all different, 1 apart": rng.permutation(n).astype(float),
        "HEPTH, mode, ε = .04": 0.04 * mode_scores(load("HEPTH")),
    }
    mechanism = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0)
    for shape, scores in shapes.items():
        p = np.exp((scores - scores.max()) / mechanism.scale)
        described: dict[str, Any] = {"n": n, "dtype": "float64"}
        pmf = partial(mechanism.pmf, scores)
        for program, call in (
            ("the paper's dynamic program, for all", partial(_ignoring_overflow, all_by_symmetric_polynomials, p)),
            ("the recurrence of positive terms, for one candidate only", partial(one_by_positions, p, 0)),
        ):
            yield Line.of(
                ratio(call, pmf),
                what="O(n²) recurrence in NumPy / PF `pmf` of all, n = 1024",
                case=f"{program}, {shape}",
                unit="x",
                at_least=50.0,
                **described,
            )
        yield Line.of(seconds(pmf), what="PF `pmf`, n = 1024", case=shape, unit="us", factor=1e6, **described)


def _ignoring_overflow(program: Callable[[FloatArray], FloatArray], p: FloatArray) -> FloatArray:
    with np.errstate(all="ignore"):
        return program(p)


def curves() -> Iterator[Line]:
    """Everything figure 3 and its companions draw: both mechanisms, both problems, five data sets, 100 epsilons."""
    sample = seconds(all_curves, runs=3, budget=30.0)
    yield Line.of(
        sample,
        what="ten curves of PF and ten of EM on DPBench, 100 epsilons each",
        case="mode and median of five data sets",
        n=1024,
        dtype="int64",
        unit="s",
        at_most=10.0,
    )


def all_curves() -> list[FloatArray]:
    """Expected errors, shape ``(100,)`` each."""
    epsilons = np.geomspace(1e-4, 1.0, 100)
    return [
        planning.error_curve(KINDS[kind], score(load(name)), epsilons=epsilons, sensitivity=1.0, monotonic=monotonic)
        for name, kind, (score, monotonic) in product(
            NAMES, ("PF", "EM"), ((mode_scores, True), (median_scores, False))
        )
    ]


def epsilons_for() -> Iterator[Line]:
    """Planning on a million scores."""
    n = 10**6
    rng = np.random.default_rng(20260101)
    shapes = {
        "normal, deviation 50": rng.normal(scale=50.0, size=n),
        "all different, 1 apart": rng.permutation(n).astype(float),
        "Zipf counts": np.floor(n / np.arange(1.0, n + 1.0)),
    }
    targets: dict[str, dict[str, float]] = {
        "expected error 10": {"expected_error": 10.0},
        "within 20 with 99 %": {"within": 20.0, "confidence": 0.99},
    }
    for kind, (shape, scores), (target, wanted) in product(KINDS, shapes.items(), targets.items()):
        plan = partial(planning.epsilon_for, KINDS[kind], scores, **wanted, sensitivity=1.0)
        yield Line.of(
            seconds(plan, runs=2, budget=1.0),
            what="`planning.epsilon_for` on 10^6 scores",
            case=f"{kind}, {shape}, {target}",
            n=n,
            dtype="float64",
            unit="s",
            at_most=20.0,
        )
