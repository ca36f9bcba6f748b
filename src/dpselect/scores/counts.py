r"""The counting score: a candidate is as good as the number of different units that have it."""

from __future__ import annotations

from dpselect.privacy import Neighbours, Sensitivity
from dpselect.scores.scores import Scores
from dpselect.summaries import CandidateCounts

DISTINCT_UNITS = Sensitivity(1.0, monotonic=True, neighbours=Neighbours.ADD_REMOVE, proof="proofs/counting.md")
"""All rows of one more unit raise each count by 0 or 1, however many candidates the unit touches: b = 1/epsilon.

Under replace-one the same counts move in both directions at once, so this may be used for add/remove only.
"""


def count_scores(summary: CandidateCounts) -> Scores:
    """The counts themselves as scores.

    Args:
        summary: distinct units per candidate.

    Returns:
        Scores in units of people (or whatever the unit is), with sensitivity 1, monotone under add/remove.

    Proof: ``proofs/counting.md``.

    >>> import numpy as np
    >>> count_scores(CandidateCounts(np.array([3, 0])))
    Scores(<2 private scores>, sensitivity=1.0)
    """
    return Scores(summary.counts, DISTINCT_UNITS)
