"""The commands that ask a table."""

from dpselect.cli.questions.counts import most_common, top_k
from dpselect.cli.questions.numbers import price, quantile

__all__ = ["most_common", "price", "quantile", "top_k"]
