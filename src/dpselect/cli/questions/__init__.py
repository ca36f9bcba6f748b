"""The commands that ask a table."""

from dpselect.cli.questions.counts import best_by, best_date, least_common, most_common, top_k
from dpselect.cli.questions.numbers import density, mean, median, price, quantile, quantiles

__all__ = [
    "best_by",
    "best_date",
    "density",
    "least_common",
    "mean",
    "median",
    "most_common",
    "price",
    "quantile",
    "quantiles",
    "top_k",
]
