"""Report-noisy-max, also of scores in several places; and its probabilities with Laplace noise, by quadrature.

In units of the scale, from the best score downwards. All terms are positive, so nothing cancels. With y below the best
score, w(y) is e^y times the product of all distribution functions of the noise. Proof: ``proofs/noisy_max.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from dpselect._native import _core
from dpselect.accounting import LaplaceProfileEvent
from dpselect.checks import one_of, whole_number
from dpselect.errors import InvalidDataError, InvalidParameterError, InvalidScoresError, Shown
from dpselect.mechanisms.exponential import EXPONENTIAL
from dpselect.mechanisms.mechanism import Mechanism, explained
from dpselect.mechanisms.numbers import FloatArray, Law, gauss_legendre
from dpselect.mechanisms.permute_and_flip import PERMUTE_AND_FLIP, not_tossed, product_integrals, tossed_away
from dpselect.mechanisms.scores import ScoresLike, native_scores

_DEEPEST = 750.0  # e^-750 is below the smallest double: candidates further down than this have probability 0 in doubles
_NODES = 16  # on each panel
_WIDEST = 1.0  # width of a panel: the product varies on the scale of 1, whatever the number of candidates
_NEAR = math.log(25.0)  # beyond this distance ``q = e^-distance / 2`` is at most 0.02, and power series are used
_TERMS = 10


def laplace_probabilities(x: FloatArray) -> FloatArray:
    """Probability of each candidate from its scaled gap, with a relative error below 1e-10.

    Proof: ``proofs/noisy_max.md``.
    """
    p = np.exp(-x)
    total = float(p.sum())
    result = p / 2.0 * product_integrals(p / 2.0)
    negligible = 1e-21 / (1.0 + total)  # panels are left out once w is this small beside the integral above the best
    enough = -math.log(negligible)
    if total - 1.0 >= 2.0 * enough:  # w(0) is at most exp(-(total - 1) / 2)
        return result
    near = x <= _DEEPEST
    near_x, position, counts = np.unique(x[near], return_inverse=True, return_counts=True)
    upper, lower = _below_best(near_x, counts, negligible)
    result[near] += p[near] / 2.0 * upper[position] + lower[position]
    return result


def _below_best(x: FloatArray, counts: NDArray[np.intp], negligible: float) -> tuple[FloatArray, FloatArray]:
    """The two integrals below the best score, for each level: before and after the value passes it, panel by panel.

    Levels are the distinct scaled gaps in increasing order, and `counts` how many candidates have each. For those far
    below the nodes so far, ``sum_k weight_k / (1 - q)`` is a series in ``q = e^(y - x) / 2``. Its sums of powers are
    kept relative to the last panel's end, so that nothing overflows.
    """
    from numpy.polynomial.polynomial import polyval  # not loaded with NumPy: draws need none

    def log_w(y: FloatArray, *, passed: int, near: int, far: FloatArray, stop: float) -> FloatArray:
        """``ln w`` at each y: levels before `passed` are above y; those before `near` are computed one by one."""
        others = counts[:passed].astype(np.float64)
        others[0] -= 1.0  # e^y cancels the fall of one candidate at the top, in the formula
        above = (others * (y[:, np.newaxis] - x[:passed] + math.log(2.0))).sum(axis=1)
        q = 0.5 * np.exp(y[:, np.newaxis] - x[passed:near])
        below = (counts[passed:near] * np.log1p(-q)).sum(axis=1)
        powers = np.arange(1, _TERMS)
        return below - above - math.log(2.0) - (_half_powers(y - stop)[:, 1:] * (far / powers)).sum(axis=1)

    # Panels end at the levels, as far down as w matters, and at points between them. w is at most 2^-N once N
    # candidates have been passed.
    ends = x[: int(np.searchsorted(np.cumsum(counts), -math.log2(negligible))) + 1]
    parts: list[FloatArray] = [
        np.linspace(low, high, math.ceil((high - low) / _WIDEST), endpoint=False, dtype=np.float64)
        for low, high in pairwise(ends.tolist())
    ]
    edges = np.concatenate([*parts, ends[-1:]])
    upper, lower = np.zeros((2, x.size))
    sums, end, rule = np.zeros(_TERMS), 0.0, gauss_legendre(_NODES)
    still_far = int(np.searchsorted(x, _NEAR, side="right"))  # levels from here on are in the moments
    all_passed = edges[-1] == x[-1]
    for start, stop, far in zip(edges[:-1], edges[1:], _far_power_sums(x, counts, edges[1:]), strict=True):
        passed, near = (int(i) for i in np.searchsorted(x, [start, stop + _NEAR], side="right"))
        upper[still_far:near] = polyval(np.exp(end - x[still_far:near]), sums)
        still_far = max(still_far, near)

        at_start = log_w(np.array([start]), passed=passed, near=near, far=far, stop=stop)
        if at_start[0] < math.log(negligible):
            all_passed = False
            break
        y = start + (stop - start) * rule.nodes
        weights = (stop - start) * rule.weights * np.exp(log_w(y, passed=passed, near=near, far=far, stop=stop))
        own = 1.0 - 0.5 * np.exp(y[:, np.newaxis] - x[passed:near])
        upper[passed:near] += (weights[:, np.newaxis] / own).sum(axis=0)
        sums = sums * np.exp(-np.arange(_TERMS) * (stop - end)) + weights @ _half_powers(y - stop)
        end = stop
        lower[:passed] += (np.exp(-y) * weights).sum()
    upper[still_far:] = polyval(np.exp(end - x[still_far:]), sums)
    if all_passed:  # the rest falls like exp(-n y)
        last, n = x[-1:], x.size
        least_log = log_w(last, passed=n, near=n, far=np.zeros(_TERMS - 1), stop=float(last[0]))
        lower += np.exp(least_log - last) / counts.sum()
    return upper, lower


def _far_power_sums(x: FloatArray, counts: NDArray[np.intp], stops: FloatArray) -> list[FloatArray]:
    """``sum_j exp(-m (x_j - stop))`` over the candidates far below each stop, for m = 1, 2, ..."""
    powers = np.arange(1, _TERMS)
    first_far = np.searchsorted(x, stops + _NEAR, side="right")
    sums: list[FloatArray] = []
    total, reference, end = np.zeros(_TERMS - 1), float(x[-1]), x.size
    for stop, begin in zip(stops[::-1], first_far[::-1], strict=True):  # backwards, so that sums only grow
        total = total * np.exp(-powers * (reference - stop))
        weight, step = counts[begin:end].astype(np.float64), np.exp(stop - x[begin:end])
        for m in range(powers.size):
            weight *= step
            total[m] += weight.sum()
        sums.append(total)
        reference, end = stop, int(begin)
    return sums[::-1]


def _half_powers(distance: FloatArray) -> FloatArray:
    """``(e^distance / 2)^m``, shape ``(len(distance), _TERMS)``."""
    return np.power.outer(0.5 * np.exp(distance), np.arange(_TERMS))


def _best_of_laplace(theta: float, n: float) -> tuple[float, float]:
    """The probabilities that the best loses, and that it wins."""
    y, weights = gauss_legendre(_NODES).between(np.linspace(0.0, theta, max(1, math.ceil(theta)) + 1))
    weights *= np.exp(-y)
    log_all_below = (n - 1) * np.log1p(-0.5 * np.exp(y - theta))  # the probability that all others are below y
    p = math.exp(-theta)
    from_below = 2.0 ** -min(n - 1.0, 2000.0) / n  # that the best wins, if its noisy value is below all others' scores
    loses = tossed_away(p / 2.0, n) - float(weights @ np.expm1(log_all_below)) + p * (1.0 - from_below)
    wins = not_tossed(p / 2.0, n) + float(weights @ np.exp(log_all_below)) + p * from_below
    return loses / 2.0, wins / 2.0


LAPLACE = Law(
    "laplace",
    laplace_probabilities,
    lambda theta, n: _best_of_laplace(theta, n)[0],
    lambda theta, n: _best_of_laplace(theta, n)[1],
    LaplaceProfileEvent,
)

_LAW_OF_NOISE = {"laplace": LAPLACE, "exponential": PERMUTE_AND_FLIP, "gumbel": EXPONENTIAL}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportNoisyMax(Mechanism):
    """Adds independent noise of the `scale` to every score and selects the candidate with the largest sum.

    It is `epsilon`-DP with each of the three kinds of noise. With Gumbel noise it has the distribution of
    `ExponentialMechanism`, with exponential noise that of `PermuteAndFlip`. With Laplace noise it has its own
    distribution, with a larger error than permute-and-flip.

    Args:
        noise: ``"laplace"``, ``"exponential"`` or ``"gumbel"``.

    Proof: ``proofs/noisy_max.md``. Sources: Dwork & Roth (2014), section 3.3; Ding et al. (2021).

    >>> mechanism = ReportNoisyMax(epsilon=1.0, sensitivity=1.0, monotonic=True, noise="laplace")
    >>> mechanism.select([10.0, 2000.0, 30.0], candidates=["red", "green", "blue"])
    'green'
    """

    noise: Literal["laplace", "exponential", "gumbel"] = "laplace"

    def __post_init__(self) -> None:
        one_of(self.noise, "noise", _LAW_OF_NOISE)
        Mechanism.__post_init__(self)

    @property
    def law(self) -> Law:  # pyright: ignore[reportIncompatibleVariableOverride] - of the others it is one for all
        return _LAW_OF_NOISE[self.noise]


_PARTITION = "a whole number from 0 to 2**63 - 1"


@dataclass(frozen=True, slots=True)
class Winner:
    """The winner: the number of its partition and its index within that partition's scores."""

    partition: int
    index: int


@explained
class PartialSelection:
    """One selection, drawn from a part of the scores so far: `of` each part, `merged` together, then the `winner`.

    The winner has exactly the mechanism's distribution on all scores together, whatever the parts and the order of
    merging, and everything together costs one selection, `Mechanism.event`.

    Only the final winner is a release. A partial selection, its bytes and the winners of parts are as private as the
    scores. Each can be used once (`merged`, `to_bytes` or `winner`; else `InvalidParameterError`), because nothing is
    guaranteed for two releases that share random bits; that only one copy of its bytes is used is up to the caller.

    For permute-and-flip, the exponential mechanism, and report-noisy-max with exponential or Gumbel noise.

    Proof: ``proofs/partial_selection.md``.

    >>> from dpselect import PermuteAndFlip
    >>> mechanism = PermuteAndFlip(epsilon=1.0, sensitivity=1.0, monotonic=True)
    >>> north = PartialSelection.of(mechanism, [12, 730, 41], partition=0)
    >>> south = PartialSelection.of(mechanism, [55, 9], partition=3)
    >>> north.merged(south).winner()
    Winner(partition=0, index=1)
    """

    __slots__ = ("_mechanism", "_row")

    def __init__(self, mechanism: Mechanism, row: _core.Partial) -> None:
        """For `of`, `from_bytes` and `merged` alone."""
        self._mechanism, self._row = mechanism, row

    @classmethod
    def of(cls, mechanism: Mechanism, scores: ScoresLike, *, partition: int = 0) -> PartialSelection:
        """Draw from one part of the scores.

        Args:
            mechanism: how to select, the same for all parts.
            scores: shape ``(n,)``, finite floats or integers; higher is better. A part without scores changes nothing.
                How many a part has is treated as public.
            partition: a public number of this part, from 0 to 2**63 - 1, that the winner names.

        Raises:
            InvalidScoresError: not one-dimensional, not finite, or not exactly representable. Nothing is drawn then.
            InvalidParameterError: `mechanism` cannot be merged, or `partition` is out of range.
        """
        number = whole_number(partition, "partition", expected=_PARTITION)
        if not 0 <= number < 2**63:
            raise InvalidParameterError("partition", number, _PARTITION)
        return cls(mechanism, _core.Partial.of(*_terms(mechanism), native_scores(scores), number))

    @classmethod
    def from_bytes(cls, mechanism: Mechanism, data: bytes) -> PartialSelection:
        """What `to_bytes` wrote, here or elsewhere. Use it once: two selections from the same bytes share noise.

        Raises:
            InvalidDataError: the bytes are invalid, of another version, or drawn by another mechanism (another
                distribution, epsilon or sensitivity, or monotonic or not).
            InvalidParameterError: `mechanism` cannot be merged, or `data` is not bytes.
        """
        if not isinstance(cast(object, data), bytes):
            raise InvalidParameterError("data", data, "bytes")
        terms, row = _terms(mechanism), _core.Partial.from_bytes(data)
        if row is None:
            got, hint = Shown("<other bytes>"), "They were damaged, or another version of dpselect wrote them."
            expected = f"a partial selection by {mechanism!r} as this version writes it"
            raise InvalidDataError("data", got, expected, hint)
        if not row.is_drawn_with(*terms):
            got = Shown("<drawn by another mechanism>")
            raise InvalidDataError("data", got, f"a partial selection by {mechanism!r}")
        return cls(mechanism, row)

    def merged(self, other: PartialSelection) -> PartialSelection:
        """The selection from the scores of both, which are used up.

        Raises:
            InvalidParameterError: `other` is of another mechanism or the same object.
        """
        if not isinstance(cast(object, other), PartialSelection):
            raise InvalidParameterError("other", other, "a PartialSelection")
        if other is self:
            raise InvalidParameterError("other", Shown("<the same one>"), "the selection from other scores")
        if other._mechanism != self._mechanism:
            got = Shown(f"<by {other._mechanism!r}>")
            raise InvalidParameterError("other", got, f"a selection by {self._mechanism!r}")
        return PartialSelection(self._mechanism, self._row.merged(other._row))

    def to_bytes(self) -> bytes:
        """About a hundred bytes, as private as the scores, to be sent to where the others are. They use it up."""
        return self._row.to_bytes()

    def winner(self) -> Winner:
        """The selected candidate; the selection is used up. Private unless the scores of *all* candidates were merged.

        Raises:
            InvalidScoresError: there was no score in any part.
        """
        if places := self._row.winners():
            return Winner(*places[0])
        raise InvalidScoresError("scores", Shown("<empty>"), "at least one score in all parts together")

    def __repr__(self) -> str:
        return f"<PartialSelection by {self._mechanism!r}: private>"

    def __reduce__(self) -> NoReturn:
        """Neither copied nor pickled by accident: a copy would be a second selection with the same random bits."""
        raise TypeError("a PartialSelection is used once, not copied or pickled; send what to_bytes() returns")


def _terms(mechanism: Mechanism) -> tuple[Literal["exponential", "permute_and_flip"], float, float, Literal[1, 2], int]:
    expected = "PermuteAndFlip, ExponentialMechanism, or ReportNoisyMax with exponential or Gumbel noise"
    if not isinstance(cast(object, mechanism), Mechanism):
        raise InvalidParameterError("mechanism", mechanism, expected)
    if getattr(mechanism, "weights", None) is not None:
        raise InvalidParameterError("mechanism", Shown("<with weights>"), expected, "Merging them is not built.")
    law, epsilon, sensitivity, factor = mechanism.terms
    if law == "laplace":
        raise InvalidParameterError("mechanism", Shown("<Laplace noise>"), expected)
    return law, epsilon, sensitivity, factor, 1
