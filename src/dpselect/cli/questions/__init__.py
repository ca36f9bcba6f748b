"""The commands that ask a question of a table."""

from dpselect.cli.questions.counts import best_by, best_date, least_common, most_common, top_k
from dpselect.cli.questions.numbers import best_price, density, mean, median, quantile, quantiles

__all__ = [
    "best_by",
    "best_date",
    "best_price",
    "density",
    "least_common",
    "mean",
    "median",
    "most_common",
    "quantile",
    "quantiles",
    "top_k",
]
