"""Questions a table can be asked: each fixes mechanism and cost from public arguments, and runs once it has data."""

from dpselect.tasks.best_features import BestFeatures
from dpselect.tasks.best_price import BestPrice
from dpselect.tasks.density import Density
from dpselect.tasks.most_common import MostCommon
from dpselect.tasks.quantile import Quantile
from dpselect.tasks.quantiles import Quantiles
from dpselect.tasks.top_k import TopK

__all__ = ["BestFeatures", "BestPrice", "Density", "MostCommon", "Quantile", "Quantiles", "TopK"]
