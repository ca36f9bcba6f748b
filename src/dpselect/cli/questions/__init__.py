"""The commands that ask a table."""

from dpselect.cli.questions.counts import most_common, top_k
from dpselect.cli.questions.numbers import density, price, quantile, quantiles

__all__ = ["density", "most_common", "price", "quantile", "quantiles", "top_k"]
