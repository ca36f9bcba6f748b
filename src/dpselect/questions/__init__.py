"""The questions a table can be asked, each one class: what it asks, reads, draws and claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpselect.on_use import on_use

if TYPE_CHECKING:
    from dpselect.questions.counts import Count as Count
    from dpselect.questions.counts import Histogram as Histogram
    from dpselect.questions.declared import BY_NAME as BY_NAME
    from dpselect.questions.declared import QUESTIONS as QUESTIONS
    from dpselect.questions.declared import Question as Question
    from dpselect.questions.density import Density as Density
    from dpselect.questions.features import BestFeatures as BestFeatures
    from dpselect.questions.grouped import Grouped as Grouped
    from dpselect.questions.moments import Mean as Mean
    from dpselect.questions.moments import Variance as Variance
    from dpselect.questions.prices import BestPrice as BestPrice
    from dpselect.questions.quantiles import Median as Median
    from dpselect.questions.quantiles import Quantile as Quantile
    from dpselect.questions.quantiles import Quantiles as Quantiles
    from dpselect.questions.question import CONFIDENCE as CONFIDENCE
    from dpselect.questions.question import Answered as Answered
    from dpselect.questions.question import Drawn as Drawn
    from dpselect.questions.question import NoisyUnits as NoisyUnits
    from dpselect.questions.question import Planned as Planned
    from dpselect.questions.question import Terms as Terms
    from dpselect.questions.question import Value as Value
    from dpselect.questions.selection import BestDate as BestDate
    from dpselect.questions.selection import LeastCommon as LeastCommon
    from dpselect.questions.selection import MostCommon as MostCommon
    from dpselect.questions.sums import BestBy as BestBy
    from dpselect.questions.sums import Sum as Sum
    from dpselect.questions.top_k import TopK as TopK
    from dpselect.questions.top_k import TopUnknown as TopUnknown
    from dpselect.questions.upper_bound import UnboundedQuantile as UnboundedQuantile
    from dpselect.questions.upper_bound import UpperBound as UpperBound
    from dpselect.questions.values import Values as Values
    from dpselect.questions.with_numbers import WithCounts as WithCounts
    from dpselect.questions.with_numbers import WithUsable as WithUsable
else:
    __getattr__, __dir__, __all__ = on_use(
        __name__,
        {
            "dpselect.questions.sums": "BestBy Sum",
            "dpselect.questions.features": "BestFeatures",
            "dpselect.questions.declared": "BY_NAME QUESTIONS Question",
            "dpselect.questions.counts": "Count Histogram",
            "dpselect.questions.density": "Density",
            "dpselect.questions.grouped": "Grouped",
            "dpselect.questions.prices": "BestPrice",
            "dpselect.questions.moments": "Mean Variance",
            "dpselect.questions.selection": "BestDate LeastCommon MostCommon",
            "dpselect.questions.quantiles": "Median Quantile Quantiles",
            "dpselect.questions.question": "Answered CONFIDENCE Drawn NoisyUnits Planned Terms Value",
            "dpselect.questions.top_k": "TopK TopUnknown",
            "dpselect.questions.upper_bound": "UnboundedQuantile UpperBound",
            "dpselect.questions.values": "Values",
            "dpselect.questions.with_numbers": "WithCounts WithUsable",
        },
    )
