r"""The counting score: the number of different units that have a candidate, or its negative."""

from __future__ import annotations

from dpselect.privacy import Neighbours, Sensitivity
from dpselect.scores.scores import Scores
from dpselect.summaries import CandidateCounts

DISTINCT_UNITS = Sensitivity(1.0, monotonic=True, neighbours=Neighbours.ADD_REMOVE, proof="proofs/counting.md")
"""All rows of one more unit raise each count by 0 or 1, however many candidates the unit touches: b = 1/epsilon."""

REPLACED_UNITS = Sensitivity(1.0, monotonic=False, neighbours=Neighbours.REPLACE_ONE, proof="proofs/counting.md")
"""Replacing a unit changes counts in both directions at once: b = 2/epsilon."""


def count_sensitivity(neighbours: Neighbours) -> Sensitivity:
    """How much one unit can change the counts, and so their negatives.

    Proof: ``proofs/counting.md``, claims 1 and 2.

    >>> count_sensitivity(Neighbours.REPLACE_ONE).monotonic
    False
    """
    return DISTINCT_UNITS if neighbours is Neighbours.ADD_REMOVE else REPLACED_UNITS


def count_scores(summary: CandidateCounts, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Scores:
    """The counts themselves as scores.

    Args:
        summary: distinct units per candidate.
        neighbours: which data sets are compared.

    Returns:
        Scores in units of people (or whatever the unit is), with sensitivity 1, monotone under add/remove.

    Proof: ``proofs/counting.md``.

    >>> import numpy as np
    >>> count_scores(CandidateCounts(np.array([3, 0])))
    Scores(<2 private scores>, sensitivity=1.0)
    """
    return Scores(summary.counts, count_sensitivity(neighbours))


def rarity_scores(summary: CandidateCounts, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Scores:
    """The negative counts as scores: best is the candidate that the fewest units have.

    One more unit lowers each by 0 or 1, so they are as monotone as the counts.

    Proof: ``proofs/counting.md``, claim 4.

    >>> import numpy as np
    >>> rarity_scores(CandidateCounts(np.array([3, 0]))).values
    array([-3,  0])
    """
    return Scores(-summary.counts, count_sensitivity(neighbours))
