"""The peers, each called the way that is fastest for it on a NumPy array of scores, at epsilon 1 and sensitivity 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import opendp.prelude as opendp
from diffprivlib.accountant import BudgetAccountant
from diffprivlib.mechanisms import Exponential, PermuteAndFlip
from diffprivlib.tools import quantile

Call = Callable[[], object]

EPSILON = 1.0
SENSITIVITY = 1.0

opendp.enable_features("contrib")


def numpy_argmax(scores: np.ndarray[Any, Any]) -> Call:
    """What a selection without privacy costs."""
    return lambda: np.argmax(scores)


def numpy_argpartition(scores: np.ndarray[Any, Any], k: int) -> Call:
    """What the best `k`, in no order and without privacy, cost."""
    place = scores.size - k
    return lambda: np.argpartition(scores, place)[place:]


def numpy_gumbel(scores: np.ndarray[Any, Any]) -> Call:
    """The usual one line: an ordinary generator and floats all the way, so not secure."""
    generator = np.random.default_rng()
    rate = EPSILON / (2 * SENSITIVITY)
    return lambda: np.argmax(scores * rate + generator.gumbel(size=scores.size))


def numpy_gumbel_rows(matrix: np.ndarray[Any, Any]) -> Call:
    """The same for each row of a matrix."""
    generator = np.random.default_rng()
    rate = EPSILON / (2 * SENSITIVITY)
    return lambda: np.argmax(matrix * rate + generator.gumbel(size=matrix.shape), axis=1)


def opendp_noisy_max(scores: np.ndarray[Any, Any]) -> Call:
    """`make_noisy_max` under pure differential privacy: exponential noise, the law of permute-and-flip.

    The measurement is built outside the timing. It gets the NumPy array itself, the fastest of the formats it takes
    (a list is several times slower). Copying that array into its own vector is part of what its user waits for, and
    is timed.
    """
    whole = np.issubdtype(scores.dtype, np.integer)
    atoms = opendp.atom_domain(T="i64") if whole else opendp.atom_domain(T="f64", nan=False)
    measurement = opendp.m.make_noisy_max(
        opendp.vector_domain(atoms),
        opendp.linf_distance(T="i64" if whole else "f64"),
        opendp.max_divergence(),
        scale=2 * SENSITIVITY / EPSILON,
    )
    return lambda: measurement(scores)


def diffprivlib_exponential(scores: np.ndarray[Any, Any]) -> Call:
    """`Exponential(...).randomise()`: its constructor takes the scores, so both steps are timed.

    It accepts nothing but a list, which is made outside the timing.
    """
    utility = scores.tolist()
    return lambda: Exponential(epsilon=EPSILON, sensitivity=SENSITIVITY, utility=utility).randomise()


def diffprivlib_permute_and_flip(scores: np.ndarray[Any, Any]) -> Call:
    """`PermuteAndFlip(...).randomise()`, timed as `diffprivlib_exponential` is."""
    utility = scores.tolist()
    return lambda: PermuteAndFlip(epsilon=EPSILON, sensitivity=SENSITIVITY, utility=utility).randomise()


def diffprivlib_quantile(values: np.ndarray[Any, Any]) -> Call:
    """`quantile` at 0.5, between bounds: it sorts the values, and weighs the gaps between them."""
    accountant = BudgetAccountant()  # one of its own, without a limit
    return lambda: quantile(values, 0.5, epsilon=EPSILON, bounds=(0.0, 100.0), accountant=accountant)


def opendp_quantile(values: np.ndarray[Any, Any], candidates: np.ndarray[Any, Any]) -> Call:
    """`make_private_quantile` at 0.5 among public candidates, built outside the timing; it gets the array itself."""
    measurement = opendp.m.make_private_quantile(
        opendp.vector_domain(opendp.atom_domain(T="f64", nan=False)),
        opendp.symmetric_distance(),
        opendp.max_divergence(),
        candidates=candidates.tolist(),
        alpha=0.5,
        scale=1.0 / EPSILON,
    )
    return lambda: measurement(values)


def opendp_private_candidate(run: Callable[[object], tuple[float, object]], stop: float) -> Call:
    """Runs of something private until one is above a threshold that none reaches, or it is stopped."""
    opendp.enable_features("honest-but-curious")
    space = opendp.atom_domain(T=float, nan=False), opendp.absolute_distance(T=float)
    measured = space >> opendp.m.then_user_measurement(
        opendp.max_divergence(), run, lambda moved: moved, TO="(f64, ExtrinsicObject)"
    )
    selected = opendp.c.make_select_private_candidate(measured, threshold=2.0, stop_probability=stop)
    return lambda: selected(0.0)
