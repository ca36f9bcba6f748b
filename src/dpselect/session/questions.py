"""All questions together."""

from __future__ import annotations

from dpselect.session.counts import CountQuestions
from dpselect.session.distributions import DistributionQuestions
from dpselect.session.prices import PriceQuestions
from dpselect.session.quantiles import QuantileQuestions
from dpselect.session.spending import Reply
from dpselect.session.sums import SumQuestions


class Questions(
    CountQuestions[Reply],
    SumQuestions[Reply],
    QuantileQuestions[Reply],
    PriceQuestions[Reply],
    DistributionQuestions[Reply],
):
    """Every question, whatever is replied to it."""

    __slots__ = ()
