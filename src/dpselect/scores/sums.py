r"""The score of a sum: the sum of the units' clipped amounts for a candidate."""

from __future__ import annotations

from dpselect.privacy import Neighbours, Sensitivity
from dpselect.scores.scores import Scores
from dpselect.summaries import CandidateTotals, PublicClip

_PROOF = "proofs/clipped_sums.md"


def sum_sensitivity(clip: PublicClip, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Sensitivity:
    """How much one unit can change any sum, in scaled whole numbers.

    A unit adds an amount from `lower` to `upper` to some candidates and nothing to the others. If one unit is added
    that is the larger of the two bounds' magnitudes, and monotone if they have one sign; if one is replaced, sums also
    move by the distance from one amount to another, and 0 is an amount, too.

    Proof: ``proofs/clipped_sums.md``.

    >>> sum_sensitivity(PublicClip.given("paid", (-2, 5))).value
    5.0
    >>> sum_sensitivity(PublicClip.given("paid", (-2, 5)), Neighbours.REPLACE_ONE).value
    7.0
    """
    if neighbours is Neighbours.REPLACE_ONE:
        return Sensitivity(float(_spread(clip)), monotonic=False, neighbours=neighbours, proof=_PROOF)
    most = max(abs(clip.lower), abs(clip.upper))
    one_way = clip.lower >= 0 or clip.upper <= 0
    return Sensitivity(float(most), monotonic=one_way, neighbours=neighbours, proof=_PROOF)


def sum_range(clip: PublicClip, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> int:
    """How much one unit can change the difference between two sums, in scaled whole numbers; the noise is scaled to it.

    It is less than twice the sensitivity if the bounds have opposite signs: one sum then gains at most `upper`, and
    another loses at most the magnitude of `lower`.

    Proof: ``proofs/clipped_sums.md``.

    >>> clip = PublicClip.given("paid", (-2, 5))
    >>> sum_range(clip), sum_range(clip, Neighbours.REPLACE_ONE)
    (7, 14)
    """
    return _spread(clip) if neighbours is Neighbours.ADD_REMOVE else 2 * _spread(clip)


def _spread(clip: PublicClip) -> int:
    """The width of the range of amounts that a unit may add to a candidate, including 0."""
    return max(clip.upper, 0) - min(clip.lower, 0)


def sum_scores(summary: CandidateTotals, clip: PublicClip, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Scores:
    """The sums themselves as scores, in scaled whole numbers.

    Proof: ``proofs/clipped_sums.md``.

    >>> import numpy as np
    >>> sum_scores(CandidateTotals(np.array([12, -5])), PublicClip.given("paid", (-2, 5)))
    Scores(<2 private scores>, sensitivity=5.0)
    """
    return Scores(summary.totals, sum_sensitivity(clip, neighbours))
