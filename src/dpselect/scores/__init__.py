"""From a summary to a score per candidate, together with the proof of how far each score can move."""

from dpselect.scores.counts import DISTINCT_UNITS, count_scores, count_sensitivity, rarity_scores
from dpselect.scores.prices import price_range_sensitivity, price_sensitivity
from dpselect.scores.ranks import rank_sensitivity
from dpselect.scores.scores import Scores
from dpselect.scores.sums import sum_range, sum_scores, sum_sensitivity

__all__ = [
    "DISTINCT_UNITS",
    "Scores",
    "count_scores",
    "count_sensitivity",
    "price_range_sensitivity",
    "price_sensitivity",
    "rank_sensitivity",
    "rarity_scores",
    "sum_range",
    "sum_scores",
    "sum_sensitivity",
]
