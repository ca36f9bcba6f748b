"""Questions a table can be asked: each fixes mechanism and cost from public arguments, and runs once it has data."""

from dpselect.tasks.best_price import BestPrice
from dpselect.tasks.density import Density
from dpselect.tasks.most_common import BestDate, LeastCommon, MostCommon
from dpselect.tasks.quantile import Quantile
from dpselect.tasks.quantiles import Quantiles
from dpselect.tasks.task import Task, Terms
from dpselect.tasks.top_k import TopK

__all__ = [
    "BestDate",
    "BestPrice",
    "Density",
    "LeastCommon",
    "MostCommon",
    "Quantile",
    "Quantiles",
    "Task",
    "Terms",
    "TopK",
]
