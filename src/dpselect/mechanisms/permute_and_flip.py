"""Permute-and-flip, and the one-line selection that uses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import InitVar, dataclass
from functools import lru_cache
from typing import Any, Literal, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from dpselect.checks import boolean
from dpselect.errors import InvalidParameterError, typed
from dpselect.mechanisms import laws
from dpselect.mechanisms.different_sensitivities import GeneralizedSelection
from dpselect.mechanisms.laws import Law
from dpselect.mechanisms.lead import Lead, no_gap, public_step
from dpselect.mechanisms.mechanism import Mechanism
from dpselect.mechanisms.score_vectors import ScoresLike, SupportsArrowArray, SupportsArrowStream, SupportsToNumpy
from dpselect.privacy import Neighbours, neighbouring_relation

Candidate = TypeVar("Candidate")
Sensitivity = (
    float | Sequence[float] | npt.NDArray[np.number] | SupportsArrowArray | SupportsArrowStream | SupportsToNumpy
)
"""One for all scores, or one for each."""

_USUAL = Neighbours.ADD_REMOVE  # left out of what is looked up, as members are slow to hash


@dataclass(frozen=True, slots=True, kw_only=True)
class PermuteAndFlip(Mechanism):
    r"""Visits the candidates in random order and selects the first whose coin, heads with probability
    :math:`e^{-(s^* - s_i)/b}`, comes up heads.

    It is `epsilon`-DP. For every vector of scores its expected error is at most that of `ExponentialMechanism`, and at
    least half of it.

    Args and Raises: see `Mechanism`.

    Proof: ``proofs/permute_and_flip.md``. Sources: McKenna & Sheldon (2020); Ding et al. (2021).

    >>> import numpy as np
    >>> mechanism = PermuteAndFlip(epsilon=1.0, sensitivity=1.0, monotonic=True)
    >>> mechanism.pmf(np.log([1.0, 2.0]))
    array([0.25, 0.75])
    >>> mechanism.select(np.array([10.0, 2000.0, 30.0]), candidates=["red", "green", "blue"])
    'green'
    """

    weights: InitVar[None] = None

    def __post_init__(self, weights: None) -> None:
        if weights is not None:
            hint = "Its coins are tossed against the best score, which weights do not change: use ExponentialMechanism."
            raise InvalidParameterError("weights", typed(weights), "none for permute-and-flip", hint)
        Mechanism.__post_init__(self)

    @property
    def law(self) -> Law:
        return laws.PERMUTE_AND_FLIP

    @property
    def _title(self) -> str:
        return "Permute-and-flip"


@overload
def select(
    scores: ScoresLike,
    *,
    epsilon: float,
    sensitivity: Sensitivity,
    monotonic: bool = False,
    candidates: None = None,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
) -> int: ...
@overload
def select(
    scores: ScoresLike,
    *,
    epsilon: float,
    sensitivity: Sensitivity,
    monotonic: bool = False,
    candidates: Sequence[Candidate],
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
) -> Candidate: ...
@overload
def select(
    scores: ScoresLike,
    *,
    epsilon: float,
    sensitivity: Sensitivity,
    monotonic: bool = False,
    candidates: object,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
) -> Any: ...
@overload
def select(
    scores: ScoresLike,
    *,
    epsilon: float,
    sensitivity: Sensitivity,
    monotonic: bool = False,
    candidates: object = None,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
    with_gap: Literal[True],
    gap_step: float | None = None,
) -> Lead: ...
def select(
    scores: ScoresLike,
    *,
    epsilon: float,
    sensitivity: Sensitivity,
    monotonic: bool = False,
    candidates: object = None,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
    with_gap: bool = False,
    gap_step: float | None = None,
) -> object:
    """Select one of the best candidates with `epsilon`-differential privacy, by permute-and-flip.

    Args:
        scores: shape ``(n,)``, finite floats or integers; higher is better. Any NumPy, Arrow, pandas or Polars
            vector, or a list.
        epsilon: privacy loss, > 0.
        sensitivity: the largest change of any one score between neighbouring data sets, > 0, in the unit of the scores.
            Or one for each score, if they differ much, in a list or any such vector: `GeneralizedSelection` then runs
            by the rule that is better.
        monotonic: between any two neighbours all scores change in the same direction; halves the noise. True for counts
            when a unit is added or removed.
        candidates: what the scores belong to, in the same order, without duplicates; from public knowledge, never
            from the data. Default: the indices.
        neighbours: which data sets the guarantee compares, ``"add_remove"`` or ``"replace_one"``.
        with_gap: also release by how much the winner is ahead of all others, at no further cost
            (``proofs/free_gap.md``).
        gap_step: the gap is rounded down to a multiple of it; public, > 0. Default: about a tenth of the noise.

    Returns:
        The selected candidate, or its index if no candidates were given; with `with_gap` a `Lead` of it.

    Raises:
        InvalidParameterError: an argument is out of range. Nothing is drawn then.
        InvalidScoresError: `scores` is empty, not one-dimensional, not finite, or not exactly representable, or there
            is a single one and a gap is wanted.
        InvalidCandidatesError: the number of candidates differs from that of scores, or there are duplicates.

    Proof: ``proofs/permute_and_flip.md``; that the draw is exact: ``proofs/exact_sampling.md``.

    >>> select([12, 730, 41], epsilon=1.0, sensitivity=1, monotonic=True, candidates=["cat", "dog", "eel"])
    'dog'
    >>> lead = select([12, 730, 41], epsilon=1.0, sensitivity=1, monotonic=True, with_gap=True)
    >>> lead.winner, lead.lead_at_least(0.99) > 600
    (1, True)
    """
    arguments: tuple[Any, ...] = epsilon, sensitivity, monotonic
    if neighbours is not _USUAL:
        arguments = *arguments, neighbours
    # Vectors may change, so they are read anew by each call.
    of = _mechanism if isinstance(sensitivity, int | float) else _mechanism.__wrapped__
    try:
        mechanism = of(*arguments)
    except TypeError:  # what cannot be hashed is no number: the checks refuse it
        mechanism = _mechanism.__wrapped__(*arguments)
    if with_gap is not False or gap_step is not None:
        boolean(with_gap, "with_gap")
        if isinstance(mechanism, GeneralizedSelection):
            why = "The gap is proved for noise of one scale."
            raise no_gap(with_gap, gap_step, "with a sensitivity for each score", why)
        return mechanism.select_with_gap(scores, candidates, public_step(gap_step, mechanism.scale, "gap_step"))
    return mechanism.select(scores, candidates)


@lru_cache(maxsize=64, typed=True)
def _mechanism(
    epsilon: float, sensitivity: Sensitivity, monotonic: bool, neighbours: Neighbours | str = _USUAL, /
) -> PermuteAndFlip | GeneralizedSelection:
    """Mechanisms are values without random state, so calls with the same arguments may share one."""
    relation, given = neighbouring_relation(neighbours), cast(Any, sensitivity)
    is_scalar = isinstance(sensitivity, str | bytes) or (isinstance(sensitivity, np.ndarray) and sensitivity.ndim == 0)
    if is_scalar or not hasattr(sensitivity, "__len__"):
        return PermuteAndFlip(epsilon=epsilon, sensitivity=given, monotonic=monotonic, neighbours=relation)
    try:
        return GeneralizedSelection(epsilon=epsilon, sensitivities=given, monotonic=monotonic, neighbours=relation)
    except InvalidParameterError as error:
        if error.name != "sensitivities":
            raise
        raise InvalidParameterError("sensitivity", error.got, error.expected, error.hint) from None
