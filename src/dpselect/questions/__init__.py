"""The questions a table can be asked, one file each: its plan, its cost, its draw, its sentences and its certificate.

A new question is a new file, and an entry in `QUESTIONS`.
"""

from __future__ import annotations

from typing import Any

from dpselect.questions.best_by import BestBy
from dpselect.questions.best_features import BestFeatures
from dpselect.questions.best_price import BestPrice
from dpselect.questions.count import Count
from dpselect.questions.density import Density
from dpselect.questions.grouped import Grouped
from dpselect.questions.histogram import Histogram
from dpselect.questions.mean import Mean
from dpselect.questions.most_common import BestDate, LeastCommon, MostCommon
from dpselect.questions.private_bounds import PrivateBoundsQuantile
from dpselect.questions.private_moments import PrivateBoundsMean, PrivateBoundsVariance
from dpselect.questions.private_sum import PrivateClipSum
from dpselect.questions.quantile import Quantile
from dpselect.questions.quantiles import Quantiles
from dpselect.questions.question import CONFIDENCE, Answered, Drawn, NoisyUnits, Planned, Question, Terms, Value
from dpselect.questions.top_k import TopK
from dpselect.questions.top_set import TopSet
from dpselect.questions.top_unknown import TopUnknown
from dpselect.questions.total import Sum
from dpselect.questions.unbounded_quantile import UnboundedQuantile
from dpselect.questions.upper_bound import UpperBound
from dpselect.questions.values import Values
from dpselect.questions.variance import Variance
from dpselect.questions.with_numbers import WithCounts, WithUsable

__all__ = [
    "CONFIDENCE",
    "QUESTIONS",
    "Answered",
    "BestBy",
    "BestDate",
    "BestFeatures",
    "BestPrice",
    "Count",
    "Density",
    "Drawn",
    "Grouped",
    "Histogram",
    "LeastCommon",
    "Mean",
    "MostCommon",
    "NoisyUnits",
    "Planned",
    "PrivateBoundsMean",
    "PrivateBoundsQuantile",
    "PrivateBoundsVariance",
    "PrivateClipSum",
    "Quantile",
    "Quantiles",
    "Question",
    "Sum",
    "Terms",
    "TopK",
    "TopSet",
    "TopUnknown",
    "UnboundedQuantile",
    "UpperBound",
    "Value",
    "Values",
    "Variance",
    "WithCounts",
    "WithUsable",
]

QUESTIONS: dict[str, type[Question[Any]]] = {
    kind.name: kind
    for kind in (
        *(Count, Histogram, MostCommon, TopK, TopSet, TopUnknown, Values, LeastCommon),
        *(
            Sum,
            PrivateClipSum,
            Mean,
            Variance,
            Quantile,
            Quantiles,
            UnboundedQuantile,
            PrivateBoundsQuantile,
            PrivateBoundsMean,
            PrivateBoundsVariance,
            UpperBound,
            Density,
        ),
        *(BestBy, BestDate, BestPrice, BestFeatures),
    )
}
"""By the name that a release and its certificate give it."""
