"""The questions about tables: each fixes mechanism and cost from public arguments, and runs once it has data."""

from dpselect.tasks.best_by import BestBy
from dpselect.tasks.best_features import BestFeatures
from dpselect.tasks.best_price import BestPrice
from dpselect.tasks.density import Density
from dpselect.tasks.grouped import Grouped
from dpselect.tasks.mean import Mean
from dpselect.tasks.most_common import BestDate, LeastCommon, MostCommon
from dpselect.tasks.numbers import MOST_ROWS_PER_UNIT
from dpselect.tasks.quantile import Quantile
from dpselect.tasks.quantiles import Quantiles
from dpselect.tasks.task import Task, Terms
from dpselect.tasks.top_k import TopK

__all__ = [
    "MOST_ROWS_PER_UNIT",
    "BestBy",
    "BestDate",
    "BestFeatures",
    "BestPrice",
    "Density",
    "Grouped",
    "LeastCommon",
    "Mean",
    "MostCommon",
    "Quantile",
    "Quantiles",
    "Task",
    "Terms",
    "TopK",
]
