"""How each kind of answer is presented: rows of a table, and sentences on its error and origin.

A new task adds its entry to `_ANSWERS`, with only what differs from `Answer`.
"""

from __future__ import annotations

from dpselect.answers.answer import Answer, Answered, Certified, Value
from dpselect.answers.counts import BestDateAnswer, LeastCommonAnswer, MostCommonAnswer, TopKAnswer
from dpselect.answers.density import DensityAnswer
from dpselect.answers.features import FeaturesAnswer
from dpselect.answers.price import PriceAnswer
from dpselect.answers.quantiles import QuantileAnswer, QuantilesAnswer
from dpselect.answers.sums import BestByAnswer, MeanAnswer
from dpselect.answers.text import as_text

__all__ = ["Answer", "Answered", "Certified", "Value", "answer_to", "as_text"]

_ANSWERS: dict[str, Answer] = {
    "most_common": MostCommonAnswer(),
    "least_common": LeastCommonAnswer(),
    "best_date": BestDateAnswer(),
    "top_k": TopKAnswer(),
    "quantile": QuantileAnswer(),
    "quantiles": QuantilesAnswer(),
    "best_price": PriceAnswer(),
    "density": DensityAnswer(),
    "mean": MeanAnswer(),
    "best_by": BestByAnswer(),
    "best_features": FeaturesAnswer(),
}


def answer_to(task: str) -> Answer:
    """How answers to `task` are presented; `task` is its name in a release.

    >>> answer_to("top_k").label
    'rank'
    """
    return _ANSWERS[task]
