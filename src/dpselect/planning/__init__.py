"""Before anything is spent: the accuracy of the answer, the epsilon for a target accuracy, and the best mechanism.

Never plan with private scores: such a plan would be a function of the data, released without noise. Plan with the
number of candidates alone, with last year's published figures, or with made-up scores of the expected shape.
"""

from dpselect.mechanisms.noisy_order import OrderNoise, order_noise
from dpselect.mechanisms.unknown_noise import NamingNoise, UnknownNoise, naming_noise, unknown_noise
from dpselect.planning.choosing import recommend, why
from dpselect.planning.curves import error_curve
from dpselect.planning.optimal import Optimum, optimal_error, optimal_ratio
from dpselect.planning.plots import plot_error
from dpselect.planning.recommendation import Recommendation, recommendation
from dpselect.planning.targets import epsilon_for
from dpselect.planning.testing import power_bound
from dpselect.planning.top_k_ways import TopKRecommendation, recommend_top_k
from dpselect.planning.worst_case import (
    Bounds,
    WorstCaseScores,
    lead_needed,
    worst_case_bounds,
    worst_case_error,
    worst_case_scores,
)

__all__ = [
    "Bounds",
    "NamingNoise",
    "Optimum",
    "OrderNoise",
    "Recommendation",
    "TopKRecommendation",
    "UnknownNoise",
    "WorstCaseScores",
    "epsilon_for",
    "error_curve",
    "lead_needed",
    "naming_noise",
    "optimal_error",
    "optimal_ratio",
    "order_noise",
    "plot_error",
    "power_bound",
    "recommend",
    "recommend_top_k",
    "recommendation",
    "unknown_noise",
    "why",
    "worst_case_bounds",
    "worst_case_error",
    "worst_case_scores",
]
