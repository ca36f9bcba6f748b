r"""The rule score of a feature: how many rows the best rule that looks at it alone gets right."""

from __future__ import annotations

from dpselect.arguments import positive_sensitivity
from dpselect.privacy import Neighbours, Sensitivity
from dpselect.scores.scores import Scores
from dpselect.summaries import PublicFeatures, RuleCounts


def rule_sensitivity(highest_weight: int, *, neighbours: Neighbours) -> Sensitivity:
    r"""How much one row can change the score of any feature.

    Args:
        highest_weight: the most a row counts for, a whole number >= 1; 1 without weights.
        neighbours: under add/remove all scores change in the same direction; under replace-one they need not.

    Returns:
        The highest weight, in weighted rows.

    Proof: ``proofs/feature_scores.md``.

    >>> rule_sensitivity(1, neighbours=Neighbours.ADD_REMOVE).monotonic
    True
    >>> rule_sensitivity(20, neighbours=Neighbours.REPLACE_ONE).value
    20.0
    """
    return Sensitivity(
        positive_sensitivity(highest_weight),
        monotonic=neighbours is Neighbours.ADD_REMOVE,
        neighbours=neighbours,
        proof="proofs/feature_scores.md",
    )


def rule_scores(summary: RuleCounts, features: PublicFeatures, *, neighbours: Neighbours) -> Scores:
    """The counts themselves as scores, one for each of `features`.

    Proof: ``proofs/feature_scores.md``.
    """
    return Scores(summary.right, rule_sensitivity(max(features.weights), neighbours=neighbours))
